/**
 * The HTTP server: calls over HTTP and WebSocket, the health check, the metrics, and the OpenAI-compatible endpoint. The gate is in
 * front of all of them.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as RpcServer from "effect/rpc/RpcServer"
import * as Schema from "effect/Schema"
import * as Http from "node:http"
import { Settings } from "../../src/config/Settings.ts"
import { TroupeRpcs } from "../../src/rpc/TroupeRpcs.ts"
import * as Wire from "../../src/rpc/Wire.ts"
import * as Departure from "../openai/Departure.ts"
import * as OpenAi from "../openai/OpenAi.ts"
import * as Answers from "./Answers.ts"
import * as Authentication from "./Authentication.ts"
import * as Body from "./Body.ts"
import * as Edge from "./Edge.ts"
import * as Gate from "./Gate.ts"
import * as Handlers from "./Handlers.ts"
import * as Health from "./Health.ts"
import * as Limits from "./Limits.ts"
import * as Lines from "./Lines.ts"
import * as Metrics from "./Metrics.ts"
import * as UnderWay from "./UnderWay.ts"
import * as Unread from "./Unread.ts"

/** The address cannot be listened on. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  code: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${listenProblem(this.code)}`
  }
}

const listenProblem = (code: string): string => {
  switch (code) {
    case "EADDRINUSE":
      return "another program uses that port. Stop it, or set [http].port to another one (0 picks a free one)."
    case "EACCES":
      return "this user may not use that port. Set [http].port to one above 1023."
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "this machine has no such address. Set [http].host to one it has, such as 127.0.0.1."
    default:
      return `the system says ${code}. Set [http].host and [http].port to something else.`
  }
}

/** The server itself, listening. `port` overrides the configured one. */
export const layerListening = (options: { readonly port?: number | undefined } = {}) =>
  Layer.unwrap(
    Effect.map(Settings, ({ http }) => {
      const port = options.port ?? http.port
      return NodeHttpServer.layer(() => Http.createServer({ keepAliveTimeout }), {
        host: http.host,
        port,
        // Open streams are cut, not waited for: their clients come back to the next process with a cursor.
        gracefulShutdownTimeout: "250 millis",
        websocket: { maxPayload: Limits.requestBytes }
      }).pipe(Layer.catchTag("ServeError", ({ cause }) => Layer.effectContext(listenFailed(http.host, port, cause))))
    })
  )

/**
 * Milliseconds for which an idle connection is kept: longer than clients and proxies do, so that it is them who close it. Closed
 * here first, it meets a request that is on its way, which then fails with a connection that was reset.
 */
const keepAliveTimeout = 75_000

/** All routes, on the server that listens. */
const routes = HttpRouter.serve(
  Layer.suspend(() => Layer.mergeAll(rpc, Health.layer, Metrics.layer, OpenAi.layer)).pipe(
    Layer.provideMerge(Gate.layer)
  ),
  { disableLogger: true, disableListenLog: true }
)

/** The routes, and what their clients are told when the process ends. */
export const layer = Departure.farewell.pipe(Layer.provideMerge(routes), Layer.provide(Departure.layer))

const rpc = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const overHttp = yield* Effect.updateService(
      // A client that reads slowly holds back what is read for it; over a WebSocket it acknowledges each piece.
      RpcServer.makeProtocolWithHttpEffect({ streamBufferSize: 2 }),
      RpcSerialization.RpcSerialization,
      Lines.tolerant
    )
    const overWebSocket = yield* Effect.updateService(
      RpcServer.makeProtocolWithHttpEffectWebsocket,
      RpcSerialization.RpcSerialization,
      Lines.tolerant
    )
    for (const protocol of [yield* Answers.unhurried(overHttp.protocol), overWebSocket.protocol]) {
      const underWay = UnderWay.make()
      yield* RpcServer.make(TroupeRpcs, {
        disableFatalDefects: true,
        onDisconnect: (connection) => Effect.sync(() => underWay.forget(connection))
      }).pipe(Effect.provideService(RpcServer.Protocol, Edge.wrap(protocol, underWay)), Effect.forkScoped)
    }
    yield* router.add("POST", Wire.httpPath, Body.guard(overHttp.httpEffect))
    yield* router.add("GET", Wire.webSocketPath, onlyUpgrades(Unread.bounded(overWebSocket.httpEffect)))
  })
).pipe(Layer.provide([Handlers.layer, Authentication.layer, RpcSerialization.layerNdjson]))

const onlyUpgrades = <E, R>(upgrade: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    request.headers["upgrade"]?.toLowerCase() === "websocket"
      ? upgrade
      : Effect.succeed(HttpServerResponse.text("This address speaks WebSocket only.\n", { status: 426 }))
  )

const listenFailed = (host: string, port: number, cause: unknown) =>
  Effect.fail(
    new ListenFailed({ host, port, code: Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown" })
  )
