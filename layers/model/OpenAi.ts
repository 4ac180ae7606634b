/**
 * Language models behind the protocols of OpenAI, over the `openai` SDK: what they have in common.
 *
 * The SDK writes the request, reads the event stream and names the errors. Retries, deadlines, cancellation and the
 * reading of events are here: see `Retry`, `Watch`, `OpenAiErrors` and `Transport`. What is said in a protocol's own words
 * is in `OpenAiChat` and `OpenAiResponses`.
 */
import type * as AiError from "effect/ai/AiError"
import { IdGenerator } from "effect/ai/IdGenerator"
import * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import OpenAI from "openai"
import type { Stream as SdkStream } from "openai/streaming"
import * as Monotonic from "../../src/Monotonic.ts"
import { encryptedReasoning, previousResponse, transportError } from "../../src/model/ModelError.ts"
import type { ModelInfo } from "../../src/model/ModelTable.ts"
import * as Parts from "../../src/model/Parts.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import * as Retry from "../../src/model/Retry.ts"
import * as OpenAiErrors from "./OpenAiErrors.ts"
import type { Transport } from "./Transport.ts"
import * as Watch from "./Watch.ts"

export interface Options {
  readonly provider: string
  readonly model: string
  /** What the model takes and can do. */
  readonly info: ModelInfo
  /** Up to and including `/v1`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted<string> | undefined
  readonly headers?: Readonly<Record<string, Redacted.Redacted<string>>> | undefined
  /** Other secrets that must not show in errors, should the provider repeat them. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted<string>> | undefined
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

export type Part = Response.StreamPartEncoded

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
  readonly collector: (ids: {
    /** Ids that must not be used again: those of the history. */
    readonly takenIds: Set<string>
    /** Start of the ids made for calls that come without a usable one. */
    readonly idBase: string
  }) => Collector
}

/** What an event was. */
export type Read =
  | { readonly _tag: "Parts"; readonly parts: Array<Part> }
  /** The provider reports this error. */
  | { readonly _tag: "Failed"; readonly error: unknown }
  /** It is none of the protocol. */
  | { readonly _tag: "Unreadable" }

/** Collects one answer. Not for sharing: it holds the state of one stream. */
export interface Collector {
  readonly push: (event: unknown) => Read
  /** `finished`: the server has said how the answer ended, and only details can follow; `complete`: nothing can. */
  readonly state: () => "open" | "finished" | "complete"
  /** Characters so far: text, reasoning and arguments, and a little for each call. */
  readonly size: () => number
  /** The closing parts, or none when the server never said how the answer ended. */
  readonly close: () => Option.Option<Array<Part>>
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
  transport: Transport
): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    codecTransformer: toCodecOpenAI,
    generateText: Effect.fnUntraced(function* (request) {
      const ask = { options, protocol, transport, request, streaming: false }
      const parts = yield* Stream.runCollect(attempt(ask, "kept")).pipe(Effect.retry(Retry.schedule(options.retry)))
      return Parts.join(parts)
    }),
    streamText: (request) =>
      Stream.suspend(() => {
        // What has been shown cannot be taken back, so only a request that has produced nothing is tried again.
        let shown = false
        return attempt({ options, protocol, transport, request, streaming: true }, "kept").pipe(
          Stream.tap(() => Effect.sync(() => void (shown = true))),
          Stream.retry(Retry.schedule({ ...options.retry, repeatable: () => !shown }))
        )
      })
  })

interface Ask {
  readonly options: Options
  readonly protocol: Protocol
  readonly transport: Transport
  readonly request: LanguageModel.ProviderOptions
  readonly streaming: boolean
}

/** One try. One that the provider refuses because of what it should have kept is made again without, at once. */
const attempt = (ask: Ask, reliance: Reliance): Stream.Stream<Part, AiError.AiError, IdGenerator> =>
  Stream.suspend(() => {
    let shown = false
    return exchange(ask, reliance).pipe(
      Stream.tap(() => Effect.sync(() => void (shown = true))),
      Stream.catch((error) => {
        const less = shown ? undefined : withLess(error, reliance)
        return less === undefined ? Stream.fail(error) : attempt(ask, less)
      })
    )
  })

const withLess = ({ reason }: AiError.AiError, reliance: Reliance): Reliance | undefined => {
  const constraint = reason._tag === "InvalidRequestError" ? reason.constraint : undefined
  if (constraint === previousResponse && reliance === "kept") return "encrypted"
  return constraint === encryptedReasoning && reliance !== "nothing" ? "nothing" : undefined
}

/** From the request to the closing parts. The request is aborted when the stream ends for any reason. */
const exchange = (ask: Ask, reliance: Reliance): Stream.Stream<Part, AiError.AiError, IdGenerator> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { options, protocol, request, streaming, transport } = ask
      const { body, collector } = yield* protocol.request(request, { streaming, reliance })
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const watch = yield* Watch.make(options, abort)
      const connection = yield* openConnection(options, transport, watch, abort.signal, protocol.path, body)
      const ids = {
        takenIds: Parts.callIds(request.prompt),
        idBase: `call_${(yield* (yield* IdGenerator).generateId()).replace(/[^A-Za-z0-9]/g, "").slice(-20)}`
      }
      return Stream.fromPull(Effect.succeed(pull(options, connection, collector(ids))))
    })
  )

