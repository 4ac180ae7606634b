/**
 * Language models behind the protocols of OpenAI, over the `openai` SDK: what they have in common.
 *
 * The SDK writes the request, reads the event stream and names the errors; it stands behind `Client`. Retries and the way
 * through an answer are here, what answers have in common in `Answers`, and what is said in a protocol's own words in
 * `OpenAiChat` and `OpenAiResponses`.
 */
import type * as AiError from "effect/ai/AiError"
import { IdGenerator } from "effect/ai/IdGenerator"
import * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Monotonic from "../../src/Monotonic.ts"
import { encryptedReasoning, previousResponse, transportError } from "../../src/model/ModelError.ts"
import type { ModelInfo } from "../../src/model/ModelTable.ts"
import * as Parts from "../../src/model/Parts.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import * as Retry from "../../src/model/Retry.ts"
import type * as Answers from "./Answers.ts"
import type { Part } from "./Answers.ts"
import type * as Client from "./Client.ts"
import * as OpenAiErrors from "./OpenAiErrors.ts"

export interface Options extends OpenAiErrors.Target {
  /** What the model takes and can do. */
  readonly info: ModelInfo
  readonly temperature?: number | undefined
  readonly maxNewTokens?: number | undefined
  readonly reasoningEffort?: string | undefined
  /** Default `true`, which is also the protocol's default and then not sent. */
  readonly parallelToolCalls?: boolean | undefined
  /** How the provider is helped to find again what it has read; not at all when left out. */
  readonly promptCache?: { readonly retention?: string | undefined } | undefined
  /** Longest time for one whole answer, per try. */
  readonly requestTimeout: Duration.Duration
  /** Longest silence after the first part; every byte received counts as life. */
  readonly idleTimeout: Duration.Duration
  readonly retry: Retry.RetryOptions
}

export type Body = Record<string, unknown>

/**
 * How much of what the provider wrote itself a request builds on: the last response as the provider keeps it; encrypted
 * reasoning; nothing. A provider that has forgotten the one, or cannot read the other, is asked again with less.
 */
export type Reliance = "kept" | "encrypted" | "nothing"

/** What a protocol says in its own words. */
export interface Protocol {
  /** Below the base address. */
  readonly path: string
  readonly request: (
    request: LanguageModel.ProviderOptions,
    options: { readonly streaming: boolean; readonly reliance: Reliance }
  ) => Effect.Effect<Prepared, AiError.AiError>
}

/** A request, and who reads the answer to it. */
export interface Prepared {
  readonly body: Body
  readonly collector: (ids: Answers.Ids) => Answers.Collector
}

/** The fields that name the conversation to the provider's cache. */
export const promptCache = ({ promptCache: cache }: Options): Effect.Effect<Body> =>
  Effect.map(PromptCache.Key, (key) =>
    cache === undefined || key === undefined
      ? {}
      : {
          prompt_cache_key: key,
          ...(cache.retention === undefined ? {} : { prompt_cache_retention: cache.retention })
        }
  )

/** Makes the language model of one provider and model. */
export const make = (
  options: Options,
  protocol: Protocol,
  client: Client.Client
): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    codecTransformer: toCodecOpenAI,
    generateText: (request) => {
      const ask = { options, protocol, client, request, streaming: false }
      return Stream.runCollect(streamed(attempt(ask, "kept"))).pipe(
        Effect.retry(Retry.schedule(options.retry)),
        Effect.map(Parts.join)
      )
    },
    // What has been shown cannot be taken back, so only a request that has produced nothing is tried again.
    streamText: (request) =>
      streamed(
        Effect.retry(
          attempt({ options, protocol, client, request, streaming: true }, "kept"),
          Retry.schedule(options.retry)
        )
      )
  })

interface Ask {
  readonly options: Options
  readonly protocol: Protocol
  readonly client: Client.Client
  readonly request: LanguageModel.ProviderOptions
  readonly streaming: boolean
}

type Chunk = Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, AiError.AiError>

/** An answer that has begun. */
interface Begun {
  /** Its first parts; none when it has no parts at all. */
  readonly first: Option.Option<Arr.NonEmptyReadonlyArray<Part>>
  readonly rest: Chunk
}

const streamed = <R>(begun: Effect.Effect<Begun, AiError.AiError, R>) =>
  Stream.scoped(
    Stream.fromPull(
      Effect.map(begun, ({ first, rest }): Chunk => {
        let next = Option.getOrUndefined(first)
        return Effect.suspend(() => {
          const parts = next
          next = undefined
          return parts === undefined ? rest : Effect.succeed(parts)
        })
      })
    )
  )

