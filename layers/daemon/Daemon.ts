/**
 * The composition root: everything that a daemon is, as named layers, each on the ones below it. Nothing happens here.
 *
 * ```
 * server          routes, RPC, the endpoint file
 * runtime         conversations; tools and channels; agents; registries and models; repositories
 * database        in the locked data directory
 * outbound        the way of tools to other hosts
 * foundation      settings, secrets, log, telemetry, platform
 * ```
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeDns from "@effect/platform-node/NodeDns"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Layer from "effect/Layer"
import type * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Transcriber from "../audio/Transcriber.ts"
import * as CommandLine from "../config/CommandLine.ts"
import * as Environment from "../config/Environment.ts"
import * as GifSearch from "../gif/GifSearch.ts"
import * as Outbound from "../http/Outbound.ts"
import * as Models from "../model/Models.ts"
import * as Log from "../observability/Log.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import * as Requests from "../openai/Requests.ts"
import * as HostProcess from "../process/HostProcess.ts"
import * as ProcessRunner from "../process/ProcessRunner.ts"
import * as AccessToken from "../rpc/AccessToken.ts"
import * as EndpointFile from "../rpc/EndpointFile.ts"
import * as Overview from "../rpc/Overview.ts"
import * as Server from "../rpc/Server.ts"
import * as Runtime from "../runtime/Runtime.ts"
import * as FileSearch from "../search/FileSearch.ts"
import * as Care from "../storage/Care.ts"
import * as Database from "../storage/Database.ts"
import * as DataDirectory from "../storage/DataDirectory.ts"
import * as Tools from "../tools/Tools.ts"
import * as PullChannels from "./PullChannels.ts"

export interface Options extends Surroundings {
  /** Instead of `[http].port`: 0 picks a free one. */
  readonly port?: number | undefined
  /** Tools beside the built-in ones, with the grants they need. They are there before the first conversation runs. */
  readonly tools?: Layer.Layer<never, ToolRegistry.RegisterError, Below>
}

interface Surroundings extends CommandLine.Place {
  /** Whether the log also goes to standard error. */
  readonly terminalLog: boolean
}

/** The services that tools may use. */
export type Below = Layer.Success<ReturnType<typeof below>>

/** A whole daemon, serving for as long as the layer lives. Its services stay visible, for programs that embed it. */
export const layer = (options: Options) =>
  server(options).pipe(
    Layer.provideMerge(Runtime.conversations),
    Layer.provideMerge(
      Layer.mergeAll(
        PullChannels.layer,
        Care.layer,
        HostProcess.layer,
        FileSearch.grant,
        Outbound.grant,
        Transcriber.grant,
        GifSearch.grant,
        Tools.layer,
        options.tools ?? Layer.empty
      )
    ),
    Layer.provideMerge(below(options))
  )

const below = (options: Surroundings) =>
  Runtime.agents.pipe(
    Layer.provideMerge(Layer.mergeAll(Transcriber.layer, GifSearch.layer)),
    Layer.provideMerge(Layer.mergeAll(Runtime.registries, Models.layer, ProcessRunner.layer)),
    Layer.provideMerge(Runtime.repositories),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Layer.provide(Outbound.layer, NodeDns.layer)),
    Layer.provideMerge(foundation(options))
  )

const server = (options: Options) =>
  EndpointFile.layer.pipe(
    Layer.provideMerge(Server.layer),
    Layer.provideMerge(Server.layerListening({ port: options.port })),
    Layer.provideMerge(Layer.mergeAll(AccessToken.layer, Overview.layer, Requests.layer))
  )

const foundation = (options: Surroundings) =>
  Telemetry.layer.pipe(
    Layer.provideMerge(Log.layer({ terminal: options.terminalLog })),
    Layer.provideMerge(DataDirectory.layerLocked),
    Layer.provideMerge(Log.layerTerminal({ terminal: options.terminalLog })),
    Layer.provideMerge(CommandLine.layer(options)),
    Layer.provideMerge(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
  )
