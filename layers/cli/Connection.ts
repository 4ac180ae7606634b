/** How the commands of the console find the daemon of a data directory. Nothing here imports the server. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RpcClientError } from "effect/rpc/RpcClientError"
import * as Schema from "effect/Schema"
import { unavailable } from "../../src/cli/CommandFailed.ts"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import * as Unreachable from "../../src/client/Unreachable.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import type { Endpoint } from "../../src/rpc/Endpoint.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as CommandLine from "../config/CommandLine.ts"
import * as AccessTokenLive from "../rpc/AccessToken.ts"
import * as EndpointReader from "../rpc/EndpointReader.ts"
import * as NodeHttpProtocol from "./NodeHttpProtocol.ts"
import * as DataDirectoryLive from "../storage/DataDirectory.ts"

/** What the client is called: noted with its decisions. */
const clientName = "console"

/** A client of the running daemon, one request per call; fails when there is none. */
export const layer = (place: CommandLine.Place) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const endpoint = yield* EndpointReader.read
      if (Option.isNone(endpoint)) {
        const { path } = yield* DataDirectory
        return yield* unavailable(
          `No daemon is running for the data directory ${path}.\nStart one with \`troupe\`, or choose another directory with --data-dir.`
        )
      }
      return clientLayer(endpoint.value, "layerHttp").pipe(Layer.provide(AccessTokenLive.layerExisting))
    })
  ).pipe(Layer.provide(DataDirectoryLive.layerExisting), Layer.provide(CommandLine.layerClient(place)))

/**
 * The daemon that runs, if one does. A file that a killed process left behind is no daemon; one that does not let us in, or
 * that takes the call and says nothing, is one, and fails as unavailable.
 */
export const running = Effect.gen(function* () {
  const endpoint = yield* EndpointReader.read
  if (Option.isNone(endpoint)) return Option.none<Endpoint>()
  const token = yield* Effect.option(Layer.build(AccessTokenLive.layerExisting))
  if (Option.isNone(token)) return Option.none<Endpoint>()
  return yield* TroupeClient.TroupeClient.pipe(
    Effect.flatMap((client) => client.Status()),
    Effect.provide(clientLayer(endpoint.value, "layerHttp").pipe(Layer.provide(Layer.succeedContext(token.value)))),
    Effect.matchEffect({
      onSuccess: ({ incarnation }) =>
        Effect.succeed(Option.filter(endpoint, (found) => found.incarnation === incarnation)),
      onFailure: (error) =>
        isRpcClientError(error) && (Unreachable.isRefusal(error) || Unreachable.isSilence(error))
          ? Effect.fail(unavailable(explain(error)))
          : Effect.succeed(Option.none<Endpoint>())
    })
  )
}).pipe(Effect.scoped)

/**
 * Where the daemon of the data directory is now. One that was restarted may have another port; nothing is said to whoever
 * listens on the old one meanwhile.
 */
export const address = Effect.map(EndpointReader.read, (endpoint) =>
  Option.isSome(endpoint) ? endpoint.value.url : nowhere
)

/** Nobody can listen there: connecting fails at once. */
const nowhere = "http://127.0.0.1:0"

export const isRpcClientError = Schema.is(RpcClientError)

/** What a failed call means here, where the token is that of a data directory, and what to do about it. */
export const explain = (error: RpcClientError): string =>
  Unreachable.isTokenRefused(error) ? tokenRefused : Unreachable.explain(error)

const tokenRefused = [
  "The daemon does not accept the token of this data directory.",
  "Delete the file `token` in the data directory and restart the daemon, or set [http].auth_token to the same for both."
].join("\n")

/** A client for an endpoint, with the token of its data directory. */
export const clientLayer = (endpoint: Pick<TroupeClient.Options, "url">, kind: "layer" | "layerHttp") =>
  Layer.unwrap(
    Effect.map(AccessToken, ({ token }) => {
      const options = { url: endpoint.url, token, name: clientName }
      return kind === "layer"
        ? TroupeClient.layer(options)
        : TroupeClient.layerProtocol(options).pipe(Layer.provide(NodeHttpProtocol.layer(options)))
    })
  )
