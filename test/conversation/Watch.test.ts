import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import type * as Watching from "../../src/conversation/Conversations.ts"
import { lag } from "../../src/event/EventBus.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import { gate, run, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime
type Item = Watching.WatchItem

const watch = (threadId: Ids.ThreadId, from: number) =>
  Stream.unwrap(Effect.map(Conversations, (conversations) => conversations.watch(threadId, { from })))

/** Collects until the log has reached `seq` and the turn that is told of has ended. */
const collectTo = (threadId: Ids.ThreadId, from: number, isLast: (item: Item) => boolean) =>
  Stream.runCollect(Stream.takeUntil(watch(threadId, from), isLast))

const seqs = (items: Iterable<Item>) => [...items].flatMap((item) => (item._tag === "Entry" ? [item.stored.seq] : []))

const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** Lets others take what is on its way to them. */
const pause = Effect.repeat(Effect.yieldNow, { times: 30 })

describe("a watcher", () => {
  it.effect("gets the log from its cursor, then that it has caught up, then what happens", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const first = yield* troupe.say("hello")
      const length = first.entries.length
      const items = yield* collectTo(first.threadId, 3, (item) => item._tag === "CaughtUp")
      assert.deepStrictEqual(seqs(items), upTo(3, length))
      assert.deepStrictEqual(items.at(-1), { _tag: "CaughtUp", seq: length })

      const caughtUp = yield* Deferred.make<void>()
      const watching = yield* Effect.forkChild(
        watch(first.threadId, length + 1).pipe(
          Stream.tap((item) => (item._tag === "CaughtUp" ? Deferred.succeed(caughtUp, undefined) : Effect.void)),
          Stream.takeUntil((item) => item._tag === "Live" && item.event._tag === "TurnCompleted"),
          Stream.runCollect
        )
      )
      yield* Deferred.await(caughtUp)
      yield* troupe.say("again")
      const live = yield* Fiber.join(watching)
      assert.deepStrictEqual(seqs(live), upTo(length + 1, length + 4))
      assert.strictEqual(live.filter((item) => item._tag === "CaughtUp").length, 1)
      const told = live.flatMap((item) => (item._tag === "Live" ? [item.event._tag] : [item._tag]))
      assert.deepStrictEqual(told, [
        "CaughtUp",
        "Entry",
        "Entry",
        "TurnStarted",
        "TurnInputPrepared",
        "ModelDelta",
        "ModelDelta",
        "Entry",
        "Entry",
        "TurnCompleted"
      ])
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: () => [text("hi", " there")] })))
  )

  it.effect("is told that the model is asked again, why, and when", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const accepted = yield* troupe.accept("hello")
      const items = yield* Fixtures.whileTimePasses(
        collectTo(accepted.threadId, 1, (item) => item._tag === "Live" && item.event._tag === "TurnCompleted")
      )
      const retries = items.flatMap((item) =>
        item._tag === "Live" && item.event._tag === "ModelRetry" ? [item.event] : []
      )
      assert.deepStrictEqual(
        retries.map(({ reason, retries, retry, step, waitMillis }) => [step, retry, retries, waitMillis, reason]),
        [
          [1, 1, 3, 200, "The model gave an empty response"],
          [1, 2, 3, 400, "The model gave an empty response"]
        ]
      )
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: ({ index }) => (index < 2 ? [] : [text("there")]) })))
  )

  it.effect("is given a long log of large messages piece by piece, as it asks for them", () =>
    Effect.gen(function* () {
      const { accept } = yield* Journal
      const text = "x".repeat(Threads.pageBytes / 4)
      const [first] = yield* Effect.forEach(upTo(1, 20), (number) =>
        accept({
          thread: Threads.ThreadKey.make("test:large"),
          channel: "test",
          externalId: String(number),
          sender: {},
          source: "person",
          delivery: "after-turn",
          text,
          attachments: [],
          agent: "main"
        })
      )
      const pieces: Array<number> = []
      let read = 0
      const items = watch(first?.threadId ?? (yield* Ids.makeThreadId), 1)
      yield* Stream.runForEachArray(Stream.take(items, 20), (piece) =>
        Effect.sync(() => {
          read += seqs(piece).length
          pieces.push(seqs(piece).length * text.length)
        })
      )
      assert.strictEqual(read, 20)
      assert.isAtMost(Math.max(...pieces), Threads.pageBytes)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [] })))
  )

  it.effect("of a thread that does not exist is told so", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain(watch(yield* Ids.makeThreadId, 1)))
      assert.strictEqual(error._tag, "ThreadNotFound")
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [] })))
  )

  it.effect("misses nothing and sees nothing twice, whenever it comes", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const first = yield* troupe.say("message 0")
      const total = 60
      const talking = yield* Effect.forkChild(
        Effect.forEach(upTo(1, total), (n) => Effect.andThen(troupe.accept(`message ${n}`), Effect.yieldNow))
      )
      const watchers = yield* Effect.forEach(upTo(1, 40), (n) =>
        Effect.gen(function* () {
          for (let i = 0; i < n; i++) yield* Effect.yieldNow
          let unanswered = total
          return yield* Effect.forkChild(
            watch(first.threadId, 1).pipe(
              Stream.takeUntil((item) => {
                if (item._tag !== "Entry") return false
                const { entry } = item.stored
                if (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") {
                  unanswered -= entry.messageIds.length
                }
                return entry._tag === "TurnEnded" && unanswered === -1
              }),
              Stream.runCollect
            )
          )
        })
      )
      yield* Fiber.join(talking)
      const seen = yield* Effect.forEach(watchers, Fiber.join)
      for (const items of seen) {
        const got = seqs(items)
        assert.deepStrictEqual(got, upTo(1, got.length))
        assert.isAtMost(items.filter((item) => item._tag === "CaughtUp").length, 1)
      }
      assert.strictEqual(new Set(seen.map((items) => seqs(items).length)).size, 1)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: () => [text("yes")] })))
  )

  it.effect("that is slow loses live items and no entries, whatever goes on in other threads", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      const layer = TestRuntime.layer({
        scripts: ({ index }) => {
          if (index === 0) return [text("hello")]
          if (index === 1)
            return [
              gate(open),
              ...Array.from({ length: 100 }, () => [text("x"), run(pause)]).flat(),
              text(...Array<string>(lag + 500).fill("y")),
              toolCall("look", { text: "a" })
            ]
          if (index === 2) return [gate(finish), text("done")]
          return [text(...Array<string>(lag + 500).fill("noise"))]
        },
        tools: Fixtures.echo
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const first = yield* troupe.say("hello")
        const waiting = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const watching = yield* Effect.forkChild(
          watch(first.threadId, first.entries.length + 1).pipe(
            Stream.tap((item) =>
              item._tag === "CaughtUp"
                ? Effect.andThen(Deferred.succeed(waiting, undefined), Deferred.await(goOn))
                : Effect.void
            ),
            Stream.takeUntil((item) => item._tag === "Entry" && item.stored.entry._tag === "TurnEnded"),
            Stream.runCollect
          )
        )
        yield* Deferred.await(waiting)
        const model = yield* ScriptedModel
        const accepted = yield* troupe.accept("go")
        yield* Deferred.succeed(open, undefined)
        yield* model.awaitRequests(3)
        yield* pause
        yield* Deferred.succeed(finish, undefined)
        const outcome = yield* troupe.outcome(accepted)
        for (let n = 0; n < 3; n++) yield* troupe.say("noise", { chat: `other ${n}`.replace(" ", "-") })
        yield* Deferred.succeed(goOn, undefined)
        const items = yield* Fiber.join(watching)
        assert.deepStrictEqual(seqs(items), upTo(first.entries.length + 1, outcome.entries.length))
        const live = items.filter((item) => item._tag === "Live").length
        assert.isAtLeast(live, lag / 2)
        assert.isBelow(live, lag + 200)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("is told of commits in order", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const events = yield* Fixtures.recordEvents
      const outcome = yield* troupe.say("go")
      yield* troupe.say("go on")
      const committed = events.seen.flatMap((event) => (event._tag === "EntriesCommitted" ? [event.seq] : []))
      assert.deepStrictEqual(
        committed,
        committed.toSorted((a, b) => a - b)
      )
      const calls = events.seen.flatMap((event) =>
        event._tag === "ToolCall" ? [`${event.phase} ${event.detail}`] : []
      )
      assert.deepStrictEqual(
        calls.map((call) => call.split(" ")[0]),
        ["started", "completed", "started", "failed"]
      )
      assert.isTrue((yield* (yield* Threads.Threads).get(outcome.threadId)).entries === committed.at(-1))
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [
            [toolCall("look", { text: "a" }), toolCall("look", { text: "b" })],
            [text("done")],
            [text("done again")]
          ],
          tools: Fixtures.tools(({ text }) => (text === "a" ? Effect.succeed(text) : Effect.fail(text)))
        })
      )
    )
  )
})
