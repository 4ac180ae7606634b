/**
 * Typed errors of the model subsystem, and the plain-language reading of the provider errors of `effect/ai`.
 *
 * `AiError` stays the error of a running request: every `LanguageModel` speaks it. This module adds what it lacks:
 * an error for "there is no such model to ask", a code for failures `AiError` has no reason class for (a stream cut
 * short, deadlines), and one place that turns any of them into words for a person. No message here ever contains a
 * key, a header or a response body.
 */
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/** Why a provider cannot be asked at all. */
export const ModelUnavailableReason = Schema.Literals([
  "unknown-provider",
  "missing-key",
  "missing-model",
  "missing-base-url",
  "missing-layer",
  "broken-layer"
])

/** The configured or requested model cannot be used; `remedy` says which config key to set. */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>()("ModelUnavailable", {
  provider: Schema.String,
  reason: ModelUnavailableReason,
  remedy: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `model:${this.reason}`
  }
  override get message(): string {
    return `Provider "${this.provider}" cannot be used (${this.reason}). ${this.remedy}`
  }
}

/**
 * Failures of a request that `AiError` has no class for. They travel as `AiError` with this code in the metadata, so
 * that every caller of a `LanguageModel` can still handle one error type.
 */
export const TransportCode = Schema.Literals([
  "stream-cut",
  "idle-timeout",
  "request-timeout",
  "connect-failed",
  "response_too_large"
])
export type TransportCode = typeof TransportCode.Type

const metadataKey = "troupe"

/**
 * An `AiError` for a transport failure. Two are not retryable: `request-timeout` has already used up the whole time a
 * request may take, and an answer without end would be read in vain once more.
 */
export const transportError = (code: TransportCode, description: string): AiError.AiError => {
  const metadata = { [metadataKey]: { code } }
  return AiError.make({
    module: "Model",
    method: "request",
    reason:
      code === "request-timeout" || code === "response_too_large"
        ? new AiError.UnknownError({ description, metadata })
        : new AiError.InternalProviderError({ description, metadata })
  })
}

/** A server on this machine that refuses the connection: nobody has started it. Only a start of it would help. */
export const refusedHere = (description: string): AiError.AiError =>
  AiError.make({
    module: "Model",
    method: "request",
    reason: new AiError.InternalProviderError({
      description,
      metadata: { [metadataKey]: { code: "connect-failed", nothingListens: true } }
    })
  })

/** Whether this is an error made by `refusedHere`. */
export const nothingListens = (error: AiError.AiError): boolean =>
  "metadata" in error.reason && isRefusedHere(error.reason.metadata[metadataKey])

/** The transport code of an error made by `transportError`. */
export const transportCode = (error: AiError.AiError): TransportCode | undefined => {
  if (!("metadata" in error.reason)) return undefined
  const metadata = error.reason.metadata[metadataKey]
  return isTransportMetadata(metadata) ? metadata.code : undefined
}

/** `constraint` of an `InvalidRequestError` whose cause is a history longer than the model can read. */
export const contextLength = "context-length"

/** The same of a request that builds on a response which the provider does not keep, or keeps no longer. */
export const previousResponse = "previous-response"

/** The same of a request with reasoning that the provider cannot decrypt, since another account or model wrote it. */
export const encryptedReasoning = "encrypted-reasoning"

/** What a caller needs to know of a failed request. `message` is one line for a person. */
export interface ModelFailure {
  /** Stable error code, `model:reason`. */
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** How long the provider asked to wait, when it did. */
  readonly retryAfter: Duration.Duration | undefined
}

/**
 * Whether the model could not be asked, whatever it was asked: another one may do better. A request that was refused for what
 * it says, or for its key, is none.
 */
export const isOutage = (error: AiError.AiError): boolean =>
  error.isRetryable || error.reason._tag === "QuotaExhaustedError" || transportCode(error) === "request-timeout"

/** Whether the provider refused the request because there is more of it than the model can read. */
export const isTooLong = ({ reason }: AiError.AiError): boolean =>
  reason._tag === "InvalidRequestError" && reason.constraint === contextLength

/** Whether the provider refused the request because of something in it that it wrote itself and can read no longer. */
export const isUnreadable = ({ reason }: AiError.AiError): boolean =>
  reason._tag === "InvalidRequestError" && reason.constraint === encryptedReasoning

/** Reads an `AiError` into a code, a line of text and the retry decision. */
export const describe = (error: AiError.AiError): ModelFailure => {
  return {
    code: `model:${transportCode(error) ?? codeOf(error.reason)}`,
    message: `${causeOf(error)}${waitOf(error.reason)}`,
    retryable: error.isRetryable,
    retryAfter: error.retryAfter
  }
}

const isRefusedHere = Schema.is(Schema.Struct({ nothingListens: Schema.Literal(true) }))

const isTransportMetadata = Schema.is(Schema.Struct({ code: TransportCode }))

const codeOf = (reason: AiError.AiErrorReason): string =>
  reason._tag === "InvalidRequestError" && reason.constraint === contextLength ? contextLength : codes[reason._tag]

const codes: Record<AiError.AiErrorReason["_tag"], string> = {
  RateLimitError: "rate-limited",
  QuotaExhaustedError: "quota-exhausted",
  AuthenticationError: "authentication",
  ContentPolicyError: "content-policy",
  InvalidRequestError: "invalid-request",
  InvalidResponseError: "invalid-response",
  InternalProviderError: "provider-failed",
  NetworkError: "network",
  InvalidOutputError: "invalid-output",
  StructuredOutputError: "invalid-output",
  UnsupportedSchemaError: "unsupported-schema",
  UnknownError: "unknown",
  ToolNotFoundError: "tool-not-found",
  ToolParameterValidationError: "tool-parameters",
  InvalidToolResultError: "tool-result",
  ToolResultEncodingError: "tool-result",
  ToolConfigurationError: "tool-configuration",
  ToolkitRequiredError: "tool-configuration",
  InvalidUserInputError: "invalid-input"
}

/**
 * What happened, in a line for a person, without how long the provider asks to wait: for whoever says how long is waited.
 *
 * The reason classes prefix or append general advice; the description written where the error arose is more exact.
 */
export const causeOf = ({ reason }: AiError.AiError): string => {
  const description = "description" in reason ? reason.description : undefined
  if (description !== undefined) return description
  return reason._tag === "RateLimitError" && reason.retryAfter !== undefined
    ? "The provider limits the rate of requests"
    : reason.message
}

const waitOf = (reason: AiError.AiErrorReason): string =>
  reason._tag === "RateLimitError" &&
  reason.retryAfter !== undefined &&
  Duration.isGreaterThan(reason.retryAfter, Duration.zero)
    ? `; it asks to wait ${Duration.format(reason.retryAfter)}`
    : ""