/** One try. One that the provider refuses because of what it should have kept is made again without, at once. */
const attempt = (ask: Ask, reliance: Reliance): Effect.Effect<Begun, AiError.AiError, IdGenerator | Scope.Scope> =>
  Effect.catch(begin(ask, reliance), (error) => {
    const less = withLess(error, reliance)
    return less === undefined ? Effect.fail(error) : attempt(ask, less)
  })

/** What a request may still build on that was refused for what it built on; undefined when it was not, or nothing is left. */
export const withLess = ({ reason }: AiError.AiError, reliance: Reliance): Reliance | undefined => {
  const constraint = reason._tag === "InvalidRequestError" ? reason.constraint : undefined
  if (constraint === previousResponse && reliance === "kept") return "encrypted"
  return constraint === encryptedReasoning && reliance !== "nothing" ? "nothing" : undefined
}

/** From the request to the first parts. It is aborted when that fails, and when the stream ends for any reason. */
const begin = Effect.fnUntraced(function* (ask: Ask, reliance: Reliance) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const opening = Effect.gen(function* () {
    const rest = yield* exchange(ask, reliance)
    const first = yield* Pull.catchDone(Effect.asSome(rest), () => Effect.succeedNone)
    return { first, rest }
  })
  return yield* opening.pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})

const exchange = Effect.fnUntraced(function* (ask: Ask, reliance: Reliance) {
  const { client, options, protocol, request, streaming } = ask
  const { body, collector } = yield* protocol.request(request, { streaming, reliance })
  const events = yield* client.open(options, protocol.path, body)
  const ids = {
    takenIds: Parts.callIds(request.prompt),
    idBase: `call_${(yield* (yield* IdGenerator).generateId()).replace(/[^A-Za-z0-9]/g, "").slice(-20)}`
  }
  return pull(options, events, collector(ids))
})

// ---------------------------------------------------------------------------------------------------------------------
// Answer

/**
 * Longest answer, in characters of text, reasoning and arguments together: far more than any model writes, and little
 * enough to be kept in memory and in the database.
 */
const longestAnswer = 8_000_000

/** How long to wait, after the server has said how the answer finished, for token counts and the end mark. */
const patience = 2000

/** The parts of the next events that have any; at the end, the closing parts. */
const pull = (options: Options, events: Client.Events, collector: Answers.Collector): Chunk => {
  let closed = false
  let failure: AiError.AiError | undefined

  const close = Effect.suspend(() => {
    closed = true
    return Option.match(collector.close(), {
      onNone: () =>
        Effect.fail(
          transportError(
            "stream-cut",
            `Provider "${options.provider}" ended the answer without saying that it was complete`
          )
        ),
      onSome: Effect.succeed
    })
  })

  // After the finish reason only token counts can be missing. Some servers then keep the connection open for ever.
  // Only time spent waiting counts: the reader may rest as long as it likes.
  let left = patience
  const readRest = Effect.gen(function* () {
    const start = yield* Monotonic.millis
    const next = yield* Effect.timeoutOption(events.next, left)
    left = Math.max(0, left - ((yield* Monotonic.millis) - start))
    return Option.flatten(next)
  }).pipe(Effect.catch(() => Effect.succeedNone))

  const read = Effect.suspend(() => {
    switch (collector.state()) {
      case "open":
        return events.next
      case "finished":
        return left > 0 ? readRest : Effect.succeedNone
      case "complete":
        return Effect.succeedNone
    }
  })

  /** Reads events. What came before a failure is handed on first. */
  const take = (events: ReadonlyArray<unknown>): ReadonlyArray<Part> => {
    const parts: Array<Part> = []
    for (const event of events) {
      if (collector.state() === "complete" || failure !== undefined) break
      Result.match(accept(options, collector, event), {
        onFailure: (error) => void (failure = error),
        onSuccess: (some) => void parts.push(...some)
      })
    }
    return parts
  }

  const chunk: Chunk = Effect.gen(function* () {
    if (failure !== undefined) return yield* failure
    if (closed) return yield* Cause.done()
    const next = yield* read
    const parts = Option.isNone(next) ? yield* close : take(next.value)
    return Arr.isReadonlyArrayNonEmpty(parts) ? parts : yield* chunk
  })
  return chunk
}

const accept = (
  options: Options,
  collector: Answers.Collector,
  event: unknown
): Result.Result<ReadonlyArray<Part>, AiError.AiError> => {
  const read = collector.push(event)
  switch (read._tag) {
    case "Unreadable":
      return Result.fail(OpenAiErrors.notTheProtocol(options))
    case "Failed":
      return Result.fail(OpenAiErrors.fromErrorValue(read.error, options))
    case "Parts":
      return collector.size() > longestAnswer ? Result.fail(OpenAiErrors.tooLarge(options)) : Result.succeed(read.parts)
  }
}
