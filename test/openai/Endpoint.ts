/** The real server on loopback, over the whole runtime with a model that follows a script. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as PullChannels from "../../layers/daemon/PullChannels.ts"
import * as Requests from "../../layers/openai/Requests.ts"
import * as Address from "../../layers/rpc/Address.ts"
import * as Overview from "../../layers/rpc/Overview.ts"
import * as Server from "../../layers/rpc/Server.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { Threads } from "../../src/thread/Threads.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as RawHttp from "../rpc/RawHttp.ts"

export const token = "a-token-for-tests-0123456789"

export const layer = (options: TestRuntime.Options) =>
  Server.layer.pipe(
    Layer.provideMerge(Server.layerListening({ port: 0 })),
    Layer.provide([
      Layer.succeed(AccessToken, { token: Redacted.make(token) }),
      Layer.succeed(ConfigSource, { _tag: "Defaults" }),
      Overview.layer,
      PullChannels.layer
    ]),
    Layer.provideMerge(Requests.layer),
    Layer.provideMerge(TestRuntime.layer(options))
  )

export const url = Effect.map(HttpServer.HttpServer, ({ address }) => Address.urlOf(address))

/** One exchange; a body is sent as JSON. The method, if it is not the usual one, stands among the headers. */
export const send = Effect.fnUntraced(function* (
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {}
) {
  const { method, ...others } = headers
  const answer = yield* RawHttp.send(yield* url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    path,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...others },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const json: any = answer.body.startsWith("{") ? JSON.parse(answer.body) : undefined
  const headerOf = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(answer.head)?.[1]
  return { ...answer, json, header: headerOf }
})

/** What each request to the model had said, its system prompt left out: one string for each message. */
export const heard = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, ({ received }) => received),
  (prompts) =>
    prompts.map((prompt) =>
      prompt.content.flatMap((message) =>
        message.role === "system"
          ? []
          : [
              `${message.role}: ${
                typeof message.content === "string"
                  ? message.content
                  : message.content.map((part) => ("text" in part ? part.text : `(${part.type})`)).join("")
              }`
            ]
      )
    )
)

/** A model that answers "one", "two", …, in pieces. */
export const counting: ScriptedModel.Scripts = ({ index }) => [
  ScriptedModel.text("answer ", `${index + 1}`),
  ScriptedModel.finish("stop", { input: 10, output: 5 })
]

export const message = (role: string, content: unknown) => ({ role, content })

const Echo = Tool.make("echo", {
  description: "Says it again",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ text: Schema.String }),
  failure: Schema.Struct({ code: Schema.String, message: Schema.String }),
  limits: { timeout: "1 second", output: { maxChars: 1000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: []
})

/** A tool that says again what it is given. */
export const echo = ToolRegistry.layer([Echo], { echo: ({ text }) => Effect.succeed({ text }) })

/** A runtime whose model counts its answers. */
export const countingLayer = layer({ scripts: counting })

export const chat = (
  messages: ReadonlyArray<unknown>,
  more: object = {},
  headers: Readonly<Record<string, string>> = {}
) => send("/v1/chat/completions", { model: "troupe", messages, ...more }, headers)

export const respond = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  send("/v1/responses", { model: "troupe", ...body }, headers)

/** The text of a chat completion. */
export const content = (answer: { readonly json: any }): string => answer.json.choices[0].message.content

/** The keys of all threads. */
export const keys = Effect.map(
  Effect.flatMap(Threads, (threads) => threads.list({ limit: 100 })),
  ({ threads }) => threads.map(({ key }) => key)
)

export const user = (text: unknown) => message("user", text)
export const assistant = (text: unknown) => message("assistant", text)
