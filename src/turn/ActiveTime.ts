/** The time a turn has worked: the time that passed, less the time it waited for a person or the process stood still. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as Monotonic from "../Monotonic.ts"
import { PersonWait } from "../approval/PersonWait.ts"

export class TurnTimedOut extends Schema.TaggedError<TurnTimedOut>()("TurnTimedOut", { limitMillis: Schema.Int }) {
  readonly code = "turn:timeout"
  override get message() {
    return `The turn used up its ${Math.round(this.limitMillis / 1000)} seconds ([runtime].agent_timeout_seconds).`
  }
}

/** The working time of one turn, over all lives of the process that worked on it. */
export interface ActiveTime {
  /** Milliseconds so far. */
  readonly spent: Effect.Effect<number>
  /**
   * Runs an effect that fails when the turn has worked for longer than the limit. Inside it, `PersonWait` stops the clock,
   * which runs from the beginning of the effect to its end. For one effect.
   */
  readonly limit: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | TurnTimedOut, R>
}

/** How often the clock is looked at. When the process stood still between two looks, it has worked for no longer than this. */
const lookMillis = 1000

/** `before`: milliseconds that earlier lives of the process have spent. */
export const make = (limit: Duration.Duration, before: number): ActiveTime => {
  const limitMillis = Math.round(Duration.toMillis(limit))
  // Several waits may overlap; the clock stands still while there is one.
  const working = Latch.makeUnsafe(true)
  let waits = 0
  let spent = before
  /** When the clock was looked at last; undefined while it stands still. */
  let since: number | undefined

  const look = (now: number) => {
    if (since === undefined) return
    spent += Math.min(now - since, lookMillis)
    since = now
  }
  const stand = (now: number) => {
    look(now)
    since = undefined
  }
  const begin = Effect.map(Monotonic.millis, (now) => {
    if (waits++ > 0) return
    stand(now)
    working.closeUnsafe()
  })
  const end = Effect.map(Monotonic.millis, (now) => {
    if (--waits > 0) return
    since = now
    working.openUnsafe()
  })
  const soFar = Effect.map(Monotonic.millis, (now) => {
    look(now)
    return spent
  })
  const watch: Effect.Effect<never, TurnTimedOut> = Effect.flatMap(Effect.andThen(working.await, soFar), (millis) =>
    millis >= limitMillis
      ? Effect.fail(new TurnTimedOut({ limitMillis }))
      : Effect.andThen(Effect.sleep(Math.min(lookMillis, limitMillis - millis)), watch)
  )
  return {
    spent: soFar,
    limit: (work) =>
      Effect.acquireUseRelease(
        Effect.map(Monotonic.millis, (now) => {
          since = now
        }),
        () =>
          Effect.raceFirst(
            Effect.flatMap(PersonWait, (around) =>
              Effect.provideService(work, PersonWait, {
                during: (wait) =>
                  Effect.acquireUseRelease(
                    begin,
                    () => around.during(wait),
                    () => end
                  )
              })
            ),
            watch
          ),
        () => Effect.map(Monotonic.millis, stand)
      )
  }
}
