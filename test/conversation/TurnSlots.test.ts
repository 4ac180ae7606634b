/** Places of turns, and what becomes of them when the process ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as TurnSlots from "../../layers/conversation/TurnSlots.ts"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Ids from "../../src/Ids.ts"
import * as Threads from "../../src/thread/Threads.ts"

const thread = Effect.map(Ids.makeThreadId, (id): Threads.Thread => ({
  id,
  key: Threads.ThreadKey.make("console:main"),
  agent: "troupe",
  title: null,
  entries: 0,
  historyFrom: 1,
  createdAt: 0,
  updatedAt: 0
}))

const slots = Layer.provide(TurnSlots.layer, Settings.layer({ runtime: { shutdown_grace_seconds: 30 } }))

/** Waits for a person once it is told to. */
const asking = (begun: Deferred.Deferred<void>, told: Effect.Effect<void>) =>
  Effect.gen(function* () {
    yield* told
    const { during } = yield* PersonWait
    return yield* during(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
  })

describe("when the process is about to end", () => {
  it.effect("a turn that waits for a person is left at once: its question waits on disk", () =>
    Effect.gen(function* () {
      const { close, idle, use } = yield* TurnSlots.TurnSlots
      const begun = yield* Deferred.make<void>()
      const turn = yield* Effect.forkChild(use(yield* thread, asking(begun, Effect.void)))
      yield* Deferred.await(begun)
      yield* close
      // No time goes by.
      yield* idle
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(turn)))
    }).pipe(Effect.provide(slots))
  )

  it.effect("a turn that comes to its question then is left there, and one at work has its time", () =>
    Effect.gen(function* () {
      const { close, idle, use } = yield* TurnSlots.TurnSlots
      const begun = yield* Deferred.make<void>()
      const told = yield* Deferred.make<void>()
      const asks = yield* Effect.forkChild(use(yield* thread, asking(begun, Deferred.await(told))), {
        startImmediately: true
      })
      const works = yield* Effect.forkChild(use(yield* thread, Effect.never), { startImmediately: true })
      yield* close
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual([asks.pollUnsafe(), works.pollUnsafe()], [undefined, undefined])
      yield* Deferred.succeed(told, undefined)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(asks)))
      assert.isUndefined(works.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* idle
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(works)))
    }).pipe(Effect.provide(slots))
  )
})
