/** Waiting for a store that cannot be written now. */
import * as Effect from "effect/Effect"
import { isStorageUnavailable } from "../../src/storage/StorageError.ts"

/** Doubled from the first to the last; after that many tries the defect is let through. Half a minute in all. */
const firstMillis = 100
const longestMillis = 5_000
const tries = 10

/**
 * Tries an operation again while the store is unavailable, for about half a minute: what a turn has done must not be lost
 * because a disk was full for a moment. It may be called where interruption is held off; an interruption ends the waiting, with
 * the defect, so that nobody takes what was not written for something that was interrupted before it began.
 */
export const whileUnavailable = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const attempt = (nth: number): Effect.Effect<A, E, R> =>
    Effect.catchDefect(operation, (defect) => {
      const failure = Effect.die(defect)
      if (!isStorageUnavailable(defect) || nth >= tries) return failure
      const pause = Math.min(longestMillis, firstMillis * 2 ** nth)
      return Effect.matchCauseEffect(Effect.interruptible(Effect.sleep(pause)), {
        onFailure: () => failure,
        onSuccess: () => attempt(nth + 1)
      })
    })
  return attempt(0)
}
