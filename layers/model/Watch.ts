/** The deadlines of one request to a provider: its whole time, and the longest silence. */
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { transportError } from "../../src/model/ModelError.ts"

/** What is watched, and for how long. */
export interface Options {
  readonly provider: string
  readonly model: string
  readonly requestTimeout: Duration.Duration
  readonly idleTimeout: Duration.Duration
}

export interface Watch {
  readonly onBytes: () => void
  /** Waits for the first thing to come: bounded by the whole request's time. */
  readonly first: <A>(wait: Effect.Effect<A, AiError.AiError>) => Effect.Effect<A, AiError.AiError>
  /** Waits for the next thing to come: bounded by silence, too. Time between waits, when the reader rests, is free. */
  readonly next: <A>(wait: Effect.Effect<A, AiError.AiError>) => Effect.Effect<A, AiError.AiError>
}

/** The allowed silence is looked at in this many slices, so a deadline is late by at most one of them. */
const slices = 4

/**
 * One fiber watches the whole request and aborts it when a deadline passes, which ends whatever wait is running. A
 * timer for each wait would cost more than reading the chunk it waits for.
 */
export const make = Effect.fnUntraced(function* (options: Options, abort: AbortController) {
  const slice = Duration.toMillis(options.idleTimeout) / slices
  let signs = 0
  let silenceCounts = false
  let expired: AiError.AiError | undefined

  const expire = (error: AiError.AiError) =>
    Effect.sync(() => {
      expired = error
      abort.abort()
    })

  const guard = Effect.gen(function* () {
    let quiet = 0
    // What was slept is what counts: a clock that was set, or a process that stood still for a while, ends nothing.
    let left = Duration.toMillis(options.requestTimeout)
    while (quiet < slices) {
      if (left <= 0) return yield* expire(requestTimeout(options))
      const before = signs
      const pause = Math.min(slice, left)
      yield* Effect.sleep(pause)
      left -= pause
      quiet = silenceCounts && signs === before ? quiet + 1 : 0
    }
    return yield* expire(idleTimeout(options))
  })
  yield* Effect.forkScoped(guard)

  const during =
    (counts: boolean) =>
    <A>(wait: Effect.Effect<A, AiError.AiError>) =>
      Effect.suspend(() => {
        signs++
        silenceCounts = counts
        // An aborted stream may just end; the deadline is what happened.
        return wait.pipe(
          Effect.mapError((error) => expired ?? error),
          Effect.flatMap((value) => {
            silenceCounts = false
            return expired === undefined ? Effect.succeed(value) : Effect.fail(expired)
          })
        )
      })

  const watch: Watch = { onBytes: () => void signs++, first: during(false), next: during(true) }
  return watch
})

const requestTimeout = (options: Options) =>
  transportError(
    "request-timeout",
    `Provider "${options.provider}" did not finish within request_timeout_seconds ` +
      `(${Duration.format(options.requestTimeout)}), set in ${sectionsOf(options)}`
  )

const idleTimeout = (options: Options) =>
  transportError(
    "idle-timeout",
    `Provider "${options.provider}" fell silent for idle_timeout_seconds ` +
      `(${Duration.format(options.idleTimeout)}), set in ${sectionsOf(options)}`
  )

const sectionsOf = ({ model, provider }: Options): string => `[llm] or [providers.${provider}.model_info."${model}"]`
