/**
 * The typed client of a running daemon. Every call of `TroupeRpcs` is a method under its own name; `watch` and
 * `sendAndWatch` follow a thread through cuts of the connection.
 *
 * Nothing imported here is server code or of one platform: it runs wherever there is `fetch` and `WebSocket`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as RpcClient from "effect/rpc/RpcClient"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Schedule from "effect/Schedule"
import * as Socket from "effect/socket/Socket"
import * as Stream from "effect/Stream"
import * as Payload from "../rpc/Payload.ts"
import { Authentication, type EdgeError, InvalidRequest, TroupeRpcs } from "../rpc/TroupeRpcs.ts"
import * as Wire from "../rpc/Wire.ts"
import type * as Entry from "../thread/Entry.ts"
import type * as Threads from "../thread/Threads.ts"
import * as History from "./History.ts"
import * as Refusal from "./Refusal.ts"
import * as Watch from "./Watch.ts"

/** Where the daemon is, and what lets one in. */
export interface Options {
  /**
   * As the daemon prints it: `http://127.0.0.1:7433`. Or an effect that finds it, for a daemon that may come back elsewhere:
   * it runs before every connection.
   */
  readonly url: string | Effect.Effect<string>
  readonly token: Redacted.Redacted
  /** What this program is called; noted with the decisions it sends. */
  readonly name?: string | undefined
}

type Rpcs = RpcClient.RpcClient<RpcGroup.Rpcs<typeof TroupeRpcs>, RpcClientError>

/** The calls that take something. */
type Taking = Exclude<keyof Rpcs, "Status" | "Held" | "Tools" | "ToolDefinitions" | "ShowConfig">

type PayloadOf<Tag extends Taking> = Parameters<Rpcs[Tag]>[0]

/**
 * All calls, as methods. Each can also fail with `RpcClientError`, when the daemon cannot be reached. What the daemon would refuse
 * (a blank text, a place below 1) fails with the same `InvalidRequest` here, and is not sent.
 */
export type Calls = Omit<Rpcs, Taking> & {
  readonly [Tag in Exclude<Taking, Streaming>]: (payload: PayloadOf<Tag>) => ReturnType<Rpcs[Tag]>
} & {
  readonly Watch: (payload: PayloadOf<"Watch">) => Watch.WatchStream
  readonly SendAndWatch: (payload: PayloadOf<"SendAndWatch">) => Watch.SentStream
}

type Streaming = "Watch" | "SendAndWatch"

/** What `Send` takes. */
export type Message = PayloadOf<"SendAndWatch">

export class TroupeClient extends Context.Service<
  TroupeClient,
  Calls & {
    /**
     * The log of a thread from `from` on, then what happens in it, for as long as it is consumed. After a cut it connects
     * again, with growing pauses, and goes on after the last entry it gave; `Live` items of the time between are lost.
     * The first connection is not tried again: a stream that never came up fails.
     */
    readonly watch: (options: Watch.Options) => Watch.WatchStream
    /**
     * The entries of a thread from `from` on, or the last `limit` ones, in pages that each fit into memory whatever was
     * said. Asks for a page when the one before has been used.
     */
    readonly history: (
      options: History.Options
    ) => Stream.Stream<ReadonlyArray<Entry.StoredEntry>, Threads.ThreadNotFound | EdgeError | RpcClientError>
    /**
     * Sends a message and follows its thread from the message on: first `Accepted`, then what `watch` gives, with all that is
     * `Live`, from the first event of its turn. Cuts after `Accepted` are survived as in `watch`; one before it fails, and
     * with an `externalId` the message can be sent again.
     */
    readonly sendAndWatch: (message: Message, options?: Watch.Cuts) => Watch.SentStream
  }
>()("troupe/client/TroupeClient") {}

/**
 * A client over a WebSocket: the better choice for anything that stays. It connects on the first call, and again after a
 * cut; calls made in between fail with `RpcClientError`.
 */
export const layer = (options: Options): Layer.Layer<TroupeClient> =>
  layerProtocol(options).pipe(
    Layer.provide(explaining(options)),
    Layer.provide(RpcClient.layerProtocolSocket({ retryPolicy: reconnect })),
    Layer.provide(
      Socket.layerWebSocket(Effect.map(urlOf(options), webSocketUrl), {
        protocols: Wire.subprotocols(Redacted.value(options.token)),
        openTimeout: "5 seconds"
      })
    ),
    Layer.provide([Socket.layerWebSocketConstructorGlobal, RpcSerialization.layerNdjson])
  )

/** A wrong token must not look like a daemon that is away. */
const explaining = (options: Options) =>
  Layer.effect(
    RpcClient.Protocol,
    Effect.map(Effect.all([RpcClient.Protocol, HttpClient.HttpClient]), ([protocol, http]) =>
      Refusal.explaining(
        protocol,
        Effect.flatMap(urlOf(options), (url) => Refusal.at(join(url, Wire.httpPath), options.token)).pipe(
          Effect.provideService(HttpClient.HttpClient, http)
        )
      )
    )
  ).pipe(Layer.provide(direct))

