import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Watch from "../../layers/model/Watch.ts"

const options = { provider: "p", requestTimeout: Duration.seconds(60), idleTimeout: Duration.seconds(20) }

/** The test clock with a time of day that is `by` milliseconds off. */
const set = (clock: Clock.Clock, by: () => number): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by(),
  currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + by())
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
