/** Which thread a request of the endpoint goes on in: told whole each time, by name, or after a response. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { ThreadKey, Threads } from "../../src/thread/Threads.ts"
import * as Endpoint from "./Endpoint.ts"

const { heard, message, chat, respond, content, keys, user, assistant } = Endpoint
const counting = Endpoint.countingLayer

describe("a conversation that is sent whole each time", () => {
  it.live("goes on in its thread, and forks where it was edited", () =>
    Effect.gen(function* () {
      const first = [message("system", "Be brief."), user("one")]
      yield* chat(first)
      const second = [...first, assistant("answer 1"), user("two")]
      yield* chat(second)
      assert.strictEqual((yield* keys).length, 1)
      // The answer as it was, some blanks apart, and in parts.
      const third = [
        first[0],
        user([{ type: "text", text: "one " }]),
        assistant([{ type: "text", text: "answer 1\n" }]),
        user("two"),
        assistant("answer 2"),
        user("three")
      ]
      yield* chat(third)
      assert.strictEqual((yield* keys).length, 1)
      // Another question at the same place; another answer in the past; another beginning.
      yield* chat([...first, assistant("answer 1"), user("instead of two")])
      yield* chat([...first, assistant("made up"), user("two")])
      yield* chat([first[0], user("ONE"), assistant("answer 1"), user("two")])
      assert.strictEqual((yield* keys).length, 4)
      const said = yield* heard
      assert.deepStrictEqual(said[2]?.slice(1), [
        "assistant: answer 1",
        "user: two",
        "assistant: answer 2",
        "user: three"
      ])
      assert.strictEqual(
        said[4]?.[0],
        [
          "user: [Instructions of the client for this conversation]\nBe brief.",
          '[What was said before, as the client tells it, one message a line]\n{"role":"user","text":"one"}\n{"role":"assistant","text":"made up"}',
          "[The message to answer]\ntwo"
        ].join("\n\n")
      )
      assert.strictEqual(said[4]?.length, 1)
    }).pipe(Effect.provide(counting))
  )

  it.live("is another one when the client tells of another answer", () =>
    Effect.gen(function* () {
      yield* chat([user("one")])
      yield* chat([user("one"), assistant("made up"), user("two")])
      assert.strictEqual((yield* keys).length, 2)
      yield* chat([user("one"), assistant("answer 1"), user("two")])
      assert.strictEqual((yield* keys).length, 2)
    }).pipe(Effect.provide(counting))
  )

  it.live("is a new one each time when there is no history, whatever it begins with", () =>
    Effect.gen(function* () {
      yield* Effect.all([chat([user("hello")]), chat([user("hello")]), chat([user("hello")])], { concurrency: 3 })
      assert.strictEqual((yield* keys).length, 3)
      assert.deepStrictEqual(yield* heard, [["user: hello"], ["user: hello"], ["user: hello"]])
    }).pipe(Effect.provide(counting))
  )

  it.live("of two that go on from one place at once, one forks, and neither hears the other", () =>
    Effect.gen(function* () {
      yield* chat([user("one")])
      const go = (text: string) => chat([user("one"), assistant("answer 1"), user(text)])
      const answers = yield* Effect.all([go("left"), go("right")], { concurrency: 2 })
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200]
      )
      assert.strictEqual((yield* keys).length, 2)
      for (const request of (yield* heard).slice(1)) {
        assert.isFalse(request.join("\n").includes("left") && request.join("\n").includes("right"))
      }
    }).pipe(
      Effect.provide(
        Endpoint.layer({
          scripts: Endpoint.counting,
          // Between looking and writing there is time for the other one.
          journal: (journal) => ({
            ...journal,
            accept: (message) => Effect.delay(journal.accept(message), "20 millis")
          })
        })
      )
    )
  )

  it.live("of another user of the client is another one, with the same words", () =>
    Effect.gen(function* () {
      yield* chat([user("one")], { user: "ada" })
      yield* chat([user("one"), assistant("answer 1"), user("two")], { user: "grace" })
      assert.strictEqual((yield* keys).length, 2)
      yield* chat([user("one"), assistant("answer 1"), user("two")], { user: "ada" })
      assert.strictEqual((yield* keys).length, 2)
    }).pipe(Effect.provide(counting))
  )

  it.live("tells new instructions when they change, and the same ones once", () =>
    Effect.gen(function* () {
      yield* chat([message("system", "A"), user("one")])
      const later = (instructions: string) => [
        message("developer", instructions),
        user("one"),
        assistant("answer 1"),
        user("two")
      ]
      yield* chat(later("B"))
      assert.strictEqual((yield* keys).length, 1)
      yield* chat([...later("B"), assistant("answer 2"), user("three")])
      assert.deepStrictEqual((yield* heard)[2]?.slice(2), [
        "user: [Instructions of the client for this conversation, in place of its earlier ones]\nB\n\n[The message to answer]\ntwo",
        "assistant: answer 2",
        "user: three"
      ])
    }).pipe(Effect.provide(counting))
  )

  it.live("with calls of another model's tools in it is told as what was said", () =>
    Effect.gen(function* () {
      const call = { id: "c1", type: "function", function: { name: "look_up", arguments: '{"word":"x"}' } }
      yield* chat([
        user("look it up"),
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "x means y" }
      ])
      assert.strictEqual(
        (yield* heard)[0]?.[0],
        [
          "user: [What was said before, as the client tells it, one message a line]",
          '{"role":"user","text":"look it up"}',
          '{"role":"assistant","text":"[called look_up {\\"word\\":\\"x\\"}]"}',
          '{"role":"tool","text":"x means y"}',
          "",
          "[The message to answer]",
          "Go on from the last of these messages."
        ].join("\n")
      )
    }).pipe(Effect.provide(counting))
  )
})

describe("a conversation with a name", () => {
  it.live("of a restored copy that is held back is an error that says who decides, and nothing is accepted", () =>
    Effect.gen(function* () {
      const named = { "x-troupe-thread": "desk" }
      yield* chat([user("one")], {}, { ...named, "idempotency-key": "first" })
      const sql = yield* SqlClient.SqlClient
      const messages = sql`SELECT id FROM inbox`
      yield* sql`UPDATE threads SET held = 1`
      const before = yield* messages
      const refused = [
        yield* chat([user("two")], {}, named),
        yield* chat([user("two")], { stream: true }, named),
        yield* respond({ input: "two", conversation: "desk" }),
        yield* chat([user("one")], {}, { ...named, "idempotency-key": "first" })
      ]
      for (const { json, status } of refused) {
        assert.deepStrictEqual([status, json.error.code], [409, "thread_held"])
        assert.include(json.error.message, "`troupe held`")
      }
      assert.strictEqual((yield* messages).length, before.length)
      yield* sql`UPDATE threads SET held = 0`
      assert.strictEqual((yield* chat([user("two")], {}, named)).status, 200)
    }).pipe(Effect.provide(counting))
  )

  it.live("is told in a header whatever its name is, and goes on under what that header said", () =>
    Effect.gen(function* () {
      for (const name of ["größe", "会話", "50%", "%41", "a:b/c", "👋"]) {
        const first = yield* chat([user("one")], { metadata: { troupe_thread: name } })
        const header = first.header("x-troupe-thread") ?? ""
        assert.match(header, /^[\x21-\x7e]+$/, name)
        const second = yield* chat([user("two")], {}, { "x-troupe-thread": header })
        assert.strictEqual(second.status, 200, second.body)
        assert.strictEqual(second.header("x-troupe-thread-id"), first.header("x-troupe-thread-id"), name)
        assert.strictEqual(second.header("x-troupe-thread"), header)
      }
      assert.strictEqual((yield* keys).length, 6)
      assert.include((yield* keys).map(String), "openai:größe")
    }).pipe(Effect.provide(counting))
  )

  it.live("is told of every field without effect, in a header of bounded length", () =>
    Effect.gen(function* () {
      const few = yield* chat([user("one")], { größe: 1, "a, b": 2, topK2: 3 })
      assert.strictEqual(few.header("x-troupe-ignored"), "gr%C3%B6%C3%9Fe, a%2C%20b, topK2")
      const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`${"ö".repeat(60)}${index}`, 1]))
      const bounded = (yield* chat([user("one")], { ...many, "\ud800": 1 })).header("x-troupe-ignored") ?? ""
      assert.isBelow(bounded.length, 5000)
      assert.isAbove(bounded.length, 1000)
    }).pipe(Effect.provide(counting))
  )

  it.live("is the thread of that name, by header, by metadata and by conversation", () =>
    Effect.gen(function* () {
      const first = yield* chat([user("one")], {}, { "x-troupe-thread": "desk" })
      assert.strictEqual(first.header("x-troupe-thread"), "desk")
      yield* chat([user("anything"), assistant("at all"), user("two")], { metadata: { troupe_thread: "desk" } })
      yield* respond({ input: "three", conversation: "desk" })
      yield* respond({ input: "four", conversation: { id: "desk" } })
      yield* respond({ input: "five", metadata: { troupe_thread: "other" } }, { "x-troupe-thread": "desk" })
      assert.deepStrictEqual(yield* keys, ["openai:desk"])
      assert.deepStrictEqual((yield* heard)[4], [
        "user: one",
        "assistant: answer 1",
        "user: two",
        "assistant: answer 2",
        "user: three",
        "assistant: answer 3",
        "user: four",
        "assistant: answer 4",
        "user: five"
      ])
      for (const name of ["two words", "two%20words", "x".repeat(201), "100%", "%ff", "gr\u00f6\u00dfe"]) {
        const refused = yield* chat([user("one")], {}, { "x-troupe-thread": name })
        assert.deepInclude([refused.status, refused.json.error.param], "X-Troupe-Thread")
        assert.strictEqual(refused.status, 400)
      }
    }).pipe(Effect.provide(counting))
  )

  it.live("gives each of two requests at once its own turn and its own answer", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const go = (text: string) => Effect.forkChild(chat([user(text)], {}, { "x-troupe-thread": "desk" }))
        const model = yield* ScriptedModel.ScriptedModel
        const first = yield* go("one")
        yield* model.awaitRequests(1)
        const second = yield* go("two")
        const { id } = yield* (yield* Threads).byKey(ThreadKey.make("openai:desk"))
        yield* (yield* Conversations).watch(id, { from: 1 }).pipe(
          Stream.filter((item) => item._tag === "Entry" && item.stored.entry._tag === "UserMessage"),
          Stream.take(2),
          Stream.runDrain
        )
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual(content(yield* Fiber.join(first)), "first")
        assert.strictEqual(content(yield* Fiber.join(second)), "second")
        assert.deepStrictEqual((yield* heard)[1], ["user: one", "assistant: first", "user: two"])
      }).pipe(
        Effect.provide(
          Endpoint.layer({
            scripts: [[ScriptedModel.gate(gate), ScriptedModel.text("first")], [ScriptedModel.text("second")]]
          })
        )
      )
    })
  )
})

describe("previous_response_id", () => {
  it.live("goes on after the last response, and forks after an earlier one", () =>
    Effect.gen(function* () {
      const first = yield* respond({ input: "one" })
      const second = yield* respond({ input: "two", previous_response_id: first.json.id })
      assert.strictEqual(second.json.previous_response_id, first.json.id)
      assert.strictEqual((yield* keys).length, 1)
      yield* respond({ input: "instead of two", previous_response_id: first.json.id })
      assert.strictEqual((yield* keys).length, 2)
      const last = (yield* heard)[2] ?? []
      assert.include(last[0], '{"role":"user","text":"one"}\n{"role":"assistant","text":"answer 1"}\n\n')
      assert.isTrue(last[0]?.endsWith("instead of two"))
    }).pipe(Effect.provide(counting))
  )

  it.live("of nothing, or of a thread of another channel, is refused", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      const console = yield* conversations.accept({
        thread: ThreadKey.make("console:main"),
        channel: "console",
        externalId: "1",
        sender: {},
        source: "person",
        delivery: "now",
        text: "private",
        attachments: [],
        agent: "troupe"
      })
      for (const id of ["resp_nothing", `resp_${"0".repeat(26)}`, `resp_${console.messageId.slice(4)}`]) {
        const refused = yield* respond({ input: "two", previous_response_id: id })
        assert.strictEqual(refused.status, 400)
        assert.deepInclude(refused.json.error, { param: "previous_response_id", code: "previous_response_not_found" })
      }
      const both = yield* respond({ input: "two", previous_response_id: "resp_x", conversation: "desk" })
      assert.strictEqual(both.json.error.param, "previous_response_id")
    }).pipe(Effect.provide(counting))
  )
})

describe("a request that is sent again", () => {
  it.live("with the same Idempotency-Key is one turn, whoever waits for it", () =>
    Effect.gen(function* () {
      const headers = { "idempotency-key": "order-17" }
      const ask = chat([user("one")], {}, headers)
      const [first, second] = yield* Effect.all([ask, ask], { concurrency: 2 })
      const third = yield* ask
      assert.deepStrictEqual(second.json, first.json)
      assert.strictEqual(third.json.id, first.json.id)
      assert.strictEqual(content(third), "answer 1")
      const streamed = yield* chat([user("one")], { stream: true }, headers)
      assert.include(streamed.body, '"answer 1"')
      const other = yield* chat([user("two")], {}, headers)
      assert.strictEqual(other.status, 409)
      assert.strictEqual(other.json.error.code, "idempotency_key_reused")
      assert.strictEqual(other.header("x-should-retry"), "false")
      assert.strictEqual((yield* heard).length, 1)
    }).pipe(Effect.provide(counting))
  )

  it.live("by the SDK itself, which says so, is the turn of the first time", () =>
    Effect.gen(function* () {
      const first = yield* chat([user("one")], {}, { "x-stainless-retry-count": "0" })
      const again = yield* chat([user("one")], {}, { "x-stainless-retry-count": "1" })
      assert.strictEqual(again.json.id, first.json.id)
      const other = yield* chat([user("two")], {}, { "x-stainless-retry-count": "1" })
      assert.strictEqual(content(other), "answer 2")
      assert.strictEqual((yield* heard).length, 2)
    }).pipe(Effect.provide(counting))
  )
})
