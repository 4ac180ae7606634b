/** How the turn behind a request shows: as a stream, with tools, without an answer, and to a client that leaves. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { Approvals } from "../../src/approval/Approvals.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { ThreadKey, Threads } from "../../src/thread/Threads.ts"
import { transportError } from "../../src/model/ModelError.ts"
import * as AiError from "effect/ai/AiError"
import * as Endpoint from "./Endpoint.ts"

const { send, chat, respond, content, user } = Endpoint
const counting = Endpoint.countingLayer

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

  const odd = ["a\0", "b\ud83d", "\0c", "\ude00 😀\0"]

  it.live("of text with NUL and halves of characters says what the log and the whole answer say", () =>
    Effect.gen(function* () {
      const whole = yield* chat([user("go")])
      assert.strictEqual(content(whole), "ab\ufffdc\ufffd 😀")
      const { body } = yield* chat([user("go")], { stream: true })
      const chunks = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, line = ""]) => JSON.parse(line))
      assert.strictEqual(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""), content(whole))
    }).pipe(Effect.provide(Endpoint.layer({ scripts: () => [ScriptedModel.text(...odd)] })))
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

describe("an answer in one piece", () => {
  it.live("is what the log holds, the first time as well", () =>
    Effect.gen(function* () {
      const ask = chat([user("go")], {}, { "idempotency-key": "in-one-piece" })
      const first = content(yield* ask)
      assert.strictEqual(first, content(yield* ask))
      assert.isTrue(first.isWellFormed())
      assert.notInclude(first, "\u0000")
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.text("a\ud800b\u0000c")]] })))
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
