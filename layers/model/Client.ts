/**
 * One client of the `openai` SDK for each provider, and the requests over it: sent, watched, read, and aborted when nobody
 * reads them any more.
 */
import type * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import OpenAI from "openai"
import * as Body from "./Body.ts"
import * as OpenAiErrors from "./OpenAiErrors.ts"
import type { Transport } from "./Transport.ts"
import * as Watch from "./Watch.ts"

/** Whom a request is sent to, and how long it may take. */
export interface Target extends OpenAiErrors.Target, Watch.Options {}

/** The events of one answer. */
export interface Events {
  /** The next events as they came, at least one, or none at the end. */
  readonly next: Body.Next<ReadonlyArray<unknown>>
}

export interface Client {
  /**
   * Sends a request and waits for the head of the answer. An answer in one piece is one event. The request is aborted when
   * the scope closes.
   */
  readonly open: (
    target: Target,
    path: string,
    body: Readonly<Record<string, unknown>>
  ) => Effect.Effect<Events, AiError.AiError, Scope.Scope>
}

/** One JSON value. Values line by line, such as `application/x-ndjson`, are another protocol. */
const isJson = /^application\/([\w.-]+\+)?json\b/i

/** The client of a provider. Its key stays with the transport; the SDK insists on having one. */
export const make = (
  { apiKey, baseUrl, headers = {} }: Pick<OpenAiErrors.Target, "apiKey" | "baseUrl" | "headers">,
  transport: Transport
): Client => {
  const sdk = new OpenAI({
    apiKey: "kept-by-the-transport",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl,
    maxRetries: 0,
    // A timer may not be longer than this; the deadlines are ours.
    timeout: 2_147_483_647,
    logLevel: "off",
    fetch: transport.fetch({ apiKey, headers })
  })
  return {
    open: Effect.fnUntraced(function* (target, path, body) {
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const watch = yield* Watch.make(target, abort)
      const clock = yield* Clock.Clock
      const broken = (thrown: unknown) => OpenAiErrors.fromThrown(thrown, target, clock.currentTimeMillisUnsafe())
      const response = yield* watch.first(
        Effect.tryPromise({ try: () => send(sdk, path, body, abort.signal), catch: broken })
      )
      const reader: Body.Reader = {
        limits: transport.limits,
        onBytes: watch.onBytes,
        broken,
        tooLarge: () => OpenAiErrors.tooLarge(target),
        unreadable: () => OpenAiErrors.unreadable(target),
        foreign: () => OpenAiErrors.notTheProtocol(target)
      }
      const contentType = response.headers.get("content-type") ?? ""
      if (isJson.test(contentType)) return { next: once(watch.first(Body.json(response, reader))) }
      if (!contentType.includes("event-stream")) return yield* OpenAiErrors.notTheProtocol(target)
      return { next: eachOf(watch, Body.events(response, reader)) }
    })
  }
}

/** The generic call of the SDK, since its typed one knows neither the fields of other servers nor their answers. */
const send = (sdk: OpenAI, path: string, body: object, signal: AbortSignal): Promise<Response> =>
  sdk.post(path, { body, signal }).asResponse()

/** Not streaming, or a server that ignores `stream`: one event, the whole answer. Only the request's time bounds it. */
const once = (answer: Effect.Effect<unknown, AiError.AiError>): Events["next"] => {
  let taken = false
  return Effect.suspend(() => {
    if (taken) return Effect.succeedNone
    taken = true
    return Effect.map(answer, (value) => Option.some([value]))
  })
}

const eachOf = (watch: Watch.Watch, events: Events["next"]): Events["next"] => {
  const first = watch.first(events)
  const later = watch.next(events)
  let started = false
  return Effect.suspend(() => {
    if (started) return later
    started = true
    return first
  })
}
