import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import * as ActiveTime from "../../src/turn/ActiveTime.ts"

const limited = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.forkChild(ActiveTime.make(Duration.seconds(10), 0).limit(work), { startImmediately: true })

const forPerson = <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.flatMap(PersonWait, (person) => person.during(wait))

const outcome = <A, E>(fiber: Fiber.Fiber<A, E | ActiveTime.TurnTimedOut>) =>
  Effect.map(Effect.result(Fiber.join(fiber)), (result) => result._tag)

describe("the limit of working time", () => {
  it.effect("ends work that takes longer, and interrupts it", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      const fiber = yield* limited(
        Effect.onInterrupt(Effect.sleep("11 seconds"), () => Deferred.succeed(interrupted, undefined))
      )
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.code, "turn:timeout")
      assert.isTrue(yield* Deferred.isDone(interrupted))
    })
  )

  it.effect("is the same when the time of day is set back or forward meanwhile", () =>
    Effect.gen(function* () {
      const time = ActiveTime.make(Duration.seconds(10), 0)
      yield* TestClock.setTime(Duration.toMillis("1 day"))
      const fiber = yield* Effect.forkChild(
        time.limit(Effect.andThen(Effect.sleep("4 seconds"), forPerson(Effect.never))),
        { startImmediately: true }
      )
      yield* TestClock.adjust("3 seconds")
      // Back by a day.
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* time.spent, 3000)
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("lets work be that takes less", () =>
    Effect.gen(function* () {
      const fiber = yield* limited(Effect.as(Effect.sleep("9 seconds"), "done"))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
    })
  )

  it.effect("stands still while a person is waited for", () =>
    Effect.gen(function* () {
      const work = Effect.sleep("4 seconds").pipe(
        Effect.andThen(forPerson(Effect.sleep("1 hour"))),
        Effect.andThen(Effect.sleep("4 seconds")),
        Effect.andThen(forPerson(Effect.sleep("1 day")))
      )
      const long = yield* limited(Effect.andThen(work, Effect.sleep("3 seconds")))
      const short = yield* limited(Effect.andThen(work, Effect.sleep("1 second")))
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* outcome(long), "Failure")
      assert.strictEqual(yield* outcome(short), "Success")
    })
  )

  it.effect("stands still once, where several people are waited for at the same time", () =>
    Effect.gen(function* () {
      const waits = Effect.all(
        [
          forPerson(Effect.sleep("20 seconds")),
          Effect.andThen(Effect.sleep("5 seconds"), forPerson(Effect.sleep("30 seconds")))
        ],
        { concurrency: "unbounded" }
      )
      const fiber = yield* limited(Effect.andThen(waits, Effect.sleep("11 seconds")))
      yield* TestClock.adjust("44 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* outcome(fiber), "Failure")
    })
  )

  it.effect("costs nothing while it stands still, however little is left", () =>
    Effect.gen(function* () {
      const fiber = yield* limited(
        Effect.sleep("9999 millis").pipe(
          Effect.andThen(forPerson(Effect.sleep("30 days"))),
          Effect.andThen(Effect.sleep("2 millis"))
        )
      )
      yield* TestClock.adjust("31 days")
      assert.strictEqual(yield* outcome(fiber), "Failure")
    })
  )

  it.effect("goes on when the wait fails or is interrupted", () =>
    Effect.gen(function* () {
      const wait = Effect.timeoutOption(forPerson(Effect.never), "1 minute")
      const fiber = yield* limited(Effect.andThen(wait, Effect.sleep("11 seconds")))
      yield* TestClock.adjust("69 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* outcome(fiber), "Failure")
    })
  )

  it.effect("takes what was worked before into account", () =>
    Effect.gen(function* () {
      const time = ActiveTime.make(Duration.seconds(10), 7_000)
      const fiber = yield* Effect.forkChild(time.limit(Effect.never), { startImmediately: true })
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "TurnTimedOut")
      const late = ActiveTime.make(Duration.seconds(10), 11_000)
      assert.strictEqual((yield* Effect.flip(late.limit(Effect.never)))._tag, "TurnTimedOut")
    })
  )

  it.effect("tells how much there was: neither waits, nor what comes before the work and after it", () =>
    Effect.gen(function* () {
      const time = ActiveTime.make(Duration.seconds(10), 500)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* time.spent, 500)
      const fiber = yield* Effect.forkChild(
        time.limit(Effect.andThen(Effect.sleep("2 seconds"), forPerson(Effect.sleep("1 hour")))),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* time.spent, 1500)
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(yield* time.spent, 2500)
      yield* TestClock.adjust("31 minutes")
      yield* Fiber.join(fiber)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* time.spent, 2500)
    })
  )

  it.effect("is not needed: a wait outside of it is just a wait", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(forPerson(Effect.sleep("1 hour")))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
    })
  )
})
