/** Turns on a disk that fails: nothing is doubled, nothing sticks, and everybody is told. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Database from "../../layers/storage/Database.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import type { StorageTrouble } from "../../src/storage/StorageError.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import * as Fixtures from "./Fixtures.ts"

/** A runtime over a disk that the test breaks; `pay` must never run twice. */
const runtime = (scripts: ScriptedModel.Scripts, pay: Effect.Effect<void, never, DiskRig.DiskRig> = Effect.void) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const context = yield* Layer.build(DiskRig.over(Layer.fresh(Database.layerMemory)))
      const tools = Fixtures.tools(({ text }) => Effect.as(Effect.provideContext(pay, context), text))
      const settings = { runtime: { agent_timeout_seconds: 3600 } }
      return TestRuntime.layer({ scripts, tools, settings }, Layer.succeedContext(context)).pipe(
        Layer.provideMerge(Layer.succeedContext(context))
      )
    })
  )

const message = (text: string) => ({
  thread: Threads.ThreadKey.make("test:main"),
  channel: "test",
  externalId: text,
  sender: { id: "tester" },
  source: "person" as const,
  delivery: "now" as const,
  text,
  attachments: [],
  agent: "troupe"
})

const break_ = (kind = DiskRig.full) => Effect.map(DiskRig.DiskRig, (rig) => rig.failWrites(kind))
const heal = Effect.map(DiskRig.DiskRig, (rig) => rig.heal())
const reasonOf = Effect.flatMap(StorageHealth, ({ failing }) =>
  Effect.map(failing, (found): StorageTrouble | undefined => found?.reason)
)

/** Until the store has failed in this way. */
const waitFor = (reason: StorageTrouble) =>
  Effect.flatMap(StorageHealth, ({ awaitFailing }) =>
    Effect.andThen(
      awaitFailing,
      Effect.map(reasonOf, (found) => assert.strictEqual(found, reason))
    )
  )

const joined = <A>(fiber: Fiber.Fiber<A>) => Fiber.join(fiber)

const payment = [[ScriptedModel.toolCall("pay", { text: "once" })], [ScriptedModel.text("paid")]]

describe("a disk that fails", () => {
  it.effect("F093 a message is refused with the reason, and is accepted when there is room again", () =>
    Effect.gen(function* () {
      const conversations = yield* Conversations
      yield* break_()
      const error = yield* Effect.flip(conversations.accept(message("hello")))
      assert.deepInclude(error, { _tag: "StorageUnavailable", reason: "full" })
      assert.match(error.message, /disk is full.*try again/)
      assert.strictEqual(yield* reasonOf, "full")
      yield* heal
      const accepted = yield* conversations.accept(message("hello"))
      assert.isFalse(accepted.duplicate)
      assert.isUndefined(yield* reasonOf)
      const { answer, state } = yield* (yield* TestRuntime.TestRuntime).outcome(accepted)
      assert.deepStrictEqual([state, answer], ["answered", "hi"])
    }).pipe(Effect.provide(runtime([[ScriptedModel.text("hi")]])))
  )

  it.effect("a turn waits some seconds with a result in its hand, and writes it then", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const sent = yield* troupe.accept("pay")
      const ended = yield* Effect.forkChild(troupe.outcome(sent))
      yield* waitFor("full")
      yield* TestClock.adjust("5 seconds")
      yield* heal
      yield* TestClock.adjust("10 seconds")
      const { entries, state } = yield* Fixtures.whileTimePasses(joined(ended))
      assert.strictEqual(state, "answered")
      assert.deepStrictEqual(Fixtures.results(entries), [["pay", "completed", ""]])
      assert.notInclude(Fixtures.kinds(entries), "TurnResumed")
    }).pipe(Effect.provide(runtime(payment, break_())))
  )

  for (const kind of DiskRig.kinds.filter(({ reason }) => reason !== "busy")) {
    it.effect(`a turn survives ten minutes of ${kind.name}: it goes on by itself, once, and is not parked`, () =>
      Effect.gen(function* () {
        const troupe = yield* TestRuntime.TestRuntime
        const journal = yield* Journal
        const sent = yield* troupe.accept("pay")
        const ended = yield* Effect.forkChild(troupe.outcome(sent))
        yield* waitFor(kind.reason)
        for (let minute = 0; minute < 10; minute++) {
          yield* Fixtures.whileTimePasses(Effect.sleep("1 minute"), "1 second")
          assert.strictEqual(yield* reasonOf, kind.reason)
        }
        assert.strictEqual((yield* journal.owed(sent.threadId)).running?.attempts, 1)
        yield* heal
        const { answer, entries, state } = yield* Fixtures.whileTimePasses(joined(ended), "1 second")
        assert.deepStrictEqual([state, answer], ["answered", "paid"])
        // Whether it happened is not known any more, and so it is not done again.
        assert.deepStrictEqual(
          Fixtures.results(entries).map(([, outcome]) => outcome),
          ["unknown"]
        )
        assert.isUndefined(yield* reasonOf)
      }).pipe(Effect.provide(runtime(payment, break_(kind))))
    )
  }

  it.effect("a stop that cannot be written says so, and the next one stops", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const conversations = yield* Conversations
      const sent = yield* troupe.accept("pay")
      const ended = yield* Effect.forkChild(troupe.outcome(sent))
      yield* waitFor("full")
      const refused = yield* Fixtures.whileTimePasses(Effect.flip(conversations.stop(sent.threadId, "ada")), "1 second")
      assert.strictEqual(refused._tag, "ConversationUnavailable")
      assert.include(refused.message, "disk is full")
      yield* heal
      assert.strictEqual(
        yield* Fixtures.whileTimePasses(conversations.stop(sent.threadId, "ada"), "1 second"),
        "stopped"
      )
      assert.strictEqual((yield* Fixtures.whileTimePasses(joined(ended))).state, "stopped")
    }).pipe(Effect.provide(runtime(payment, break_())))
  )
})
