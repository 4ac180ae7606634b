/** The time a turn has worked: wall-clock time less the time it waited for a person. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import { PersonWait } from "../approval/PersonWait.ts"

export class TurnTimedOut extends Schema.TaggedError<TurnTimedOut>()("TurnTimedOut", { limitMillis: Schema.Int }) {
  readonly code = "turn:timeout"
  override get message() {
    return `The turn used up its ${Math.round(this.limitMillis / 1000)} seconds ([runtime].agent_timeout_seconds).`
  }
}

/** Runs an effect that fails when it has worked for longer than the limit. Inside it, `PersonWait` stops the clock. */
export const limit = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  limit: Duration.Duration
): Effect.Effect<A, E | TurnTimedOut, R> =>
  Effect.gen(function* () {
    const limitMillis = Math.round(Duration.toMillis(limit))
    const startedAt = yield* Clock.currentTimeMillis
    // Several waits may overlap; the clock stands still while there is one.
    const working = Latch.makeUnsafe(true)
    let waits = 0
    let waitingSince = 0
    let waited = 0

    const begin = Effect.map(Clock.currentTimeMillis, (now) => {
      if (waits++ > 0) return
      waitingSince = now
      working.closeUnsafe()
    })
    const end = Effect.map(Clock.currentTimeMillis, (now) => {
      if (--waits > 0) return
      waited += now - waitingSince
      working.openUnsafe()
    })
    const left = Effect.map(Clock.currentTimeMillis, (now) => limitMillis - (now - startedAt - waited))
    const watch: Effect.Effect<never, TurnTimedOut> = Effect.flatMap(Effect.andThen(working.await, left), (millis) =>
      millis <= 0 ? Effect.fail(new TurnTimedOut({ limitMillis })) : Effect.andThen(Effect.sleep(millis), watch)
    )
    const timed = Effect.provideService(work, PersonWait, {
      during: (wait) =>
        Effect.acquireUseRelease(
          begin,
          () => wait,
          () => end
        )
    })
    return yield* Effect.raceFirst(timed, watch)
  })
