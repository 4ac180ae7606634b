/** Why a WebSocket does not open: it cannot say so itself, and a plain request to the same daemon can. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as Redacted from "effect/Redacted"
import type * as RpcClient from "effect/rpc/RpcClient"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import * as Unreachable from "./Unreachable.ts"

type Protocol = RpcClient.Protocol["Service"]

/** The same protocol: where the daemon refuses a connection, its calls fail with that, and not with a socket that did not open. */
export const explaining = (protocol: Protocol, refusal: Effect.Effect<RpcClientError | undefined>): Protocol => {
  const explained = (error: RpcClientError) =>
    error.reason._tag === "SocketOpenError" ? Effect.map(refusal, (refused) => refused ?? error) : Effect.succeed(error)
  return {
    ...protocol,
    run: (clientId, receive) =>
      protocol.run(clientId, (message) =>
        message._tag === "ClientProtocolError"
          ? Effect.flatMap(explained(message.error), (error) => receive({ ...message, error }))
          : receive(message)
      ),
    send: (clientId, request, transferables) =>
      Effect.catch(protocol.send(clientId, request, transferables), (error) =>
        Effect.flatMap(explained(error), Effect.fail)
      )
  }
}

/** The refusal that a request to this address gets, if it gets one. */
export const at = (
  url: string,
  token: Redacted.Redacted
): Effect.Effect<RpcClientError | undefined, never, HttpClient.HttpClient> =>
  HttpClient.execute(HttpClientRequest.bearerToken(HttpClientRequest.post(url), token)).pipe(
    Effect.timeout("2 seconds"),
    Effect.map(({ status }) =>
      Unreachable.refuses(status) || Unreachable.redirects(status) ? Unreachable.answered(status) : undefined
    ),
    Effect.orElseSucceed(() => undefined),
    Effect.scoped
  )
