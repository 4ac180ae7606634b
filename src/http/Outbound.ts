/**
 * The way out: how tools, and whatever else acts for a model, reach other hosts over HTTP. What a model asks for is often what a
 * page it has read told it to ask for, so a request is held to the settings of `[outbound]` before anything is sent:
 *
 * - the name of the host is looked up once, and the connection goes to an address that was judged;
 * - every redirection is judged as a request of its own, and takes no credentials to another origin;
 * - nothing that is known to be a secret of this installation leaves in a request;
 * - time, headers and body are bounded, the body after it is decompressed.
 *
 * Nothing is kept between two requests: no connection, no cookie, no cache.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Capability from "../tool/Capability.ts"
import type * as HostPattern from "./HostPattern.ts"

export const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"] as const
export type Method = (typeof methods)[number]

export interface Request {
  readonly method: Method
  /** `http` or `https`, without a user name or password. A fragment is dropped. */
  readonly url: string
  /** Those that say whom the request goes to and how long it is are set here and refused. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Redirections that are followed; 0, the default, gives the first one back as the response that it is. */
  readonly maxRedirects?: number
  /** Asked before each redirection that would be followed; it is not when the answer is no. */
  readonly mayFollow?: (to: { readonly method: Method; readonly url: string }) => Effect.Effect<boolean>
  readonly limits: Limits
  /** Put in last, for each host that is asked anew, and only where they belong. The first host must be one of theirs. */
  readonly credentials?: ReadonlyArray<Credential>
}

/** A header with a secret in it, and who may be sent it. */
export interface Credential {
  /** Lower case. */
  readonly header: string
  readonly value: Redacted.Redacted
  readonly hosts: ReadonlyArray<HostPattern.HostPattern>
  /** Whether it is sent without encryption as well. */
  readonly allowHttp: boolean
}

export interface Limits {
  /** Looking up the name and connecting, each. */
  readonly connect: Duration.Duration
  /** Waiting for the head of the response, and for each piece of its body. */
  readonly idle: Duration.Duration
  /** From the beginning to the end of the body, redirections included. */
  readonly total: Duration.Duration
  /** Bytes of a body, decompressed. A reader that stops earlier is not held to it. */
  readonly body: number
}

export interface Response {
  readonly status: number
  /** The address that answered, after redirections. */
  readonly url: string
  /** In the order they came, names in lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Decompressed. To be read once, while the scope of the request is open. */
  readonly body: Stream.Stream<Uint8Array, OutboundError>
}

export interface OutboundShape {
  /** Sends a request and waits for the head of the response. The connection closes with the scope, whatever is left unread. */
  readonly send: (request: Request) => Effect.Effect<Response, OutboundError, Scope.Scope>
}

/**
 * A service that the settings name, as a server that transcribes: the operator's choice and not a model's. It is the only host
 * that is reached, also on a private network; `denied_hosts` and the proxy hold for it. What it knows its caller by is added to
 * each request, is in no error, and goes nowhere else: redirections are not followed.
 */
export interface Service {
  readonly address: string
  readonly headers?: Readonly<Record<string, Redacted.Redacted>>
  readonly query?: Readonly<Record<string, Redacted.Redacted>>
}

export class Outbound extends Context.Service<
  Outbound,
  OutboundShape & { readonly to: (service: Service) => OutboundShape }
>()("troupe/http/Outbound") {}

/** The capability to reach other hosts. */
export class Network extends Capability.Service<Network, OutboundShape>()("Network") {}

/** Reason → what a model is told. */
const explanations = {
  invalid_url: "it is no complete http or https address",
  unsupported_scheme: "only http and https addresses can be reached",
  credentials_in_url: "a user name or password must not be in the address; send an Authorization header",
  invalid_header: "a header has a name or a value that cannot be sent",
  denied_host: "the settings do not let anybody reach this host",
  private_address: "the host is not on the public internet",
  secret_in_request: "the request holds a secret of this installation, which must not leave it",
  credential_not_for_host: "a credential that was asked for may not be sent to this host",
  credential_needs_https: "a credential that was asked for may only be sent over https",
  unresolvable: "the name of the host could not be looked up",
  connection_failed: "no connection could be made",
  tls_failed: "the host could not prove who it is, or did not agree on how to encrypt",
  proxy_failed: "the proxy did not pass the request on",
  timeout: "it took too long",
  connection_lost: "the connection ended before the response was complete",
  invalid_response: "what came back is no HTTP response",
  headers_too_large: "the head of the response is larger than taken",
  too_many_redirects: "it was redirected more often than allowed",
  invalid_redirect: "it was redirected to something that is no http or https address",
  redirect_not_allowed:
    "it was redirected to an address that the rules of this installation do not allow unasked; ask for that address itself if you need it",
  body_too_large: "the body is larger than taken",
  decompression_bomb: "the body is much larger than what was sent of it",
  unsupported_encoding: "the body is compressed in a way that is not understood",
  invalid_encoding: "the body could not be decompressed"
} as const

export type Reason = keyof typeof explanations
const reasons = Object.keys(explanations).filter((reason): reason is Reason => reason in explanations)

/** Code → what it means. */
export const meanings: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.map((reason) => [`http:${reason}`, explanations[reason]])
)

/** A request that brought no response, or a body that could not be read. Neither path, query nor headers are in it. */
export class OutboundError extends Schema.TaggedError<OutboundError>()("OutboundError", {
  reason: Schema.Literals(reasons),
  /** Empty where the address has none. */
  host: Schema.String,
  /** More about this case, in words that are safe to show. */
  detail: Schema.optionalKey(Schema.String)
}) {
  get code() {
    return `http:${this.reason}`
  }
  override get message() {
    const where = this.host === "" ? "The request" : `The request to ${this.host}`
    const more = this.detail === undefined ? "" : ` (${this.detail})`
    return `${where} failed: ${explanations[this.reason]}${more}.`
  }
}

/** The values of a header, joined as HTTP joins them. */
export const header = ({ headers }: Pick<Response, "headers">, name: string): string | undefined => {
  const values = headers.flatMap(([other, value]) => (other === name ? [value] : []))
  return values.length === 0 ? undefined : values.join(", ")
}

export interface Read {
  readonly bytes: Uint8Array
  /** Whether there was more. */
  readonly truncated: boolean
}

/** The body up to a number of bytes; the rest is not waited for. */
export const readUpTo = (response: Response, limit: number): Effect.Effect<Read, OutboundError> =>
  Effect.map(
    response.body.pipe(
      // One byte more than wanted tells whether there is more.
      Stream.mapAccum(
        () => 0,
        (read, piece: Uint8Array) => {
          const taken = piece.subarray(0, limit + 1 - read)
          return [read + taken.length, [{ taken, full: read + taken.length > limit }]] as const
        }
      ),
      Stream.takeUntil(({ full }) => full),
      Stream.map(({ taken }) => taken),
      Stream.runCollect
    ),
    (pieces) => {
      const all = joined(pieces)
      return { bytes: all.subarray(0, limit), truncated: all.length > limit }
    }
  )

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
