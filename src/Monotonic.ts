/**
 * Time for measuring how long something takes. The time of day may be set forward or back while a program runs, and a limit that
 * is held against it would then end at once what has just begun, or nothing for hours.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Milliseconds since some moment of this process; only differences mean something. Never less than before. */
export const millis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos / 1000n) / 1000
)

/**
 * How far the time of day is ahead of the time that passed, in milliseconds. It changes when the time of day is set, or when
 * the machine sleeps; only differences mean something.
 */
export const lead: Effect.Effect<number> = Effect.zipWith(
  Clock.currentTimeMillis,
  millis,
  (now, passed) => now - passed
)
