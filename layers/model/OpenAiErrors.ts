/**
 * From whatever the SDK throws to an `AiError` with words for a person.
 *
 * The words are ours; of the provider's own message at most a short piece is quoted, with every configured secret
 * masked, and never for rejected keys.
 */
import * as AiError from "effect/ai/AiError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { APIConnectionError, APIError } from "openai"
import {
  contextLength,
  encryptedReasoning,
  previousResponse,
  refusedHere,
  transportError
} from "../../src/model/ModelError.ts"
import type * as Origin from "../../src/model/Origin.ts"
import * as Masker from "../../src/secret/Masker.ts"
import * as Text from "../../src/model/Text.ts"

/** Whom the error is about. */
export interface Target extends Origin.Origin {
  /** Up to and including `/v1`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted<string> | undefined
  readonly headers?: Readonly<Record<string, Redacted.Redacted<string>>> | undefined
  /** Secrets of the rest of the settings, which are masked like the key and the headers should the provider repeat them. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted<string>> | undefined
}

/** Reads a thrown value. `now` is the current time, for dates in `Retry-After`. */
export const fromThrown = (thrown: unknown, target: Target, now: number): AiError.AiError => {
  if (thrown instanceof APIConnectionError) {
    const code = codeOf(thrown)
    const words = unreachable(target, code)
    return code === "ECONNREFUSED" && isLoopback(target.baseUrl)
      ? refusedHere(words)
      : transportError("connect-failed", words)
  }
  if (thrown instanceof APIError) {
    const body = decodeBody(thrown.error)
    const status = typeof thrown.status === "number" ? thrown.status : statusOf(body)
    return aiError(fromStatus(status, body, target, retryAfterOf(thrown.headers, body?.message, now)))
  }
  return transportError(
    "stream-cut",
    `The connection to provider "${target.provider}" broke before the answer was complete`
  )
}

/** Reads an `error` field found in an answer whose status said success. */
export const fromErrorValue = (error: unknown, target: Target): AiError.AiError => {
  const body = decodeBody(error)
  return aiError(fromStatus(statusOf(body), body, target, retryAfterOf(undefined, body?.message, 0)))
}

const aiError = (reason: AiError.AiErrorReason) => AiError.make({ module: "OpenAi", method: "request", reason })

/** There is more of the answer than is read. */
export const tooLarge = (target: Target): AiError.AiError =>
  transportError("response_too_large", `The answer of provider "${target.provider}" is larger than Troupe accepts`)

/** A piece of the answer is no JSON. */
export const unreadable = (target: Target): AiError.AiError =>
  transportError("stream-cut", `Provider "${target.provider}" sent a piece of an answer that cannot be read`)

/** The answer is not one of the protocol, e.g. a web page. */
export const notTheProtocol = (target: Target): AiError.AiError =>
  aiError(
    new AiError.InvalidResponseError({
      description:
        `${hostOf(target.baseUrl)} did not answer in the protocol it was asked in. ` +
        `Check [providers.${target.provider}]: base_url usually ends in /v1, and api must be one that the server speaks`
    })
  )

const Body = Schema.Struct({
  message: Schema.optionalKey(Schema.Unknown),
  code: Schema.optionalKey(Schema.Unknown),
  type: Schema.optionalKey(Schema.Unknown),
  param: Schema.optionalKey(Schema.Unknown)
})

interface ErrorBody {
  readonly message: string
  readonly code: string
  readonly type: string
  readonly param: string
}

const decodeBody = (error: unknown): ErrorBody | undefined => {
  if (typeof error === "string") return { message: error, code: "", type: "", param: "" }
  return Option.getOrUndefined(
    Option.map(decodeStruct(error), (body) => ({
      message: asText(body.message),
      code: asText(body.code),
      type: asText(body.type),
      param: asText(body.param)
    }))
  )
}

const decodeStruct = Schema.decodeUnknownOption(Body)
const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : ""

/** Errors inside a stream have no status; their code or type stands for one. */
const statusOf = (body: ErrorBody | undefined): number | undefined => {
  if (body === undefined) return undefined
  if (/^[45]\d\d$/.test(body.code)) return Number(body.code)
  return statusNames.get(body.code) ?? statusNames.get(body.type)
}

const statusNames: ReadonlyMap<string, number> = new Map([
  ["invalid_api_key", 401],
  ["authentication_error", 401],
  ["permission_error", 403],
  ["model_not_found", 404],
  ["not_found_error", 404],
  ["rate_limit_exceeded", 429],
  ["rate_limit_error", 429],
  ["invalid_request_error", 400],
  ["server_error", 500],
  ["api_error", 500],
  ["overloaded_error", 503]
])

const fromStatus = (
  status: number | undefined,
  body: ErrorBody | undefined,
  target: Target,
  retryAfter: Duration.Duration | undefined
): AiError.AiErrorReason => {
  const quote = body?.message ? `: ${quoted(body.message, target, 200)}` : ""
  const who = `Provider "${target.provider}"`
  if (body !== undefined && isQuota(status, body)) return new AiError.QuotaExhaustedError({})
  if (body !== undefined && isContextLength(body)) {
    return new AiError.InvalidRequestError({
      parameter: "messages",
      constraint: contextLength,
      description: `The conversation is longer than model "${target.model}" can read`
    })
  }
  const stale = body === undefined ? undefined : staleness(body)
  if (stale !== undefined) {
    return new AiError.InvalidRequestError({
      parameter: "input",
      constraint: stale,
      description: `${who} no longer has what the request builds on${quote}`
    })
  }
  switch (status) {
    case 401:
      return new AiError.AuthenticationError({
        kind: "InvalidKey",
        description: `${who} refused the key. Check [providers.${target.provider}].api_key`
      })
    case 403:
      return new AiError.AuthenticationError({
        kind: "InsufficientPermissions",
        description: `${who} does not allow this key to use model "${target.model}"`
      })
    case 404:
      return new AiError.InvalidRequestError({
        parameter: "model",
        description: `${who} knows no model "${target.model}", or [providers.${target.provider}].base_url is wrong${quote}`
      })
    case 429:
      return new AiError.RateLimitError(retryAfter === undefined ? {} : { retryAfter })
    case 408:
    case 409:
    case 425:
      return new AiError.InternalProviderError({ description: `${who} could not serve the request now (${status})` })
  }
  if (status !== undefined && status >= 400 && status < 500) {
    return body !== undefined && isPolicy(body)
      ? new AiError.ContentPolicyError({ description: `${who} refused the content${quote}` })
      : new AiError.InvalidRequestError({
          description: `${who} rejected the request (${status})${quote}`,
          ...(body?.param ? { parameter: quoted(body.param, target, 100) } : {})
        })
  }
  if (status !== undefined && status >= 300 && status < 400) {
    return new AiError.InvalidRequestError({
      description: `${who} redirects to another address; set [providers.${target.provider}].base_url to it`
    })
  }
  return new AiError.InternalProviderError({
    description: `${who} failed${status === undefined ? "" : ` (${status})`}${quote}`
  })
}

/** A short piece of the provider's words. What cleaning takes out must not hide a secret, nor clipping halve one. */
const quoted = (words: string, target: Target, limit: number): string =>
  Text.clip(
    Masker.make([
      ...(target.apiKey === undefined ? [] : [target.apiKey]),
      ...Object.values(target.headers ?? {}),
      ...(target.secrets ?? [])
    ]).piece(Text.clean(words)),
    limit
  )

const isQuota = (status: number | undefined, body: ErrorBody) =>
  status === 402 || body.code === "insufficient_quota" || body.type === "insufficient_quota"

const isPolicy = (body: ErrorBody) => /content_(policy|filter)|moderation/.test(`${body.code} ${body.type}`)

const isContextLength = (body: ErrorBody) =>
  body.code === "context_length_exceeded" ||
  /context.(length|window|size)|maximum context|prompt is too long|too many (input )?tokens/i.test(body.message)

/** What the provider should have kept or been able to read, and has not. */
const staleness = (body: ErrorBody): string | undefined => {
  if (body.code === "previous_response_not_found" || body.param === "previous_response_id") return previousResponse
  if (/invalid_encrypted_content|thinking_signature_invalid/.test(body.code)) return encryptedReasoning
  if (/encrypted.content.*(could not|cannot|can't) be (verified|decrypted)/i.test(body.message))
    return encryptedReasoning
  return /previous.response.*not (be )?found/i.test(body.message) ? previousResponse : undefined
}

const unreachable = (target: Target, code: string): string => {
  const where = `Cannot reach provider "${target.provider}" at ${hostOf(target.baseUrl)}`
  const check = `check [providers.${target.provider}].base_url`
  switch (code) {
    case "ECONNREFUSED":
      return `${where}: nothing listens there. Start it, or ${check}`
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${where}: the name cannot be resolved; ${check} and the network`
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `${where}: no connection within [llm].connect_timeout_seconds`
    default:
      return `${where}${/^[A-Z0-9_]{3,40}$/.test(code) ? ` (${code})` : ""}; ${check}`
  }
}

/** Host and port only: an address may hold credentials or a query. */
export const hostOf = (baseUrl: string): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).host : "an invalid address"

/** An address of this machine itself, where a refused connection can only mean that no server runs. */
const isLoopback = (baseUrl: string): boolean =>
  URL.canParse(baseUrl) && /^(127(\.\d{1,3}){3}|\[::1\]|(.+\.)?localhost)$/.test(new URL(baseUrl).hostname)

const decodeCause = Schema.decodeUnknownOption(
  Schema.Struct({
    code: Schema.optionalKey(Schema.Unknown),
    cause: Schema.optionalKey(Schema.Unknown),
    errors: Schema.optionalKey(Schema.Unknown)
  })
)

/** The system's code, somewhere down the chain of causes. */
const codeOf = (error: unknown, depth = 0): string => {
  if (depth > 5) return ""
  const read = Option.getOrUndefined(decodeCause(error))
  if (typeof read?.code === "string" && read.code !== "") return read.code
  if (Array.isArray(read?.errors) && read.errors.length > 0) return codeOf(read.errors[0], depth + 1)
  return read?.cause === undefined ? "" : codeOf(read.cause, depth + 1)
}

// ---------------------------------------------------------------------------------------------------------------------
// How long the provider asks to wait

/** The longest wait that is told, in milliseconds: a year. What says more means that, not nothing. */
const longestWait = 365 * 86_400_000

/**
 * `retry-after-ms`, `retry-after` (seconds or a date), or a hint in the message ("try again in 1.5s"). What cannot be
 * read or is negative is as good as not said.
 */
export const retryAfterOf = (
  headers: Headers | undefined,
  message: string | undefined,
  now: number
): Duration.Duration | undefined => {
  const millis = [
    numberOf(headers?.get("retry-after-ms")),
    scale(numberOf(headers?.get("retry-after")), 1000),
    untilDate(headers?.get("retry-after"), now),
    fromHint(message)
  ].find((value) => value !== undefined && value >= 0)
  return millis === undefined ? undefined : Duration.millis(Math.min(millis, longestWait))
}

const numberOf = (text: string | null | undefined): number | undefined =>
  text && /^\d{1,99}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined

const scale = (value: number | undefined, factor: number) => (value === undefined ? undefined : value * factor)

const untilDate = (text: string | null | undefined, now: number): number | undefined =>
  text && /^[A-Za-z]{3},? /.test(text)
    ? Option.getOrUndefined(Option.map(DateTime.make(text), (date) => Math.max(0, date.epochMilliseconds - now)))
    : undefined

/** One amount of time after another, such as `1h2m3.5s`. */
const amount = /(\d{1,9}(?:\.\d{1,6})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])/
const hint = new RegExp(`(?:try again|retry) (?:in|after) ((?:${amount.source} ?)+)`, "i")

const fromHint = (message: string | undefined): number | undefined => {
  const words = hint.exec(message?.slice(0, 1000) ?? "")?.[1]
  if (words === undefined) return undefined
  const amounts = words.matchAll(new RegExp(amount.source, "gi"))
  return [...amounts].reduce((sum, [, number, unit = ""]) => sum + Number(number) * millisIn(unit.toLowerCase()), 0)
}

const millisIn = (unit: string): number => {
  if (unit.startsWith("ms") || unit.startsWith("mil")) return 1
  if (unit.startsWith("s")) return 1000
  return unit.startsWith("m") ? 60_000 : unit.startsWith("h") ? 3_600_000 : 86_400_000
}
