import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as PreResponseLive from "../../layers/tools/response/PreResponse.ts"
import * as Channels from "../../src/channel/Channels.ts"
import type * as Outbox from "../../src/channel/Outbox.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import type * as Ids from "../../src/Ids.ts"
import { delay, lastUserText, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime

/** Repeats what it was told last, after 200 ms. */
const parrot: TestRuntime.Options["scripts"] = ({ prompt }) => [
  delay("200 millis"),
  text(`re: ${Option.getOrElse(lastUserText(prompt), () => "")}`)
]

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("conversations", () => {
  it.effect("answer a message", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* Troupe).say("hello")
      assert.strictEqual(outcome.answer, "hi there")
      assert.strictEqual(outcome.state, "answered")
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[text("hi ", "there")]] })))
  )

  it.effect("F084 keep the order of each thread, and run as many threads at once as they may", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const model = yield* ScriptedModel
      const sent = yield* Effect.forEach(
        range(200),
        (n) => troupe.accept(`${n}`, { chat: `chat-${n % 50}`, delivery: "after-turn" }),
        { concurrency: "unbounded" }
      )
      // No time passes, so none of them is answered while they are counted.
      yield* model.awaitRequests(20)
      yield* Effect.repeat(Effect.yieldNow, { times: 1000 })
      assert.strictEqual((yield* model.requests).length, 20)
      assert.strictEqual(Number((yield* Metric.value(TurnMetrics.running)).value), 20)
      const outcomes = yield* Fixtures.whileTimePasses(Effect.forEach(sent, troupe.outcome))

      outcomes.forEach(({ answer, state }, n) => {
        assert.strictEqual(state, "answered")
        assert.strictEqual(answer, `re: ${n}`)
      })
      for (const chat of range(50)) {
        const last = outcomes[150 + chat]
        const taken = last?.entries.flatMap((entry) => (entry._tag === "TurnStarted" ? entry.messageIds : []))
        const accepted = last?.entries.flatMap((entry) => (entry._tag === "UserMessage" ? [entry.messageId] : []))
        assert.strictEqual(taken?.length, 4)
        assert.deepStrictEqual(taken, accepted)
      }
      assert.strictEqual(Number((yield* Metric.value(TurnMetrics.running)).value), 0)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: parrot, settings: { runtime: { max_concurrent_turns: 20 } } })))
  )

  it.effect("let a quiet channel in between the threads of a busy one", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const order: Array<string> = []
      const answered = (name: string) =>
        Effect.flatMap(troupe.say(name, { chat: name, channel: name.startsWith("busy") ? "busy" : "quiet" }), () =>
          Effect.sync(() => order.push(name))
        )
      const busy = yield* Effect.forkChild(
        Effect.forEach(range(20), (n) => answered(`busy-${n}`), { concurrency: "unbounded" })
      )
      yield* (yield* ScriptedModel).awaitRequests(2)
      const quiet = yield* Effect.forkChild(
        Effect.forEach(range(2), (n) => answered(`quiet-${n}`), { concurrency: "unbounded" })
      )
      yield* Fixtures.whileTimePasses(Effect.all([Fiber.join(busy), Fiber.join(quiet)]))
      assert.isBelow(order.indexOf("quiet-0"), 6)
      assert.isBelow(order.indexOf("quiet-1"), 8)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: parrot, settings: { runtime: { max_concurrent_turns: 2 } } })))
  )

  it.effect("F024 take a message once, however often and however fast a channel hands it in", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const accepted = yield* Effect.forEach(range(5), () => troupe.accept("hello", { externalId: "same" }), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(accepted.map(({ messageId }) => messageId)).size, 1)
      assert.strictEqual(accepted.filter(({ duplicate }) => !duplicate).length, 1)
      yield* troupe.say("hello", { externalId: "same" })
      assert.strictEqual((yield* (yield* ScriptedModel).requests).length, 1)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[text("once")]] })))
  )

  it.effect("leave memory when they are idle, and come back with the next message", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const resident = Effect.map(Metric.value(TurnMetrics.conversations), ({ value }) => Number(value))
      const before = yield* resident
      const first = yield* troupe.say("one", { chat: "a" })
      yield* troupe.say("two", { chat: "b" })
      assert.strictEqual((yield* resident) - before, 2)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* resident) - before, 2)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* resident) - before, 0)

      const seen: Array<number> = []
      const conversations = yield* Conversations
      const caughtUp = yield* Deferred.make<void>()
      yield* Effect.forkScoped(
        Stream.runForEach(conversations.watch(first.threadId, { from: 1 }), (item) => {
          if (item._tag === "Entry") seen.push(item.stored.seq)
          return item._tag === "CaughtUp" ? Deferred.succeed(caughtUp, undefined) : Effect.void
        })
      )
      yield* Deferred.await(caughtUp)
      // One that is watched has something to do.
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* resident) - before, 1)
      const again = yield* troupe.say("three", { chat: "a" })
      assert.strictEqual(again.answer, "answer 2")
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        seen,
        range(again.entries.length).map((index) => index + 1)
      )
    }).pipe(Effect.scoped, Effect.provide(TestRuntime.layer({ scripts: ({ index }) => [text(`answer ${index}`)] })))
  )

  it.effect("go on with others when one cannot make progress, and try that one ever more rarely", () =>
    Effect.gen(function* () {
      const attempts = new Set<number>()
      let stuck: Ids.ThreadId | undefined
      const layer = TestRuntime.layer({
        scripts: () => [text("fine")],
        journal: (journal) => ({
          ...journal,
          startTurn: (claim, turn) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              if (claim.threadId !== stuck) return journal.startTurn(claim, turn)
              attempts.add(now)
              return Effect.die("this thread cannot be written")
            })
        })
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const threads = yield* Threads.Threads
        const { threadId } = yield* troupe.say("hello", { chat: "stuck" })
        stuck = threadId
        const startedAt = yield* Clock.currentTimeMillis
        const owed = yield* troupe.accept("are you there?", { chat: "stuck" })
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual((yield* troupe.say("hello", { chat: "other" })).answer, "fine")
        assert.strictEqual((yield* threads.receipt(owed.messageId)).state, "accepted")
        const pauses = [...attempts].map((at) => Math.round((at - startedAt) / 1000))
        assert.isAtLeast(pauses.length, 5, String(pauses))
        assert.isAtMost(pauses.length, 9, String(pauses))

        // A new message is worth a try at once, and repairs nothing by itself.
        const before = attempts.size
        yield* troupe.accept("hello?", { chat: "stuck" })
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(attempts.size, before + 1)

        stuck = undefined
        yield* TestClock.adjust("6 minutes")
        assert.strictEqual((yield* troupe.outcome(owed)).state, "answered")
        // Once it works, it is as any other.
        assert.strictEqual((yield* troupe.say("good", { chat: "stuck" })).answer, "fine")
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("carry what an answer was declared to be into the log and to the channel, for that answer only", () =>
    Effect.gen(function* () {
      const sent: Array<Outbox.Delivery> = []
      const done = yield* Deferred.make<void>()
      yield* (yield* Channels.Channels).register({
        name: "push",
        capabilities: { approval: false, formatting: ["text", "html"], files: true },
        deliver: (delivery) =>
          Effect.suspend(() => (sent.push(delivery) === 2 ? Deferred.succeed(done, undefined) : Effect.void)).pipe(
            Effect.asVoid
          )
      })
      const troupe = yield* Troupe
      const { entries } = yield* troupe.say("one", { channel: "push" })
      yield* troupe.say("two", { channel: "push" })
      const format = {
        kind: "html",
        disableLinkPreview: true,
        attachments: [{ path: "a.png", type: "image", caption: "A" }]
      }
      const answers = entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? [entry.format] : []))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(answers, [undefined, format])
      yield* Fixtures.whileTimePasses(Deferred.await(done))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        sent.map((delivery) => [delivery.text, delivery.format]),
        [
          ["<b>bold</b>", format],
          ["plain", undefined]
        ]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(
        TestRuntime.layer({
          scripts: [
            [
              toolCall("pre_response", {
                kind: "html",
                meta: { disable_link_preview: true },
                attachments: [{ path: "a.png", type: "image", caption: "A" }]
              })
            ],
            [text("<b>bold</b>")],
            [text("plain")]
          ],
          tools: PreResponseLive.layer
        })
      )
    )
  )
})
