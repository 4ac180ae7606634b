/**
 * The clock rig: time that does what it does on real machines, over the test clock.
 *
 * - A process that stands still (`SIGSTOP`, a debugger, a machine that swaps): time passes, and nothing runs. What was due in the
 *   meantime is due at once afterwards, in its order.
 * - A machine that sleeps: the time of day goes on, the clock that measures durations does not, and timers do not know.
 * - A time of day that is set forward or back, by a person or by a time server.
 *
 * For a real process that stands still there is `SIGSTOP`: see `ClockRig.test.ts`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"

export class ClockRig extends Context.Service<
  ClockRig,
  {
    /** The process stands still for so long. */
    readonly standStill: (duration: Duration.Input) => Effect.Effect<void>
    /** The time of day is so much later, or earlier when it is negative. A sleep of the machine is nothing else. */
    readonly shiftTimeOfDay: (duration: Duration.Input) => Effect.Effect<void>
  }
>()("troupe/test/ClockRig") {}

interface Sleeper {
  readonly until: number
  readonly over: Latch.Latch
}

const make = TestClock.testClockWith((test) =>
  Effect.sync(() => {
    const sleepers = new Set<Sleeper>()
    let stood = 0
    let shifted = 0
    const timeOfDay = () => test.currentTimeMillisUnsafe() + stood + shifted
    const passed = () => Number(test.monotonicTimeNanosUnsafe()) / 1e6 + stood
    const nanos = (millis: number) => BigInt(Math.round(millis * 1e6))

    const clock = {
      ...test,
      currentTimeMillisUnsafe: timeOfDay,
      currentTimeMillis: Effect.sync(timeOfDay),
      currentTimeNanosUnsafe: () => nanos(timeOfDay()),
      currentTimeNanos: Effect.sync(() => nanos(timeOfDay())),
      monotonicTimeNanosUnsafe: () => nanos(passed()),
      monotonicTimeNanos: Effect.sync(() => nanos(passed())),
      sleep: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const sleeper = { until: passed() + Duration.toMillis(duration), over: Latch.makeUnsafe() }
            sleepers.add(sleeper)
            return sleeper
          }),
          (sleeper) => Effect.raceFirst(test.sleep(duration), sleeper.over.await),
          (sleeper) => Effect.sync(() => sleepers.delete(sleeper))
        )
    }

    const standStill = (duration: Duration.Input) =>
      Effect.suspend(() => {
        stood += Duration.toMillis(Duration.fromInputUnsafe(duration))
        const due = [...sleepers].filter(({ until }) => until <= passed())
        for (const { over } of due.toSorted((a, b) => a.until - b.until)) over.openUnsafe()
        // What was due runs before the test goes on.
        return test.adjust(0)
      })
    const shiftTimeOfDay = (duration: Duration.Input) =>
      Effect.sync(() => {
        shifted += Duration.toMillis(Duration.fromInputUnsafe(duration))
      })
    return Context.make(Clock.Clock, clock).pipe(Context.add(ClockRig, { standStill, shiftTimeOfDay }))
  })
)

/** Everything that is built on it keeps its time. To be used under `it.effect`. */
export const layer: Layer.Layer<ClockRig> = Layer.effectContext(make)