/** A daemon never redirects: who does is somebody else, and what was asked is not carried on from there. */
const direct = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

/** A client that makes one HTTP request per call: the quicker choice for one question. */
export const layerHttp = (options: Options): Layer.Layer<TroupeClient> =>
  layerProtocol(options).pipe(
    Layer.provide(
      Layer.effect(
        RpcClient.Protocol,
        Effect.flatMap(HttpClient.HttpClient, (client) =>
          RpcClient.makeProtocolHttp(
            client.pipe(
              HttpClient.mapRequestEffect((request) =>
                Effect.map(urlOf(options), (url) => HttpClientRequest.prependUrl(request, join(url, Wire.httpPath)))
              ),
              HttpClient.mapRequest(HttpClientRequest.bearerToken(options.token)),
              // A refused request has no messages in its body.
              HttpClient.filterStatusOk
            )
          )
        )
      )
    ),
    Layer.provide([direct, RpcSerialization.layerNdjson])
  )

/** A client over whatever transport is provided: for embedding programs and for tests. */
export const layerProtocol = (options: Options): Layer.Layer<TroupeClient, never, RpcClient.Protocol> =>
  Layer.effect(
    TroupeClient,
    Effect.map(RpcClient.make(TroupeRpcs, { disableTracing: true }), (rpcs) => {
      const calls = judgedCalls(rpcs)
      const sending = Watch.makeSending(calls.Watch)
      return TroupeClient.of({
        ...calls,
        watch: Watch.make(calls.Watch),
        sendAndWatch: (message, options = {}) => sending(calls.SendAndWatch(message), options),
        history: History.make(calls.History)
      })
    })
  ).pipe(Layer.provide(authenticated(options)))

/** Every call with its payload judged first: what the library makes of one that its schema refuses is a defect. */
const judgedCalls = (rpcs: Rpcs): Calls => ({
  ...rpcs,
  Send: judged("Send", (payload) => rpcs.Send(payload)),
  MessageState: judged("MessageState", (payload) => rpcs.MessageState(payload)),
  Stop: judged("Stop", (payload) => rpcs.Stop(payload)),
  Decide: judged("Decide", (payload) => rpcs.Decide(payload)),
  RevokeGrant: judged("RevokeGrant", (payload) => rpcs.RevokeGrant(payload)),
  Inspect: judged("Inspect", (payload) => rpcs.Inspect(payload)),
  Threads: judged("Threads", (payload) => rpcs.Threads(payload)),
  Thread: judged("Thread", (payload) => rpcs.Thread(payload)),
  History: judged("History", (payload) => rpcs.History(payload)),
  Release: judged("Release", (payload) => rpcs.Release(payload)),
  Watch: judgedStream("Watch", (payload) => rpcs.Watch(payload)),
  SendAndWatch: judgedStream("SendAndWatch", (payload) => rpcs.SendAndWatch(payload))
})

const judged =
  <Tag extends Exclude<Taking, Streaming>, A, E>(tag: Tag, call: (payload: PayloadOf<Tag>) => Effect.Effect<A, E>) =>
  (payload: PayloadOf<Tag>): Effect.Effect<A, E | InvalidRequest> =>
    Effect.suspend((): Effect.Effect<A, E | InvalidRequest> => {
      const problem = Payload.problemOf(tag, payload)
      return problem === undefined ? call(payload) : Effect.fail(new InvalidRequest({ problem }))
    })

const judgedStream =
  <Tag extends Streaming, A, E>(tag: Tag, call: (payload: PayloadOf<Tag>) => Stream.Stream<A, E>) =>
  (payload: PayloadOf<Tag>): Stream.Stream<A, E | InvalidRequest> =>
    Stream.suspend((): Stream.Stream<A, E | InvalidRequest> => {
      const problem = Payload.problemOf(tag, payload)
      return problem === undefined ? call(payload) : Stream.fail(new InvalidRequest({ problem }))
    })

const authenticated = (options: Options) =>
  RpcMiddleware.layerClient(Authentication, ({ next, request }) =>
    next({
      ...request,
      headers: Headers.setAll(request.headers, {
        authorization: `Bearer ${Redacted.value(options.token)}`,
        [Wire.clientHeader]: options.name ?? "rpc"
      })
    })
  )

/** Where to connect now. */
export const urlOf = ({ url }: Pick<Options, "url">): Effect.Effect<string> =>
  Effect.isEffect(url) ? url : Effect.succeed(url)

const webSocketUrl = (url: string): string => join(url.replace(/^http/i, "ws"), Wire.webSocketPath)

const join = (url: string, path: string): string => `${url.replace(/\/+$/, "")}${path}`

const reconnect = Schedule.min([Schedule.exponential("100 millis", 2), Schedule.spaced("3 seconds")])
