/**
 * The time that the recordings of a turn have together. It is shared: what one leaves over is there for those after it, and none takes
 * what the others need.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Monotonic from "../../src/Monotonic.ts"

export interface Options {
  /** For all recordings of a turn. */
  readonly whole: Duration.Duration
  /** At most, for one of them. */
  readonly each: Duration.Duration
  /** So many are heard at the same time. */
  readonly concurrency: number
}

/** For one turn after the other, by whatever stands for a turn. */
export const make = ({ concurrency, each, whole }: Options) => {
  const spent = new WeakMap<object, number>()

  /**
   * Runs with what says how long the next one of `count` recordings may take: nothing where no time is left. What it takes altogether
   * is counted to the turn.
   */
  const share = <A, E, R>(
    turn: object,
    count: number,
    hear: (next: Effect.Effect<Duration.Duration>) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.suspend(() =>
      Effect.flatMap(Monotonic.millis, (began) => {
        const before = spent.get(turn) ?? 0
        const used = Effect.map(Monotonic.millis, (now) => before + now - began)
        let waiting = count
        const next = Effect.map(used, (millis) => {
          const rounds = Math.max(1, Math.ceil(waiting-- / concurrency))
          const left = Math.max(0, Duration.toMillis(whole) - millis)
          return Duration.min(each, Duration.millis(left / rounds))
        })
        return Effect.ensuring(
          hear(next),
          Effect.map(used, (millis) => void spent.set(turn, millis))
        )
      })
    )

  return { share }
}
