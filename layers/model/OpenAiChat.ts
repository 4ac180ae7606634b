/**
 * Language models behind a chat completions API (OpenAI, OpenRouter, Ollama, vLLM, LM Studio and the like), over the
 * `openai` SDK.
 *
 * The SDK writes the request, reads the event stream and names the errors. Retries, deadlines, cancellation and the
 * reading of chunks are here: see `Retry`, `Watch`, `ChatMessages`, `ChatParts`, `ChatErrors` and `Transport`.
 */
import * as AiError from "effect/ai/AiError"
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
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import OpenAI from "openai"
import type { Stream as SdkStream } from "openai/streaming"
import { transportError } from "../../src/model/ModelError.ts"
import * as Parts from "../../src/model/Parts.ts"
import * as Retry from "../../src/model/Retry.ts"
import * as ChatErrors from "./ChatErrors.ts"
import * as ChatMessages from "./ChatMessages.ts"
import * as ChatParts from "./ChatParts.ts"
import type { Transport } from "./Transport.ts"
import * as Watch from "./Watch.ts"

export interface Options {
  readonly provider: string
  readonly model: string
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
  /** Longest time for one whole answer, per try. */
  readonly requestTimeout: Duration.Duration
  /** Longest silence after the first part; every byte received counts as life. */
  readonly idleTimeout: Duration.Duration
  readonly retry: Retry.RetryOptions
}

/** Makes the language model of one provider and model. */
export const make = (options: Options, transport: Transport): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    codecTransformer: toCodecOpenAI,
    generateText: Effect.fnUntraced(function* (request) {
      const parts = yield* Stream.runCollect(attempt(options, transport, request, false)).pipe(
        Effect.retry(Retry.schedule(options.retry))
      )
      return Parts.join(parts)
    }),
    streamText: (request) =>
      Stream.suspend(() => {
        // What has been shown cannot be taken back, so only a request that has produced nothing is tried again.
        let shown = false
        return attempt(options, transport, request, true).pipe(
          Stream.tap(() => Effect.sync(() => void (shown = true))),
          Stream.retry(Retry.schedule({ ...options.retry, repeatable: () => !shown }))
        )
      })
  })

type Part = Response.StreamPartEncoded

/** One try: from the request to the closing parts. The request is aborted when the stream ends for any reason. */
const attempt = (
  options: Options,
  transport: Transport,
  request: LanguageModel.ProviderOptions,
  streaming: boolean
): Stream.Stream<Part, AiError.AiError, IdGenerator> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const body = yield* requestBody(options, request, streaming)
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const watch = yield* Watch.make(options, abort)
      const connection = yield* openConnection(options, transport, watch, abort.signal, body)
      const collector = ChatParts.makeCollector({
        origin: options,
        takenIds: Parts.callIds(request.prompt),
        idBase: `call_${(yield* (yield* IdGenerator).generateId()).replace(/[^A-Za-z0-9]/g, "").slice(-20)}`
      })
      return Stream.fromPull(Effect.succeed(pull(options, connection, collector)))
    })
  )

// ---------------------------------------------------------------------------------------------------------------------
// Request

const requestBody = Effect.fnUntraced(function* (
  options: Options,
  request: LanguageModel.ProviderOptions,
  streaming: boolean
) {
  const tools = ChatMessages.fromTools(request)
  return {
    model: options.model,
    messages: ChatMessages.fromPrompt(request.prompt, options),
    ...tools,
    ...("tools" in tools && options.parallelToolCalls === false ? { parallel_tool_calls: false } : {}),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...outputLimit(options),
    ...reasoningEffort(options),
    ...(yield* responseFormat(request)),
    ...(streaming ? { stream: true, stream_options: { include_usage: true } } : {})
  }
})

/** OpenAI renamed the field and refuses the old one for newer models; everybody else knows only the old one. */
const outputLimit = (options: Options): Record<string, unknown> => {
  if (options.maxNewTokens === undefined) return {}
  const openai = ChatErrors.hostOf(options.baseUrl) === "api.openai.com"
  return openai ? { max_completion_tokens: options.maxNewTokens } : { max_tokens: options.maxNewTokens }
}

