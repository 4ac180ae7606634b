/**
 * The border between the effects of the promise client and the promises of its callers: the one place that runs them.
 *
 * Everything ends when the client is closed, and what a caller's signal belongs to also when that is aborted.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as PlainError from "./PlainError.ts"
import * as PlainInput from "./PlainInput.ts"
import type { Abortable } from "./PlainTypes.ts"
import * as Unreachable from "./Unreachable.ts"

export interface Edge<R> {
  readonly run: <A>(effect: Effect.Effect<A, PlainError.Failed, R>, options: Abortable | undefined) => Promise<A>
  readonly iterate: <A>(
    stream: Stream.Stream<A, PlainError.Failed, R>,
    options: Abortable | undefined
  ) => AsyncIterable<A>
  readonly close: () => Promise<void>
}

export const make = <R>(layer: Layer.Layer<R>): Edge<R> => {
  const runtime = ManagedRuntime.make(layer)
  const closing = new AbortController()

  const ended = (signal: AbortSignal | undefined) =>
    Effect.raceFirst(
      when(closing.signal, PlainError.closed),
      signal === undefined ? Effect.never : when(signal, PlainError.aborted)
    )

  return {
    run: async (effect, options) => {
      if (closing.signal.aborted) throw PlainError.closed
      const exit = await runtime.runPromiseExit(Effect.raceFirst(ended(signalOf(options)), effect))
      if (Exit.isSuccess(exit)) return exit.value
      throw errorOf(exit.cause)
    },
    iterate: (stream, options) => ({
      [Symbol.asyncIterator]: () => {
        const guarded = Stream.interruptWhen(stream, ended(signalOf(options))).pipe(
          Stream.catchCause((cause) => Stream.fail(errorOf(cause)))
        )
        return iteration(guarded, () =>
          closing.signal.aborted ? Promise.reject(PlainError.closed) : runtime.context()
        )
      }
    }),
    close: async () => {
      closing.abort()
      await runtime.dispose()
    }
  }
}

/** What needs no waiting, or its failure, thrown. */
export const now = <A>(effect: Effect.Effect<A, PlainError.Failed>): A => {
  const exit = Effect.runSyncExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw errorOf(exit.cause)
}

async function* iteration<A, R>(
  stream: Stream.Stream<A, PlainError.Failed, R>,
  context: () => Promise<Context.Context<R>>
): AsyncGenerator<A> {
  yield* Stream.toAsyncIterableWith(stream, await context())
}

/** A signal that is none is refused where the options are read. */
const signalOf = (options: Abortable | undefined): AbortSignal | undefined =>
  PlainInput.isAbortSignal(options?.signal) ? options.signal : undefined

const when = (signal: AbortSignal, error: PlainError.Failed): Effect.Effect<never, PlainError.Failed> =>
  Effect.callback((resume) => {
    const abort = () => resume(Effect.fail(error))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })

/** What is no error of ours is a bug, or the client closing under a call. */
const errorOf = (cause: Cause.Cause<PlainError.Failed>): PlainError.Failed => {
  const failure = Cause.findErrorOption(cause)
  if (failure._tag === "Some") return failure.value
  if (Schema.isSchemaError(Cause.squash(cause))) {
    return new PlainError.Failed({ code: "unreachable", message: Unreachable.notUnderstood })
  }
  return Cause.hasInterrupts(cause) || !Cause.hasDies(cause)
    ? PlainError.closed
    : new PlainError.Failed({ code: "internal_error", message: String(Cause.squash(cause)) })
}
