/** What a failed connection means, in words for a person. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { HttpClientErrorSchema } from "effect/http/HttpClientError"
import { RpcClientError } from "effect/rpc/RpcClientError"

/** The daemon is there and does not let this caller in. Trying again says the same. */
export const isRefusal = (error: RpcClientError): boolean => refuses(statusOf(error))

/** Whether an answer with this status is such a refusal. */
export const refuses = (status: number | undefined): boolean => status === 401 || status === 403

/** Whether an answer with this status sends the caller elsewhere. */
export const redirects = (status: number | undefined): boolean => status !== undefined && status >= 300 && status < 400

/** The error of a call that was answered with another status than 200. */
export const answered = (status: number): RpcClientError =>
  new RpcClientError({
    reason: new HttpClientErrorSchema({ _tag: "HttpError", kind: "StatusCodeError", cause: { response: { status } } })
  })

/** The token is not the daemon's. */
export const isTokenRefused = (error: RpcClientError): boolean => statusOf(error) === 401

/** Whether what was asked for may have been done although the call failed with this. */
export const isUnsure = (error: { readonly message: string }): boolean =>
  isRpcClientError(error) && !isRefusal(error) && error.reason._tag !== "SocketOpenError"

const isRpcClientError = Schema.is(RpcClientError)

/** The daemon took the call and does not answer. */
export const isSilence = (error: RpcClientError): boolean =>
  error.reason._tag === "HttpError" && error.reason.cause instanceof DaemonSilent

/** An answer of another shape. */
export const notUnderstood =
  "The daemon gave an answer that this client does not understand. Are both of the same version?"

/** One sentence, for a person. */
export const explain = (error: RpcClientError): string => {
  const status = statusOf(error)
  if (status === 401) {
    return "The daemon does not accept this token. The right one is [http].auth_token of its settings, or the content of the file `token` in its data directory."
  }
  if (status === 403) return "The daemon refuses requests from this address."
  if (redirects(status)) {
    return `The address answers with a redirection (HTTP status ${status}), which no daemon does. Give the client the daemon's own address.`
  }
  if (status !== undefined) return `The daemon answered with HTTP status ${status}.`
  if (error.reason._tag === "HttpError" && error.reason.cause instanceof DaemonSilent) return error.reason.cause.message
  switch (error.reason._tag) {
    case "SocketCloseError":
    case "SocketReadError":
    case "SocketWriteError":
      return "The connection to the daemon was lost."
    case "RpcClientDefect":
      return notUnderstood
    default:
      return "The daemon cannot be reached. Is it running?"
  }
}

/** The daemon took a call and does not answer: it is stopped, or stuck. */
export class DaemonSilent extends Schema.TaggedError<DaemonSilent>()("DaemonSilent", { millis: Schema.Int }) {
  override get message() {
    return `The daemon took the call and said nothing for ${this.millis / 1000} s. Is its process stopped?`
  }
}

const statusOf = (error: RpcClientError): number | undefined => {
  if (error.reason._tag !== "HttpError" || error.reason.kind !== "StatusCodeError") return undefined
  const cause = error.reason.cause
  if (!Predicate.hasProperty(cause, "response") || !Predicate.hasProperty(cause.response, "status")) return undefined
  return typeof cause.response.status === "number" ? cause.response.status : undefined
}