const reasoningEffort = (options: Options): Record<string, unknown> => {
  if (options.reasoningEffort === undefined) return {}
  return ChatErrors.hostOf(options.baseUrl) === "openrouter.ai"
    ? { reasoning: { effort: options.reasoningEffort } }
    : { reasoning_effort: options.reasoningEffort }
}

const responseFormat = Effect.fnUntraced(function* ({ responseFormat: format }: LanguageModel.ProviderOptions) {
  if (format.type === "text") return {}
  const { jsonSchema } = yield* Effect.try({
    try: () => toCodecOpenAI(format.schema),
    catch: () =>
      AiError.make({
        module: "OpenAiChat",
        method: "generateObject",
        reason: new AiError.UnsupportedSchemaError({ description: `${format.objectName} has no JSON Schema to send` })
      })
  })
  return {
    response_format: { type: "json_schema", json_schema: { name: format.objectName, strict: true, schema: jsonSchema } }
  }
})

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
  body: Record<string, unknown>
): Effect.fn.Return<Connection, AiError.AiError> {
  const client = makeClient(options, transport, watch)
  const clock = yield* Clock.Clock
  const promised = <A>(run: () => Promise<A>): Effect.Effect<A, AiError.AiError> =>
    Effect.tryPromise({
      try: run,
      catch: (thrown) => ChatErrors.fromThrown(thrown, options, clock.currentTimeMillisUnsafe())
    })

  const { response, streamed } = yield* watch.first(promised(() => send(client, body, signal)))
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
  if (!contentType.includes("event-stream")) return yield* ChatErrors.notTheProtocol(options)
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
const send = async (client: OpenAI, body: Record<string, unknown>, signal: AbortSignal) => {
  const { data, response } = await client
    .post<SdkStream<unknown>>("/chat/completions", { body, signal, stream: true })
    .withResponse()
  return { streamed: data, response }
}

// ---------------------------------------------------------------------------------------------------------------------
// Answer

const decodeChunk = Schema.decodeUnknownOption(ChatParts.Chunk)

/**
 * Longest answer, in characters of text, reasoning and arguments together: far more than any model writes, and little
 * enough to be kept in memory and in the database.
 */
const longestAnswer = 8_000_000

const tooLarge = (options: Options) =>
  transportError("response_too_large", `The answer of provider "${options.provider}" is larger than Troupe accepts`)

/** How long to wait, after the server has said how the answer finished, for token counts and the end mark. */
const patience = 2000

/** The parts of the next chunk that has any; at the end, the closing parts. */
const pull = (options: Options, connection: Connection, collector: ChatParts.Collector) => {
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
    const start = yield* Clock.currentTimeMillis
    const event = yield* Effect.timeoutOption(connection.next, left)
    left = Math.max(0, left - ((yield* Clock.currentTimeMillis) - start))
    return Option.flatten(event)
  }).pipe(Effect.catch(() => Effect.succeedNone))

  const read = Effect.suspend(() =>
    collector.finished() ? (left > 0 ? readRest : Effect.succeedNone) : connection.next
  )

  const chunk: Pull.Pull<Arr.NonEmptyReadonlyArray<Part>, AiError.AiError> = Effect.gen(function* () {
    if (closed) return yield* Cause.done()
    const event = yield* read
    const parts = Option.isNone(event) ? yield* close : yield* accept(options, collector, event.value)
    return Arr.isReadonlyArrayNonEmpty(parts) ? parts : yield* chunk
  })
  return chunk
}

const accept = (options: Options, collector: ChatParts.Collector, event: unknown) =>
  Option.match(decodeChunk(event), {
    onNone: () => Effect.fail(ChatErrors.notTheProtocol(options)),
    onSome: (chunk) => {
      if (chunk.error) return Effect.fail(ChatErrors.fromErrorValue(chunk.error, options))
      const parts = collector.push(chunk)
      return collector.size() > longestAnswer ? Effect.fail(tooLarge(options)) : Effect.succeed(parts)
    }
  })
