/** Responses that are asked for again by their id, and deleted. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { ThreadId } from "../../src/Ids.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { ThreadKey, Threads } from "../../src/thread/Threads.ts"
import * as Endpoint from "./Endpoint.ts"

const { send, chat, respond, user } = Endpoint
const counting = Endpoint.countingLayer

describe("a response by its id", () => {
  it.live("is read as it is, and deleted for the endpoint alone", () =>
    Effect.gen(function* () {
      const threads = yield* Threads
      const first = yield* respond({ input: "one" })
      const { id } = first.json
      const read = yield* send(`/v1/responses/${id}`)
      assert.strictEqual(read.status, 200)
      const { instructions, metadata, previous_response_id, ...kept } = first.json
      assert.deepInclude(read.json, kept)
      assert.deepStrictEqual([instructions, metadata, previous_response_id], [null, {}, null])

      const next = yield* respond({ input: "two", previous_response_id: id })
      assert.strictEqual(next.status, 200)
      const key = next.header("x-troupe-thread-id")
      const removed = yield* send(`/v1/responses/${id}`, undefined, { method: "DELETE" })
      assert.deepStrictEqual(removed.json, { id, object: "response", deleted: true })
      for (const answer of [
        yield* send(`/v1/responses/${id}`),
        yield* send(`/v1/responses/${id}`, undefined, { method: "DELETE" })
      ]) {
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(answer.json.error.code, "response_not_found")
        assert.strictEqual(answer.json.error.param, "response_id")
      }
      const after = yield* respond({ input: "three", previous_response_id: id })
      assert.strictEqual(after.json.error.code, "previous_response_not_found")
      // The one after it goes on in its thread, where everything that was said is kept.
      const on = yield* respond({ input: "four", previous_response_id: next.json.id })
      assert.strictEqual(on.header("x-troupe-thread-id"), key)
      const { entries } = yield* threads.entries(ThreadId.make(key ?? ""), { from: 1, limit: 100 })
      assert.strictEqual(entries.filter(({ entry }) => entry._tag === "UserMessage").length, 3)
    }).pipe(Effect.provide(counting))
  )

  it.live("of no response, of a chat completion and of another channel is not found", () =>
    Effect.gen(function* () {
      const completion = yield* chat([user("hello")])
      const { accept } = yield* Conversations
      const elsewhere = yield* accept({
        thread: ThreadKey.make("console:main"),
        channel: "console",
        externalId: "1",
        sender: {},
        source: "person",
        delivery: "now",
        text: "hello",
        attachments: [],
        agent: "troupe"
      })
      for (const id of [
        "resp_0",
        "resp_",
        "%00",
        "../models",
        "resp_%2e%2e%2f",
        completion.json.id,
        `resp_${elsewhere.messageId.slice(4)}`,
        elsewhere.messageId
      ]) {
        for (const method of ["GET", "DELETE"]) {
          const answer = yield* send(`/v1/responses/${id}`, undefined, { method })
          assert.strictEqual(answer.status, 404, `${method} ${id}: ${answer.body}`)
          assert.strictEqual(answer.json.error.type, "invalid_request_error", id)
        }
      }
    }).pipe(Effect.provide(counting))
  )

  it.live("says while its turn is at work that it is, is not deleted then, and how it ended", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const model = yield* ScriptedModel.ScriptedModel
        const threads = yield* Threads
        const conversations = yield* Conversations
        const asking = yield* Effect.forkChild(respond({ input: "go", metadata: { troupe_thread: "desk" } }))
        yield* model.awaitRequests(1)
        const { id: threadId } = yield* threads.byKey(ThreadKey.make("openai:desk"))
        const [stored] = (yield* threads.entries(threadId, { from: 1, limit: 1 })).entries
        const messageId = stored?.entry._tag === "UserMessage" ? stored.entry.messageId : ""
        const path = `/v1/responses/resp_${messageId.slice(4)}`
        assert.strictEqual((yield* send(path)).json.status, "in_progress")
        const early = yield* send(path, undefined, { method: "DELETE" })
        assert.deepStrictEqual([early.status, early.json.error.code], [409, "response_in_progress"])
        yield* conversations.stop(threadId, "tests")
        assert.strictEqual((yield* Fiber.join(asking)).status, 422)
        const ended = yield* send(path)
        assert.deepStrictEqual([ended.json.status, ended.json.error.code], ["cancelled", "turn_stopped"])
      }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.gate(gate)]] })))
    })
  )
})
