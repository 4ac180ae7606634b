/** U+2028 and U+2029 end a line for some readers: over every interface a message with them is one record. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createTroupe } from "../../src/client/Troupe.ts"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Endpoint from "../openai/Endpoint.ts"

const words = "one\u2028two\u2029three"
const echoing = Endpoint.layer({ scripts: () => [ScriptedModel.text("one\u2028", "two\u2029three")] })

describe("F047: a message with separators that are no line breaks is one record", () => {
  it.live("over HTTP, one JSON text a line", () =>
    Effect.gen(function* () {
      const troupe = createTroupe({ url: yield* Endpoint.url, token: Endpoint.token, name: "tests" })
      const told = Effect.promise(async () => {
        const answer = await troupe.send(words, { thread: "rpc:a" })
        return { answer: answer.text, history: await troupe.history("rpc:a") }
      })
      const { answer, history } = yield* Effect.ensuring(told, Effect.promise(troupe.close))
      assert.strictEqual(answer, words)
      const [first] = history
      assert.strictEqual(first?.entry._tag === "UserMessage" ? first.entry.text : "", words)
    }).pipe(Effect.provide(echoing))
  )

  it.live("over a WebSocket", () =>
    Effect.gen(function* () {
      const url = yield* Endpoint.url
      const thread = Threads.ThreadKey.make("rpc:a")
      const texts = yield* Effect.flatMap(TroupeClient.TroupeClient, (client) =>
        client.sendAndWatch({ thread, text: words }).pipe(
          Stream.flatMap((item) => {
            if (item._tag !== "Entry") return Stream.empty
            const { entry } = item.stored
            return entry._tag === "UserMessage" || entry._tag === "AssistantMessage"
              ? Stream.succeed(entry.text)
              : Stream.empty
          }),
          Stream.take(2),
          Stream.runCollect
        )
      ).pipe(Effect.provide(TroupeClient.layer({ url, token: Redacted.make(Endpoint.token) })))
      assert.deepStrictEqual(texts, [words, words])
    }).pipe(Effect.provide(echoing))
  )

  it.live("as events of a stream", () =>
    Effect.gen(function* () {
      const answer = yield* Endpoint.send("/v1/chat/completions", {
        model: "troupe",
        messages: [Endpoint.message("user", words)],
        stream: true
      })
      const events = answer.body.split("\n").filter((line) => line.startsWith("data: {"))
      const said = events.map((line): string => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? "")
      assert.strictEqual(said.join(""), words)
      assert.deepStrictEqual((yield* Endpoint.heard)[0], [`user: ${words}`])
    }).pipe(Effect.provide(echoing))
  )
})
