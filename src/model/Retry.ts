/**
 * When a failed request to a model is tried again. Retries have this one owner: SDKs are told not to.
 */
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

export interface RetryOptions {
  /** Tries after the first one. */
  readonly attempts: number
  /** Pause before the first of them; doubles each time. */
  readonly delay: Duration.Duration
}

/**
 * The longest pause inside a request. A provider that asks for more gets no retry here: the error, which carries the
 * time, goes to the caller, who can say so and let go of what it holds.
 */
const longestPause = Duration.minutes(1)

/** Retries retryable errors; what the provider asks for in `retryAfter` is the least that is waited. */
export const schedule = (options: RetryOptions): Schedule.Schedule<Duration.Duration, AiError.AiError> =>
  Schedule.exponential(options.delay).pipe(
    Schedule.setInputType<AiError.AiError>(),
    Schedule.while(({ attempt, input }) => Effect.succeed(attempt <= options.attempts && isWorthRetrying(input))),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.succeed(Duration.max(Duration.min(duration, longestPause), input.retryAfter ?? Duration.zero))
    )
  )

const isWorthRetrying = (error: AiError.AiError) =>
  error.isRetryable && (error.retryAfter === undefined || Duration.isLessThanOrEqualTo(error.retryAfter, longestPause))
