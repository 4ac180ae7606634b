/**
 * Time in which this process ran. A process that was stopped, or whose machine was too busy to run it, finds every timer due at
 * once when it goes on; a limit held against the time that passed would end all work that is under way, though none of it had
 * a chance to be done. What counts here is what was slept, in slices: a slice that took an hour counts as a slice.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/** A limit that is reached while the process stands still is late by what is left, and early by at most one of these parts. */
const slices = 8

/** Sleeps until the process has run for so long. */
export const sleep = (duration: Duration.Input): Effect.Effect<void> => {
  const total = Duration.toMillis(Duration.fromInputUnsafe(duration))
  // Whole milliseconds, since timers round down.
  const slice = Math.ceil(total / slices)
  const rest = (left: number): Effect.Effect<void> =>
    left <= slice ? Effect.sleep(left) : Effect.andThen(Effect.sleep(slice), rest(left - slice))
  return Effect.suspend(() => rest(total))
}

/** Like `Effect.timeoutOrElse`, but for time in which the process ran. */
export const timeoutOrElse =
  <A2, E2, R2>(options: { readonly duration: Duration.Input; readonly orElse: () => Effect.Effect<A2, E2, R2> }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | A2, E | E2, R | R2> =>
    Effect.raceFirst(effect, Effect.andThen(sleep(options.duration), Effect.suspend(options.orElse)))

/** Like `Effect.timeoutOption`, but for time in which the process ran. */
export const timeoutOption =
  (duration: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    timeoutOrElse({ duration, orElse: () => Effect.succeedNone })(Effect.asSome(effect))
