/** What client and server must agree on beside the calls themselves: addresses, and how a token travels. */
import * as Base64Url from "effect/encoding/Base64Url"

/** Calls over HTTP: POST, one JSON message a line. */
export const httpPath = "/rpc"

/** Calls over a WebSocket. */
export const webSocketPath = "/rpc/ws"

/** The only path that answers without a token. */
export const healthPath = "/health"

/** The metrics, where `[observability].prometheus` has them served. */
export const metricsPath = "/metrics"

/** What the paths of the OpenAI-compatible endpoint begin with. */
export const openAiPrefix = "/v1/"

/** The header in which a program says what it is called; shown in logs and noted with decisions. */
export const clientHeader = "troupe-client"

/**
 * The WebSocket subprotocols that a client offers. Browsers cannot set headers on a handshake, and an address ends up in
 * logs and histories, so the token travels as the second subprotocol; the server only ever picks the first.
 */
export const subprotocols = (token: string): [string, string] => [subprotocol, `${bearer}${Base64Url.encode(token)}`]

export const subprotocol = "troupe.v1"

const bearer = "troupe.bearer."

/** The token in the value of a `Sec-WebSocket-Protocol` header, if there is one. */
export const tokenOfSubprotocols = (header: string): string | undefined => {
  const offered = header.split(",").map((name) => name.trim())
  const encoded = offered.find((name) => name.startsWith(bearer))?.slice(bearer.length)
  if (encoded === undefined || !offered.includes(subprotocol)) return undefined
  const decoded = Base64Url.decodeString(encoded)
  return decoded._tag === "Success" ? decoded.success : undefined
}
