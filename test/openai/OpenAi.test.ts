/** What the endpoint promises beyond what client libraries look at: threads, retries, errors, streams, and leaving. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { Approvals } from "../../src/approval/Approvals.ts"
import * as Net from "node:net"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { ThreadId } from "../../src/Ids.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { ThreadKey, Threads } from "../../src/thread/Threads.ts"
import { transportError } from "../../src/model/ModelError.ts"
import * as AiError from "effect/ai/AiError"
import * as Endpoint from "./Endpoint.ts"

const { heard, message, send } = Endpoint
const counting = Endpoint.layer({ scripts: Endpoint.counting })

const chat = (messages: ReadonlyArray<unknown>, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  send("/v1/chat/completions", { model: "troupe", messages, ...more }, headers)
const respond = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  send("/v1/responses", { model: "troupe", ...body }, headers)
const content = (answer: { readonly json: any }): string => answer.json.choices[0].message.content
const keys = Effect.map(
  Effect.flatMap(Threads, (threads) => threads.list({ limit: 100 })),
  ({ threads }) => threads.map(({ key }) => key)
)
const user = (text: unknown) => message("user", text)
const assistant = (text: unknown) => message("assistant", text)

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
      for (const name of ["two words", "x".repeat(201)]) {
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

describe("a stream", () => {
  it.live("brings pieces before the answer is whole, and comments while nothing is said", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const url = yield* Endpoint.url
        const seen = yield* Effect.promise(async () => {
          const response = await fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${Endpoint.token}` },
            body: JSON.stringify({ model: "troupe", stream: true, messages: [user("go")] })
          })
          assert.include(response.headers.get("content-type"), "text/event-stream")
          let text = ""
          for await (const bytes of response.body ?? []) {
            text += new TextDecoder().decode(bytes)
            // What comes later is let out only when the first piece has come.
            if (text.includes("begin")) Deferred.doneUnsafe(gate, Effect.void)
          }
          return text
        })
        const data = [...seen.matchAll(/^data: (.*)$/gm)].map(([, line = ""]) => line)
        assert.strictEqual(data.at(-1), "[DONE]")
        const chunks = data.slice(0, -1).map((line) => JSON.parse(line))
        assert.deepStrictEqual(
          chunks.map((chunk) => chunk.choices[0].delta),
          [{ role: "assistant", content: "" }, { content: "begin" }, { content: " end" }, {}]
        )
        assert.strictEqual(chunks.at(-1).choices[0].finish_reason, "stop")
        assert.isTrue(chunks.every((chunk) => !("usage" in chunk)))
      }).pipe(
        Effect.provide(
          Endpoint.layer({
            scripts: [[ScriptedModel.text("begin"), ScriptedModel.gate(gate), ScriptedModel.text(" end")]]
          })
        )
      )
    })
  )

  it.live("tells the tokens at its end when it is asked to", () =>
    Effect.gen(function* () {
      const { body } = yield* chat([user("go")], { stream: true, stream_options: { include_usage: true } })
      const chunks = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, line = ""]) => JSON.parse(line))
      assert.deepStrictEqual(chunks.at(-1).choices, [])
      assert.deepInclude(chunks.at(-1).usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
      assert.isTrue(chunks.slice(0, -1).every((chunk) => chunk.usage === null))
    }).pipe(Effect.provide(counting))
  )

  it.live("that fails says so in an event of its protocol", () =>
    Effect.gen(function* () {
      const chats = yield* chat([user("go")], { stream: true })
      const error = [...chats.body.matchAll(/^data: (\{"error".*)$/gm)].map(([, line = ""]) => JSON.parse(line))
      assert.strictEqual(error[0]?.error.code, "model:stream-cut")
      assert.notInclude(chats.body, "[DONE]")
      const responses = yield* respond({ input: "go", stream: true })
      const last = [...responses.body.matchAll(/^data: (\{.*)$/gm)].map(([, line = ""]) => JSON.parse(line)).at(-1)
      assert.deepInclude(last, { type: "response.failed" })
      assert.strictEqual(last.response.status, "failed")
      assert.strictEqual(last.response.error.code, "model:stream-cut")
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.cut], [ScriptedModel.cut]] })))
  )
})

describe("an agent's own tools", () => {
  const scripts = [
    [ScriptedModel.text("Let me see. "), ScriptedModel.toolCall("echo", { text: "hi" })],
    [ScriptedModel.text("It said hi.")]
  ]
  const layer = (approval: ReadonlyArray<string>) =>
    Endpoint.layer({
      scripts: ({ index }) => scripts[index % 2] ?? [],
      settings: { tools: { approval: { require_approval: approval } } },
      tools: Endpoint.echo
    })

  it.live("run unseen: what the agent said is the same, streamed or not, and no call is handed out", () =>
    Effect.gen(function* () {
      const whole = yield* chat([user("go")], { tools: [{ type: "function", function: { name: "mine" } }], seed: 7 })
      assert.strictEqual(content(whole), "Let me see. \n\nIt said hi.")
      assert.strictEqual(whole.json.choices[0].finish_reason, "stop")
      assert.notInclude(whole.body, "tool_calls")
      assert.strictEqual(whole.header("x-troupe-ignored"), "tools, seed")
      assert.deepInclude(whole.json.usage, { prompt_tokens: 20, completion_tokens: 10 })
      const streamed = yield* chat([user("go")], { stream: true })
      const text = [...streamed.body.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, piece = ""]) => piece).join("")
      assert.strictEqual(JSON.parse(`"${text}"`), content(whole))
      assert.notInclude(streamed.body, "echo")
    }).pipe(Effect.provide(layer([])))
  )

  it.live("that need a person's yes are denied: the protocol has nobody to ask", () =>
    Effect.gen(function* () {
      const answer = yield* chat([user("go")], {}, { "x-troupe-thread": "desk" })
      assert.strictEqual(answer.status, 200)
      const threads = yield* Threads
      const { id } = yield* threads.byKey(ThreadKey.make("openai:desk"))
      const entries = yield* threads.latest(id, 50)
      assert.deepStrictEqual(
        entries.flatMap(({ entry }) => (entry._tag === "ToolResult" ? [entry.outcome] : [])),
        ["denied"]
      )
      assert.deepStrictEqual(yield* (yield* Approvals).waiting(id), [])
    }).pipe(Effect.provide(layer(["echo"])))
  )
})

describe("a turn without an answer", () => {
  it.live("is an error that no client tries again by itself", () =>
    Effect.gen(function* () {
      const failed = yield* chat([user("go")])
      assert.strictEqual(failed.status, 500)
      assert.strictEqual(failed.header("x-should-retry"), "false")
      assert.deepInclude(failed.json.error, { type: "server_error", code: "model:stream-cut" })
      const limited = yield* chat([user("go")])
      assert.strictEqual(limited.status, 429)
      assert.deepInclude(limited.json.error, { type: "rate_limit_error", code: "model:rate-limited" })
    }).pipe(
      Effect.provide(
        Endpoint.layer({
          scripts: [
            [ScriptedModel.fail(transportError("stream-cut", "The connection was lost"))],
            [ScriptedModel.fail(new AiError.RateLimitError({}))]
          ]
        })
      )
    )
  )

  it.live("because somebody stopped it is told apart", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      const threads = yield* Threads
      const model = yield* ScriptedModel.ScriptedModel
      const waiting = yield* Effect.forkChild(chat([user("go")], {}, { "x-troupe-thread": "desk" }))
      yield* model.awaitRequests(1)
      const { id } = yield* threads.byKey(ThreadKey.make("openai:desk"))
      yield* conversations.stop(id, "a test")
      const stopped = yield* Fiber.join(waiting)
      assert.strictEqual(stopped.status, 422)
      assert.strictEqual(stopped.json.error.code, "turn_stopped")
      assert.strictEqual(stopped.header("x-should-retry"), "false")
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.never]] })))
  )
})

describe("a client that leaves", () => {
  for (const [stops, stream] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true]
  ] as const) {
    it.live(
      `${stops ? "takes" : "leaves"} its turn ${stops ? "with it" : "running"}, ${stream ? "streaming" : "waiting"}`,
      () =>
        Effect.gen(function* () {
          const gate = yield* Deferred.make<void>()
          yield* Effect.gen(function* () {
            const url = yield* Endpoint.url
            const threads = yield* Threads
            const conversations = yield* Conversations
            const model = yield* ScriptedModel.ScriptedModel
            const leaving = new AbortController()
            const request = fetch(`${url}/v1/chat/completions`, {
              method: "POST",
              signal: leaving.signal,
              headers: {
                authorization: `Bearer ${Endpoint.token}`,
                "x-troupe-thread": "desk",
                ...(stops ? { "x-troupe-stop-on-disconnect": "true" } : {})
              },
              body: JSON.stringify({ model: "troupe", stream, messages: [user("go")] })
            }).then((response) => response.text())
            const gone = request.catch(() => "gone")
            yield* model.awaitRequests(1)
            const { id } = yield* threads.byKey(ThreadKey.make("openai:desk"))
            leaving.abort()
            assert.strictEqual(yield* Effect.promise(() => gone), "gone")
            // By the time of these answers the server has seen that the client is gone.
            for (const path of ["/v1/models", "/health", "/v1/models"]) yield* send(path)
            if (!stops) yield* Deferred.succeed(gate, undefined)
            const entries = yield* conversations.watch(id, { from: 1 }).pipe(
              Stream.flatMap((item) => (item._tag === "Entry" ? Stream.succeed(item.stored.entry) : Stream.empty)),
              Stream.takeUntil((entry) => entry._tag === "TurnEnded"),
              Stream.runCollect
            )
            const end = entries.at(-1)
            assert.strictEqual(end?._tag === "TurnEnded" ? end.state : undefined, stops ? "stopped" : "answered")
          }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.gate(gate), ScriptedModel.text("done")]] })))
        })
    )
  }
})

describe("what is refused", () => {
  const sound = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }]
  const cases: ReadonlyArray<readonly [string, string, unknown, number, string | null]> = [
    ["no JSON", "chat/completions", "{", 400, null],
    ["no object", "chat/completions", "[]", 400, null],
    ["no model", "chat/completions", { messages: [user("x")] }, 400, "model"],
    ["an unknown model", "chat/completions", { model: "gpt-5", messages: [user("x")] }, 404, "model"],
    ["no messages", "chat/completions", { model: "troupe" }, 400, "messages"],
    ["empty messages", "chat/completions", { model: "troupe", messages: [] }, 400, "messages"],
    ["blank messages", "chat/completions", { model: "troupe", messages: [user(" ")] }, 400, "messages"],
    [
      "an unknown role",
      "chat/completions",
      { model: "troupe", messages: [message("wizard", "x")] },
      400,
      "messages[0].role"
    ],
    ["a number as content", "chat/completions", { model: "troupe", messages: [user(12)] }, 400, "messages[0].content"],
    ["a sound", "chat/completions", { model: "troupe", messages: [user(sound)] }, 400, "messages[0].content[0]"],
    ["only instructions", "chat/completions", { model: "troupe", messages: [message("system", "x")] }, 400, "messages"],
    [
      "an answer at the end",
      "chat/completions",
      { model: "troupe", messages: [user("x"), assistant("y")] },
      400,
      "messages"
    ],
    ["two answers", "chat/completions", { model: "troupe", n: 2, messages: [user("x")] }, 400, "n"],
    ["sound", "chat/completions", { model: "troupe", modalities: ["audio"], messages: [user("x")] }, 400, "modalities"],
    [
      "a forced call",
      "chat/completions",
      { model: "troupe", tool_choice: "required", messages: [user("x")] },
      400,
      "tool_choice"
    ],
    [
      "a form of the answer",
      "chat/completions",
      { model: "troupe", response_format: { type: "json_object" }, messages: [user("x")] },
      400,
      "response_format"
    ],
    ["too many words", "chat/completions", { model: "troupe", messages: [user("x".repeat(1_000_001))] }, 413, null],
    ["no input", "responses", { model: "troupe" }, 400, "input"],
    ["empty input", "responses", { model: "troupe", input: [] }, 400, "input"],
    [
      "an item's id",
      "responses",
      { model: "troupe", input: [{ type: "item_reference", id: "item_1" }] },
      400,
      "input[0]"
    ],
    [
      "a picture in an item",
      "responses",
      { model: "troupe", input: [user([{ type: "input_image" }])] },
      400,
      "input[0].content[0]"
    ],
    ["the background", "responses", { model: "troupe", input: "x", background: true }, 400, "background"],
    [
      "a form of the text",
      "responses",
      { model: "troupe", input: "x", text: { format: { type: "json_schema" } } },
      400,
      "text.format"
    ]
  ]
  it.live("is refused with the name of the field, before anything is accepted", () =>
    Effect.gen(function* () {
      for (const [name, path, body, status, param] of cases) {
        const answer = yield* send(`/v1/${path}`, body)
        assert.strictEqual(answer.status, status, `${name}: ${answer.body}`)
        assert.strictEqual(answer.json.error.param, param, `${name}: ${answer.body}`)
        assert.strictEqual(answer.json.error.type, "invalid_request_error", name)
        assert.isBelow(answer.body.length, 600, name)
      }
      assert.deepStrictEqual(yield* keys, [])
    }).pipe(Effect.provide(counting))
  )

  it.live("has the protocol's form at the gate and beside the routes, too", () =>
    Effect.gen(function* () {
      const noToken = yield* send("/v1/models", undefined, { authorization: "" })
      assert.strictEqual(noToken.status, 401)
      assert.strictEqual(noToken.json.error.code, "invalid_api_key")
      const stranger = yield* send("/v1/models", undefined, { origin: "https://evil.example" })
      assert.strictEqual(stranger.status, 403)
      assert.strictEqual(stranger.json.error.type, "permission_error")
      const large = yield* send("/v1/responses", "x", { "content-length": "900000000" })
      assert.strictEqual(large.status, 413)
      assert.strictEqual(large.json.error.code, "request_too_large")
      for (const path of ["/v1/embeddings", "/v1/conversations", "/v1/chat"]) {
        const missing = yield* send(path, {})
        assert.strictEqual(missing.status, 404, path)
        assert.strictEqual(missing.json.error.code, "not_found", path)
      }
      const model = yield* send("/v1/models/gpt-5")
      assert.strictEqual(model.status, 404)
      assert.strictEqual(model.json.error.code, "model_not_found")
    }).pipe(Effect.provide(counting))
  )

  it.live(
    "is refused in the protocol's form, whatever stands in any field",
    () =>
      Effect.gen(function* () {
        const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
        const strange = [
          null,
          true,
          -1,
          1e308,
          "x".repeat(3000),
          "\u0000\u202e",
          [],
          {},
          [[]],
          [{}],
          { type: 1 },
          nested(60)
        ]
        const bodies = {
          "chat/completions": {
            model: "troupe",
            messages: [{ role: "user", content: [{ type: "text", text: "x" }], tool_calls: [] }],
            stream: false,
            stream_options: { include_usage: false },
            n: 1,
            user: "ada",
            metadata: { a: "b" },
            modalities: ["text"],
            response_format: { type: "text" },
            tool_choice: "auto",
            tools: [],
            max_tokens: 1,
            stop: ["x"],
            temperature: 1
          },
          responses: {
            model: "troupe",
            input: [{ type: "message", role: "user", content: "x" }],
            instructions: "be brief",
            stream: false,
            user: "ada",
            metadata: { a: "b" },
            previous_response_id: null,
            conversation: "desk",
            background: false,
            text: { format: { type: "text" } },
            tool_choice: "auto",
            max_output_tokens: 1
          }
        }
        for (const [path, good] of Object.entries(bodies)) {
          for (const field of Object.keys(good)) {
            for (const value of strange) {
              const answer = yield* send(`/v1/${path}`, { ...good, [field]: value })
              const name = `${path} ${field} ${JSON.stringify(value).slice(0, 40)}: ${answer.body.slice(0, 300)}`
              if (answer.status === 200) continue
              assert.include([400, 404], answer.status, name)
              assert.strictEqual(answer.json.error.type, "invalid_request_error", name)
              assert.isTrue(answer.json.error.param === null || answer.json.error.param.startsWith(field), name)
              assert.match(answer.json.error.message, /Expected|There is no agent|There is no response/, name)
              assert.isBelow(answer.body.length, 700, name)
            }
          }
        }
        const deep = `{"model":"troupe","messages":[],"metadata":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
        assert.include((yield* send("/v1/chat/completions", deep)).json.error.message, "nested too deeply")
      }).pipe(Effect.provide(counting)),
    60_000
  )

  it.live("is refused by its size and its users as the fields say", () =>
    Effect.gen(function* () {
      const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]))
      const bad: ReadonlyArray<readonly [object, string]> = [
        [{ user: "x".repeat(201) }, "user"],
        [{ user: "a\nb" }, "user"],
        [{ metadata: { a: "x".repeat(513) } }, "metadata.a"],
        [{ metadata: pairs }, "metadata"],
        [{ metadata: { troupe_thread: 5 } }, "metadata.troupe_thread"],
        [{ metadata: { troupe_thread: "a b" } }, "metadata.troupe_thread"],
        [{ messages: [user("\u200b\u3164 ")] }, "messages"]
      ]
      for (const [fields, param] of bad) {
        const answer = yield* send("/v1/chat/completions", { model: "troupe", messages: [user("x")], ...fields })
        assert.deepStrictEqual([answer.status, answer.json.error.param], [400, param], answer.body)
      }
      const blank = yield* send("/v1/responses", { model: "troupe", input: " " })
      assert.deepStrictEqual([blank.status, blank.json.error.param], [400, "input"], blank.body)
      assert.deepStrictEqual(yield* keys, [])
    }).pipe(Effect.provide(counting))
  )

  it.live("is half a body, a body in nonsense pieces, a header twice: the next request is served", () =>
    Effect.gen(function* () {
      const url = new URL(yield* Endpoint.url)
      const head = (more: string) =>
        `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${Endpoint.token}\r\n${more}\r\n\r\n`
      const body = JSON.stringify({ model: "troupe", messages: [user("x")] })
      const raw = [
        `${head("content-length: 500")}${body.slice(0, 20)}`,
        `${head("transfer-encoding: chunked")}5\r\n{"mod\r\nzz\r\nnonsense`,
        `${head("content-length: 5\r\ncontent-length: 6")}{"a":1`,
        `${head("content-length: 5\r\ntransfer-encoding: chunked")}0\r\n\r\n`,
        `${head(`content-length: ${body.length}\r\nauthorization: Bearer wrong\r\nx-troupe-thread: a\r\nx-troupe-thread: b`)}${body}`,
        `${head("content-length: 3\r\ncontent-encoding: gzip")}abc`
      ]
      for (const [index, text] of raw.entries()) {
        const answer = yield* halfSent(url, text)
        assert.notInclude(answer, "HTTP/1.1 200", `${index}`)
        assert.notInclude(answer, "    at ", `${index}`)
        assert.notInclude(answer, Endpoint.token, `${index}`)
      }
      assert.deepStrictEqual(yield* keys, [])
      assert.strictEqual((yield* chat([user("hello")])).status, 200)
    }).pipe(Effect.provide(counting))
  )
})

/** Sends a text as it is, says that there is no more, and gives what comes back. */
const halfSent = (url: URL, text: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let received = ""
    const socket = Net.connect(Number(url.port), url.hostname, () => socket.end(text))
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      received += chunk
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(received)))
    return Effect.sync(() => socket.destroy())
  })
