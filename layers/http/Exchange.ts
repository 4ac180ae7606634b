/** One request and its response over a connection that is already there. */
import type * as Net from "node:net"
import type { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Client } from "undici"
import type { Sent } from "../../src/http/Redirect.ts"

/** The head of a response may not be larger: what browsers take is 256 KB, and servers send a few. */
const largestHead = 64 * 1024
const mostHeaders = 256
/** Interim responses (1xx) before the real one. */
const mostInterim = 16

export interface Head {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** As it was sent. */
  readonly body: Readable
}

export type Broken = "headers_too_large" | "invalid_response" | "connection_lost"

/** Sends it and waits for the head. `path` is what stands in the request's first line. */
export const exchange = (socket: Net.Socket, sent: Sent, path: string): Effect.Effect<Head, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const client = yield* over(socket, sent.url)
    let interim = 0
    const response = yield* Effect.tryPromise({
      try: (signal) =>
        client.request({
          path,
          method: sent.method,
          headers: Object.fromEntries(sent.headers),
          body: sent.body ?? null,
          signal,
          onInfo: () => {
            interim += 1
            if (interim > mostInterim) socket.destroy(tooManyResponses())
          }
        }),
      catch: brokenBy
    })
    // Whoever reads it hears of its errors; nobody may be reading it.
    response.body.on("error", () => {})
    const headers = Object.entries(response.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => [name.toLowerCase(), one] as const)
    )
    return headers.length > mostHeaders
      ? yield* Effect.fail("headers_too_large" as const)
      : { status: response.statusCode, headers, body: response.body }
  })

/** Asks a proxy for a connection to a host, `host:port`; the status of a refusal is in the failure. */
export const tunnel = (
  socket: Net.Socket,
  proxy: URL,
  to: string,
  headers: Readonly<Record<string, string>>
): Effect.Effect<Net.Socket, Broken | { readonly refusedWith: number }, Scope.Scope> =>
  Effect.gen(function* () {
    const client = yield* over(socket, proxy)
    const { socket: through, statusCode } = yield* Effect.tryPromise({
      try: (signal) => client.connect({ path: to, headers, signal }),
      catch: brokenBy
    })
    if (statusCode !== 200) return yield* Effect.fail({ refusedWith: statusCode })
    // It is the connection that was handed in.
    through.on("error", () => {})
    return socket
  })

/** More interim responses than anybody needs, told as undici tells of too many headers. */
const tooManyResponses = () => Object.assign(new Error("too many interim responses"), { name: overflow })

const overflow = "HeadersOverflowError"

/** What an error while a response is read means. By its name, so that undici is loaded by the first request only. */
export const brokenBy = (error: unknown): Broken => {
  const name = error instanceof Error ? error.name : ""
  if (name === overflow) return "headers_too_large"
  return name === "HTTPParserError" || name === "ResponseContentLengthMismatchError"
    ? "invalid_response"
    : "connection_lost"
}

/** A client of this one connection. Time is limited by whoever waits. */
const over = (socket: Net.Socket, origin: URL): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(
      Effect.promise(() => import("undici")),
      (undici) =>
        new undici.Client(origin.origin, {
          // Later, since the client is not ready for an answer at once. A second time the connection is broken already, and says so.
          connect: (_options, callback) => queueMicrotask(() => callback(null, socket)),
          maxHeaderSize: largestHead,
          headersTimeout: 0,
          bodyTimeout: 0,
          allowH2: false
        })
    ),
    (client) => Effect.promise(() => client.destroy())
  )
