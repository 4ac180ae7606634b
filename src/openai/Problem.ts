/** What a client of the OpenAI-compatible endpoint is told when something is wrong: in that protocol's own form. */
import * as Schema from "effect/Schema"
import type { Overloaded } from "../conversation/Overloaded.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"
import type * as Entry from "../thread/Entry.ts"

const ErrorType = Schema.Literals([
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "rate_limit_error",
  "server_error"
])

/** `param` names the field of the request that is wrong; `code` is for programs. */
export class Problem extends Schema.TaggedError<Problem>()("OpenAiProblem", {
  status: Schema.Int,
  type: ErrorType,
  detail: Schema.String,
  code: Schema.NullOr(Schema.String),
  param: Schema.NullOr(Schema.String),
  /** The same request may succeed later, and sending it again starts no second turn. */
  retry: Schema.Boolean
}) {
  override get message() {
    return this.detail
  }
}

/** The body of an answer with this problem, and the content of an event of a stream. */
export const body = ({ code, detail, param, type }: Problem) => ({ error: { message: detail, type, param, code } })

/** Something in the request: `param` says what, `detail` what may stand there. */
export const invalid = (param: string | null, detail: string, code: string | null = null): Problem =>
  new Problem({ status: 400, type: "invalid_request_error", detail, code, param, retry: false })

export const notFound = (param: string | null, detail: string, code: string): Problem =>
  new Problem({ status: 404, type: "invalid_request_error", detail, code, param, retry: false })

/** The path is none of the endpoint's. */
export const nothingHere: Problem = notFound(null, "There is nothing at this address.", "not_found")

export const conflict = (param: string | null, detail: string, code: string): Problem =>
  new Problem({ status: 409, type: "invalid_request_error", detail, code, param, retry: false })

/** The runtime is going away or cannot be reached; what was accepted is on disk. */
export const unavailable: Problem = new Problem({
  status: 503,
  type: "server_error",
  detail: "The conversation cannot be reached now. What was accepted is kept and will be answered.",
  code: "conversation_unavailable",
  param: null,
  retry: false
})

const leaving = (what: string): Problem =>
  new Problem({
    status: 503,
    type: "server_error",
    detail: `The daemon is going away. ${what}`,
    code: "going_away",
    param: null,
    // The libraries that follow this say that they send it again, and so get the turn of the first time.
    retry: true
  })

/** The process ends before the turn did, which goes on in the next one. */
export const goingAway: Problem = leaving("What was accepted is kept and will be answered.")

/** The process is about to end; nothing was accepted. */
export const closing: Problem = leaving("Nothing was accepted: try again.")

/** The disk is full or fails; nothing was accepted. */
export const storage = ({ message }: StorageUnavailable): Problem =>
  new Problem({
    status: 503,
    type: "server_error",
    detail: message,
    code: "storage_unavailable",
    param: null,
    retry: true
  })

/** The process is short of memory; nothing was accepted. */
export const overloaded = ({ message }: Overloaded): Problem =>
  new Problem({ status: 503, type: "server_error", detail: message, code: "overloaded", param: null, retry: true })

export const internal = (reference: string): Problem =>
  new Problem({
    status: 500,
    type: "server_error",
    detail: `The daemon failed to answer. Its log says why, under reference ${reference}.`,
    code: "internal_error",
    param: null,
    retry: false
  })

/** A request that passed no gate, by the HTTP status of the refusal. */
export const refusal = (status: number, reason: string): Problem =>
  new Problem({
    status,
    ...refusals[status === 401 || status === 413 ? status : 403],
    detail: reason,
    param: null,
    retry: false
  })

const refusals = {
  401: { type: "authentication_error", code: "invalid_api_key" },
  403: { type: "permission_error", code: "refused" },
  413: { type: "invalid_request_error", code: "request_too_large" }
} as const

/**
 * A turn that ended without an answer. None of these is to be tried again by a client on its own: the runtime has tried,
 * and another request would be another turn.
 */
export const ofTurn = (state: Entry.TurnEnd, failure: Entry.Failure | undefined): Problem => {
  if (state === "stopped") {
    return new Problem({
      status: 422,
      type: "invalid_request_error",
      detail: "The turn was stopped before it answered.",
      code: "turn_stopped",
      param: null,
      retry: false
    })
  }
  const code = failure?.code ?? "turn:failed"
  const limited = code === "model:rate-limited" || code === "model:quota-exhausted"
  return new Problem({
    status: limited ? 429 : 500,
    type: limited ? "rate_limit_error" : "server_error",
    detail: failure?.message ?? "The turn failed.",
    code,
    param: null,
    retry: false
  })
}
