/**
 * The adapter against a server it was not written for: `@dwmkerr/mock-llm`, a public OpenAI-compatible mock, running
 * as a process of its own. That server streams text only, so the turn with a tool call asks for whole answers.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Net from "node:net"
import { fileURLToPath } from "node:url"
import * as OpenAiChat from "../../layers/model/OpenAiChat.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import { streamStep } from "../../src/model/ToolSchema.ts"

class MockLlm extends Context.Service<MockLlm, { readonly baseUrl: string }>()("test/model/MockLlm") {}

const answer = (message: object, finishReason: string) => ({
  status: 200,
  content: JSON.stringify({
    id: "chatcmpl-mock",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "mock-1",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  })
})

const rule = (match: string, response: object) => ({ path: "/v1/chat/completions", method: "POST", match, response })

const addCall = {
  id: "call_1",
  type: "function",
  function: { name: "calculate_expression", arguments: '{"expression":"12*(3+4)"}' }
}

// The last rule that matches wins. JSON is YAML, which the server reads.
const config = {
  streaming: { chunkSize: 7, chunkIntervalMs: 2 },
  rules: [
    rule("@", answer({ content: "The quick brown fox jumps over the lazy dog." }, "stop")),
    rule(
      "contains(body.messages[-1].content, '12*(3+4)')",
      answer({ content: "", tool_calls: [addCall] }, "tool_calls")
    ),
    rule(
      "body.messages[-1].role == 'tool'",
      answer({ content: "It is {{jmes request body.messages[-1].content}}." }, "stop")
    ),
    rule("body.messages[-1].content == 'refuse me'", {
      status: 401,
      content: JSON.stringify({
        error: { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" }
      })
    })
  ]
}

/** A port that was free a moment ago. */
const freePort = Effect.callback<number>((resume) => {
  const server = Net.createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

const isListening = (port: number) =>
  Effect.callback<void, "not yet">((resume) => {
    const socket = Net.connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.on("error", () => resume(Effect.fail("not yet")))
  })

const mockLlm = Layer.effect(
  MockLlm,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "troupe-mock-llm-" })
    yield* fs.writeFileString(`${folder}/mock-llm.yaml`, JSON.stringify(config))
    const port = yield* freePort
    const main = fileURLToPath(import.meta.resolve("@dwmkerr/mock-llm"))
    yield* ChildProcess.make(process.execPath, [main, "--config", `${folder}/mock-llm.yaml`], {
      cwd: folder,
      env: { HOST: "127.0.0.1", PORT: String(port) },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      forceKillAfter: "2 seconds"
    })
    yield* isListening(port).pipe(Effect.retry(Schedule.spaced("50 millis")), Effect.timeout("30 seconds"))
    return { baseUrl: `http://127.0.0.1:${port}/v1` }
  })
).pipe(Layer.provide(NodeServices.layer))

const connect = Effect.fnUntraced(function* (overrides: Partial<OpenAiChat.Options> = {}) {
  const { baseUrl } = yield* MockLlm
  return yield* OpenAiChat.make(
    {
      provider: "mock",
      model: "mock-1",
      baseUrl,
      apiKey: Redacted.make("mock-key"),
      requestTimeout: Duration.seconds(30),
      idleTimeout: Duration.seconds(10),
      retry: { attempts: 0, delay: Duration.seconds(1) },
      ...overrides
    },
    yield* Transport.make({ connectTimeout: Duration.seconds(5) })
  )
})

const tools = [
  {
    name: "calculate_expression",
    description: "Calculates.",
    parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] }
  }
]

layer(mockLlm, { excludeTestServices: true })("a public mock server", (it) => {
  it.effect("streams text in pieces", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(streamStep(yield* connect(), { prompt: "hello", tools }))
      const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
      assert.strictEqual(deltas.join(""), "The quick brown fox jumps over the lazy dog.")
      assert.isAbove(deltas.length, 3)
      assert.strictEqual(parts.at(-1)?.type, "finish")
    })
  )

  it.effect("takes part in a turn with a tool call", () =>
    Effect.gen(function* () {
      const model = yield* connect({ streaming: false })
      const question = Prompt.make("what is 12*(3+4)?")
      const first = yield* Stream.runCollect(streamStep(model, { prompt: question, tools }))
      const calls = first.flatMap((part) => (part.type === "tool-call" ? [part] : []))
      assert.deepStrictEqual(
        calls.map(({ name, params }) => [name, params]),
        [["calculate_expression", { expression: "12*(3+4)" }]]
      )
      const result = Prompt.make([
        {
          role: "tool",
          content: calls.map(({ id, name }) => ({ type: "tool-result", id, name, isFailure: false, result: "84" }))
        }
      ])
      const prompt = question.pipe(Prompt.concat(Prompt.fromResponseParts(first)), Prompt.concat(result))
      const second = yield* Stream.runCollect(streamStep(model, { prompt, tools }))
      assert.strictEqual(
        second.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join(""),
        "It is 84."
      )
      const streamed = yield* Stream.runCollect(streamStep(yield* connect(), { prompt, tools }))
      assert.strictEqual(
        streamed.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join(""),
        "It is 84."
      )
    })
  )

  it.effect("a refused key is understood, in a stream and outside one", () =>
    Effect.gen(function* () {
      const whole = yield* Effect.flip((yield* connect()).generateText({ prompt: "refuse me" }))
      assert.strictEqual(ModelError.describe(whole).code, "model:authentication")
      const streamed = yield* Effect.flip(
        Stream.runCollect(streamStep(yield* connect(), { prompt: "refuse me", tools }))
      )
      assert.strictEqual(ModelError.describe(streamed).code, "model:authentication")
    })
  )
})
