/** Requests as they may be sent, or why not. */
import * as Effect from "effect/Effect"
import * as HostPattern from "../../src/http/HostPattern.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import type { Sent } from "../../src/http/Redirect.ts"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as Decompression from "./Decompression.ts"

/** What servers take, with room. */
const longestUrl = 16 * 1024

/** The request as it goes out, with the headers that every request has. */
export const read = Effect.fnUntraced(function* (
  request: Outbound.Request,
  secrets: KnownSecrets["Service"],
  service?: Outbound.Service
) {
  const written = request.url.trim()
  const url = written.length > longestUrl ? null : URL.parse(written)
  if (url === null) return yield* refused("", "invalid_url")
  url.hash = ""
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const wrong = given.find(([name, value]) => !isHeader(name, value))
  if (wrong !== undefined) return yield* refused(HostPattern.hostOf(url), "invalid_header")
  const sent: Sent = { method: request.method, url, headers: new Map([...defaults, ...given]), body: request.body }
  // Case matters in a secret and not in the name of a host, so this looks at what was written as well.
  if (holdsSecret(secrets, [written])) return yield* refused(HostPattern.hostOf(url), "secret_in_request")
  // What a service of the operator is to work on goes to it as it is: a recording may be of any size and hold any bytes.
  yield* check(service === undefined ? sent : { ...sent, body: undefined }, secrets)
  return sent
})

/** What holds for every request, one that a redirection asks for included. */
export const check = Effect.fnUntraced(function* ({ body, headers, url }: Sent, secrets: KnownSecrets["Service"]) {
  const host = HostPattern.hostOf(url)
  if (url.protocol !== "http:" && url.protocol !== "https:") return yield* refused(host, "unsupported_scheme")
  if (url.username !== "" || url.password !== "") return yield* refused(host, "credentials_in_url")
  const text = typeof body === "string" ? body : body === undefined ? "" : new TextDecoder().decode(body)
  if (holdsSecret(secrets, [url.href, ...headers.values(), text])) return yield* refused(host, "secret_in_request")
})

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const defaults: ReadonlyArray<readonly [string, string]> = [
  ["accept", "*/*"],
  ["accept-encoding", Decompression.accepted],
  ["user-agent", "troupe"]
]

const refused = (host: string, reason: Outbound.Reason): Effect.Effect<never, Outbound.OutboundError> =>
  Effect.fail(new Outbound.OutboundError({ host, reason }))

/** As it stands, and with what an address or a form writes as `%2B` read. */
const holdsSecret = ({ text }: KnownSecrets["Service"], texts: ReadonlyArray<string>): boolean =>
  texts.flatMap((one) => [one, unescaped(one)]).some((one) => text(one) !== one)

const unescaped = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) =>
    new TextDecoder().decode(Uint8Array.from(codes.split("%").slice(1), (code) => Number.parseInt(code, 16)))
  )

const isHeader = (name: string, value: string): boolean =>
  /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !reserved.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** Whom a request goes to, how long it is, and what becomes of the connection is said here. */
const reserved =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|http2-settings|proxy-.*)$/
