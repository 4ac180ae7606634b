/**
 * What every request passes before anything else looks at it: where it comes from, then whether it carries the token.
 * Only the health check goes without the token.
 */
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Settings } from "../../src/config/Settings.ts"
import * as Problem from "../../src/openai/Problem.ts"
import * as Access from "../../src/rpc/Access.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import * as Wire from "../../src/rpc/Wire.ts"
import * as Http from "../openai/Http.ts"
import * as Address from "./Address.ts"
import * as Authentication from "./Authentication.ts"
import * as Limits from "./Limits.ts"

/** Guards every route of the server, those of other modules and those that do not exist included. */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { token } = yield* AccessToken
    const { http } = yield* Settings
    const server = yield* HttpServer.HttpServer
    const rules: Access.Rules = {
      host: http.host,
      port: Address.portOf(server.address),
      allowedOrigins: http.allowed_origins
    }
    return (routes) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers } = request
        const verdict = Access.judge(rules, {
          host: headers["host"],
          origin: headers["origin"],
          fetchSite: headers["sec-fetch-site"]
        })
        if (verdict._tag === "Refused") return refuse(request, 403, verdict.reason)
        const origin = verdict.origin
        if (origin !== undefined && request.method === "OPTIONS") return preflight(origin, request)
        if (!isOpen(request) && !Authentication.isToken(token, tokenOf(request))) {
          return share(unauthorized(request), origin)
        }
        if (Number(headers["content-length"] ?? 0) > Limits.requestBytes) {
          return share(refuse(request, 413, `a request may have ${Limits.requestBytes} bytes`), origin)
        }
        return share(yield* orNotFound(request, routes), origin)
      }).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, Limits.requestSize))
  }),
  { global: true }
)

/** The path itself, with no way of spelling it that a router may read differently. */
const isOpen = (request: HttpServerRequest.HttpServerRequest): boolean =>
  (request.method === "GET" || request.method === "HEAD") && request.url === Wire.healthPath

/** Browsers can only send it with a WebSocket handshake as a subprotocol; an address is no place for it. */
const tokenOf = (request: HttpServerRequest.HttpServerRequest): string | undefined => {
  const sent = Authentication.bearerOf(request.headers["authorization"])
  const offered = request.headers["sec-websocket-protocol"]
  return sent ?? (offered === undefined ? undefined : Wire.tokenOfSubprotocols(offered))
}

/** What the router has no route for: one that is not there, and an address that spells no text. */
const orNotFound = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  routes: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.catchIf(
    routes,
    (error) => isNotFound(error) && request.url.startsWith(Wire.openAiPrefix),
    () => Effect.succeed(Http.refuse(Problem.nothingHere))
  )

const isNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Each of the interfaces has its own form of a refusal. */
const refuse = (request: HttpServerRequest.HttpServerRequest, status: number, reason: string) =>
  HttpServerResponse.jsonUnsafe(
    request.url.startsWith(Wire.openAiPrefix)
      ? Problem.body(Problem.refusal(status, reason))
      : { error: status === 401 ? "unauthorized" : "refused", reason },
    { status, headers: { connection: "close" } }
  )

const unauthorized = (request: HttpServerRequest.HttpServerRequest) =>
  HttpServerResponse.setHeader(
    refuse(request, 401, "this needs the bearer token of the daemon"),
    "www-authenticate",
    "Bearer"
  )

/** The page is one that the owner named: it may send what its client library sends. */
const preflight = (origin: string, request: HttpServerRequest.HttpServerRequest) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": wantedHeaders(request) ?? `authorization, content-type, ${Wire.clientHeader}`,
      "access-control-max-age": "600",
      vary: "Origin"
    }
  })

const wantedHeaders = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const wanted = headers["access-control-request-headers"]
  return wanted !== undefined && /^[\w-]+(, *[\w-]+)*$/.test(wanted) ? wanted : undefined
}

/** Lets the page of an allowed origin read the response; nothing is kept by caches on the way. */
const share = (response: HttpServerResponse.HttpServerResponse, origin: string | undefined) =>
  HttpServerResponse.setHeaders(response, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(origin === undefined
      ? {}
      : {
          "access-control-allow-origin": origin,
          "access-control-expose-headers": "x-troupe-thread, x-troupe-thread-id, x-troupe-ignored",
          vary: "Origin"
        })
  })
