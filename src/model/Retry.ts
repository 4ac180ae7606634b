/**
 * When a failed request to a model is tried again. Retries have this one owner: SDKs are told not to.
 */
import type * as AiError from "effect/ai/AiError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as ModelError from "./ModelError.ts"

export interface RetryOptions {
  /** Tries after the first one. */
  readonly attempts: number
  /** Least pause before the first of them; doubles each time. */
  readonly delay: Duration.Duration
}

/** A retry that is about to come. */
export interface Retrying {
  /** Counts from 1. */
  readonly retry: number
  /** The most there will be. */
  readonly retries: number
  readonly wait: Duration.Duration
  /** One line for a person. */
  readonly reason: string
}

/** Is told of every retry before its pause. Who asks a model provides it; by default nobody is told. */
export const OnRetry = Context.Reference<(retrying: Retrying) => Effect.Effect<void>>("troupe/model/OnRetry", {
  defaultValue: () => () => Effect.void
})

/**
 * The longest pause inside a request. A provider that asks for more gets no retry here: the error, which carries the
 * time, goes to the caller, who can say so and let go of what it holds.
 */
const longestPause = Duration.minutes(1)

/** Pauses are longer by up to this part of them, so that those who failed together do not come back together. */
const spread = 0.25

/**
 * How long a server on this machine that nobody has started is waited for, and how long at most between two looks. One that
 * is being restarted comes back within that; one that was never started is worth telling at once.
 */
const patienceForLocalServer = Duration.seconds(2)
const longestLocalPause = Duration.seconds(1)

/** Retries retryable errors; what the provider asks for in `retryAfter` is the least that is waited. */
export const schedule = (options: RetryOptions): Schedule.Schedule<Duration.Duration, AiError.AiError> =>
  Schedule.exponential(options.delay).pipe(
    Schedule.setInputType<AiError.AiError>(),
    Schedule.while(({ attempt, elapsed, input }) =>
      Effect.succeed(attempt <= options.attempts && isWorthRetrying(input, elapsed))
    ),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.map(Random.next, (chance) => pause(Duration.times(duration, 1 + spread * chance), input))
    ),
    Schedule.tap(({ attempt, duration, input }) =>
      Effect.flatMap(OnRetry, (onRetry) =>
        onRetry({
          retry: attempt,
          retries: options.attempts,
          wait: duration,
          reason: ModelError.causeOf(input)
        })
      )
    )
  )

const isWorthRetrying = (error: AiError.AiError, elapsedMillis: number) => {
  if (!error.isRetryable) return false
  if (ModelError.nothingListens(error)) return elapsedMillis < Duration.toMillis(patienceForLocalServer)
  return error.retryAfter === undefined || Duration.isLessThanOrEqualTo(error.retryAfter, longestPause)
}

const pause = (planned: Duration.Duration, error: AiError.AiError) =>
  ModelError.nothingListens(error)
    ? Duration.min(planned, longestLocalPause)
    : Duration.max(Duration.min(planned, longestPause), error.retryAfter ?? Duration.zero)