// ---------------------------------------------------------------------------------------------------------------------
// Connection

interface Connection {
  /** The next event of the answer as it came, or none at the end. */
  readonly next: Effect.Effect<Option.Option<unknown>, AiError.AiError>
}

/** Sends the request and waits for the head of the answer. */
const openConnection = Effect.fnUntraced(function* (
  options: Options,
  transport: Transport,
  watch: Watch.Watch,
  signal: AbortSignal,
  path: string,
  body: Body
): Effect.fn.Return<Connection, AiError.AiError> {
  const client = makeClient(options, transport, watch)
  const clock = yield* Clock.Clock
  const promised = <A>(run: () => Promise<A>): Effect.Effect<A, AiError.AiError> =>
    Effect.tryPromise({
      try: run,
      catch: (thrown) => OpenAiErrors.fromThrown(thrown, options, clock.currentTimeMillisUnsafe())
    })

  const { response, streamed } = yield* watch.first(promised(() => send(client, path, body, signal)))
  const contentType = response.headers.get("content-type") ?? ""
  if (contentType.includes("json")) {
    // Not streaming, or a server that ignores `stream`: one event, the whole answer. Only the request's time bounds it.
    let read = false
    return {
      next: Effect.suspend(() => {
        if (read) return Effect.succeedNone
        read = true
        return watch.first(promised((): Promise<unknown> => response.json())).pipe(Effect.asSome)
      })
    }
  }
  if (!contentType.includes("event-stream")) return yield* OpenAiErrors.notTheProtocol(options)
  const events = streamed[Symbol.asyncIterator]()
  let started = false
  const nextEvent = promised(() => events.next())
  return {
    next: Effect.suspend(() => (started ? watch.next(nextEvent) : watch.first(nextEvent))).pipe(
      Effect.map((event) => {
        started = true
        return event.done ? Option.none() : Option.some(event.value)
      })
    )
  }
})

/** The key stays with the transport; the SDK insists on having one. */
const makeClient = (options: Options, transport: Transport, watch: Watch.Watch): OpenAI =>
  new OpenAI({
    apiKey: "kept-by-the-transport",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    maxRetries: 0,
    // A timer may not be longer than this; the deadlines are ours.
    timeout: 2_147_483_647,
    logLevel: "off",
    fetch: transport.fetch({
      apiKey: options.apiKey,
      headers: options.headers ?? {},
      onBytes: watch.onBytes,
      onTooLarge: () => watch.fail(tooLarge(options))
    })
  })

/**
 * The generic call of the SDK, since its typed one knows neither the fields of other servers nor their answers.
 * `stream: true` also when not streaming: it only keeps the SDK from reading the body, which is read here.
 */
const send = async (client: OpenAI, path: string, body: Body, signal: AbortSignal) => {
  const { data, response } = await client.post<SdkStream<unknown>>(path, { body, signal, stream: true }).withResponse()
  return { streamed: data, response }
}

// ---------------------------------------------------------------------------------------------------------------------
// Answer

/**
 * Longest answer, in characters of text, reasoning and arguments together: far more than any model writes, and little
 * enough to be kept in memory and in the database.
 */
const longestAnswer = 8_000_000

const tooLarge = (options: Options) =>
  transportError("response_too_large", `The answer of provider "${options.provider}" is larger than Troupe accepts`)

/** How long to wait, after the server has said how the answer finished, for token counts and the end mark. */
const patience = 2000

/** The parts of the next event that has any; at the end, the closing parts. */
const pull = (options: Options, connection: Connection, collector: Collector) => {
  let closed = false

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
    const event = yield* Effect.timeoutOption(connection.next, left)
    left = Math.max(0, left - ((yield* Monotonic.millis) - start))
    return Option.flatten(event)
  }).pipe(Effect.catch(() => Effect.succeedNone))

  const read = Effect.suspend(() => {
    switch (collector.state()) {
      case "open":
        return connection.next
      case "finished":
        return left > 0 ? readRest : Effect.succeedNone
      case "complete":
        return Effect.succeedNone
    }
  })

  const chunk: Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, AiError.AiError> = Effect.gen(function* () {
    if (closed) return yield* Cause.done()
    const event = yield* read
    const parts = Option.isNone(event) ? yield* close : yield* accept(options, collector, event.value)
    return Arr.isReadonlyArrayNonEmpty(parts) ? parts : yield* chunk
  })
  return chunk
}

const accept = (options: Options, collector: Collector, event: unknown) => {
  const read = collector.push(event)
  switch (read._tag) {
    case "Unreadable":
      return Effect.fail(OpenAiErrors.notTheProtocol(options))
    case "Failed":
      return Effect.fail(OpenAiErrors.fromErrorValue(read.error, options))
    case "Parts":
      return collector.size() > longestAnswer ? Effect.fail(tooLarge(options)) : Effect.succeed(read.parts)
  }
}
