import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Watch from "../../layers/model/Watch.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import { transportError } from "../../src/model/ModelError.ts"

const options = { model: "m", provider: "p", requestTimeout: Duration.seconds(60), idleTimeout: Duration.seconds(20) }

/** The test clock with a time of day that is `by` milliseconds off. */
const set = (clock: Clock.Clock, by: () => number): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by(),
  currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + by())
})

describe("the silence of a provider", () => {
  const patient = { ...options, requestTimeout: Duration.minutes(10) }

  it.effect("F137: is none while it says that it lives, for as long as a model thinks", () =>
    Effect.gen(function* () {
      const abort = new AbortController()
      const watch = yield* Watch.make(patient, abort)
      const answer = yield* Effect.forkChild(watch.next(Effect.as(Effect.sleep("151 seconds"), "thought")))
      for (let seconds = 0; seconds < 150; seconds += 15) {
        yield* TestClock.adjust("15 seconds")
        watch.onBytes()
      }
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(answer), "thought")
      assert.isFalse(abort.signal.aborted)
    }).pipe(Effect.scoped)
  )

  it.effect("F137: without a sign of life ends the request, and says which setting did", () =>
    Effect.gen(function* () {
      const abort = new AbortController()
      const watch = yield* Watch.make(patient, abort)
      const aborted = Effect.callback<never, AiError.AiError>((resume) => {
        abort.signal.addEventListener("abort", () => resume(Effect.fail(transportError("stream-cut", "aborted"))))
      })
      const answer = yield* Effect.forkChild(Effect.flip(watch.next(aborted)))
      yield* TestClock.adjust("19 seconds")
      assert.isFalse(abort.signal.aborted)
      yield* TestClock.adjust("6 seconds")
      const error = ModelError.describe(yield* Fiber.join(answer))
      assert.strictEqual(error.code, "model:idle-timeout")
      assert.include(error.message, 'idle_timeout_seconds (20s), set in [llm] or [providers.p.model_info."m"]')
    }).pipe(Effect.scoped)
  )
})

describe("the deadline of a request", () => {
  for (const [name, jump] of [
    ["forward", Duration.toMillis("1 hour")],
    ["back", -Duration.toMillis("1 hour")]
  ] as const) {
    it.effect(`stays where it is when the time of day is set ${name}`, () =>
      Effect.gen(function* () {
        let by = 0
        const clock = set(yield* Clock.Clock, () => by)
        const abort = new AbortController()
        yield* Effect.provideService(Watch.make(options, abort), Clock.Clock, clock)
        yield* TestClock.adjust("30 seconds")
        by = jump
        yield* TestClock.adjust("29 seconds")
        assert.isFalse(abort.signal.aborted)
        yield* TestClock.adjust("1 second")
        assert.isTrue(abort.signal.aborted)
      }).pipe(Effect.scoped)
    )
  }
})
