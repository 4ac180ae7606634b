/**
 * The composition root: everything that a daemon is, as named layers, each on the ones below it. Nothing happens here.
 *
 * ```
 * server          routes, RPC, the endpoint file
 * conversations   actors and the sweep, on one process's cluster
 * agents          prompts, models, tools, turns
 * channels        console and rpc (read by their clients), outbox
 * store           threads, journal, on the database in the locked data directory
 * foundation      settings, secrets, log, platform
 * ```
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Redactor from "../../src/observability/Redactor.ts"
import * as Agents from "../agent/Agents.ts"
import * as SystemPrompt from "../agent/SystemPrompt.ts"
import * as Approvals from "../approval/Approvals.ts"
import * as Channels from "../channel/Channels.ts"
import * as Deliveries from "../channel/Deliveries.ts"
import * as Outbox from "../channel/Outbox.ts"
import * as CommandLine from "../config/CommandLine.ts"
import * as Environment from "../config/Environment.ts"
import * as ConversationActor from "../conversation/ConversationActor.ts"
import * as Conversations from "../conversation/Conversations.ts"
import * as Journal from "../conversation/Journal.ts"
import * as SingleProcess from "../conversation/SingleProcess.ts"
import * as Sweep from "../conversation/Sweep.ts"
import * as TurnSlots from "../conversation/TurnSlots.ts"
import * as Models from "../model/Models.ts"
import * as Log from "../observability/Log.ts"
import * as AccessToken from "../rpc/AccessToken.ts"
import * as EndpointFile from "../rpc/EndpointFile.ts"
import * as Overview from "../rpc/Overview.ts"
import * as Server from "../rpc/Server.ts"
import * as Spill from "../spill/Spill.ts"
import * as Database from "../storage/Database.ts"
import * as DataDirectory from "../storage/DataDirectory.ts"
import * as Threads from "../thread/Threads.ts"
import * as Grants from "../tool/Grants.ts"
import * as ToolCalls from "../tool/ToolCalls.ts"
import * as ToolRegistry from "../tool/ToolRegistry.ts"
import * as TurnRunner from "../turn/TurnRunner.ts"
import * as PullChannels from "./PullChannels.ts"

export interface Options extends CommandLine.Place {
  /** Instead of `[http].port`: 0 picks a free one. */
  readonly port?: number | undefined
  /** Whether the log also goes to standard error. */
  readonly terminalLog: boolean
}

/** A whole daemon, serving for as long as the layer lives. Its services stay visible, for programs that embed it. */
export const layer = (options: Options) =>
  server(options).pipe(
    Layer.provideMerge(conversations),
    Layer.provideMerge(agents),
    Layer.provideMerge(channels),
    Layer.provideMerge(store),
    Layer.provideMerge(foundation(options))
  )

const server = (options: Options) =>
  EndpointFile.layer.pipe(
    Layer.provideMerge(Server.layer),
    Layer.provideMerge(Server.layerListening({ port: options.port })),
    Layer.provideMerge(Layer.merge(AccessToken.layer, Overview.layer))
  )

const conversations = Sweep.layer.pipe(
  Layer.provideMerge(Conversations.layer),
  Layer.provideMerge(ConversationActor.layer),
  Layer.provideMerge(Layer.merge(TurnSlots.layer, SingleProcess.layer))
)

const agents = TurnRunner.layer.pipe(
  Layer.provideMerge(ToolCalls.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Agents.layer,
      SystemPrompt.layer,
      Models.layer,
      ToolRegistry.layer,
      Grants.layer,
      Approvals.layer,
      Spill.layer
    )
  )
)

const channels = Deliveries.layer.pipe(
  Layer.provideMerge(PullChannels.layer),
  Layer.provideMerge(Layer.mergeAll(Channels.layer, Outbox.layer, EventBus.layer))
)

const store = Layer.merge(Threads.layer, Journal.layer).pipe(Layer.provideMerge(Database.layer))

const foundation = (options: Options) =>
  Log.layer({ terminal: options.terminalLog }).pipe(
    Layer.provideMerge(DataDirectory.layerLocked),
    Layer.provideMerge(Log.layerTerminal({ terminal: options.terminalLog })),
    Layer.provideMerge(redactor),
    Layer.provideMerge(CommandLine.layer(options)),
    Layer.provideMerge(Layer.mergeAll(Environment.layer, NodeServices.layer, NodeCrypto.layer))
  )

const redactor = Layer.unwrap(Effect.map(Settings, (settings) => Redactor.Redactor.layer(Redactor.secretsIn(settings))))
