/**
 * The runtime: everything between a channel and a model, as one layer. The daemon adds the process around it (configuration
 * file, data directory, tools, models, RPC server); a program that embeds Troupe provides its own.
 */
import * as Layer from "effect/Layer"
import * as EventBus from "../../src/event/EventBus.ts"
import * as Agents from "../agent/Agents.ts"
import * as SystemPrompt from "../agent/SystemPrompt.ts"
import * as ApprovalRows from "../approval/ApprovalRows.ts"
import * as Approvals from "../approval/Approvals.ts"
import * as Attachments from "../attachment/Attachments.ts"
import * as Channels from "../channel/Channels.ts"
import * as Deliveries from "../channel/Deliveries.ts"
import * as FormatRepair from "../channel/FormatRepair.ts"
import * as Outbox from "../channel/Outbox.ts"
import * as ConversationActor from "../conversation/ConversationActor.ts"
import * as Conversations from "../conversation/Conversations.ts"
import * as Held from "../conversation/Held.ts"
import * as Journal from "../conversation/Journal.ts"
import * as SingleProcess from "../conversation/SingleProcess.ts"
import * as Sweep from "../conversation/Sweep.ts"
import * as TurnSlots from "../conversation/TurnSlots.ts"
import * as Workspace from "../file/Workspace.ts"
import * as Ledger from "../ledger/Ledger.ts"
import * as PatchFiles from "../patch/PatchFiles.ts"
import * as MemoryGrant from "../memory/MemoryGrant.ts"
import * as Notes from "../memory/Notes.ts"
import * as Undo from "../ledger/Undo.ts"
import * as Policy from "../policy/Policy.ts"
import * as Spill from "../spill/Spill.ts"
import * as Threads from "../thread/Threads.ts"
import * as Grants from "../tool/Grants.ts"
import * as PolicyPatterns from "../tool/PolicyPatterns.ts"
import * as ToolCalls from "../tool/ToolCalls.ts"
import * as ToolRegistry from "../tool/ToolRegistry.ts"
import * as TurnRunner from "../turn/TurnRunner.ts"

/** What is written and read. Needs the store and the settings. */
export const repositories = Held.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Threads.layer,
      Journal.layer,
      Outbox.layer,
      Attachments.layer,
      Notes.layer,
      Ledger.layer,
      ApprovalRows.layer
    )
  )
)

/** What tools, channels and extensions register with, before any conversation runs. */
export const registries = Layer.mergeAll(EventBus.EventBus.layer, Channels.layer, Grants.layer, ToolRegistry.layer)

/**
 * The managed files, and the capabilities to work with them and with those that patches change. Needs the settings, the data
 * directory and the registries.
 */
const files = Layer.provideMerge(Layer.merge(Workspace.grants, PatchFiles.grants), Workspace.layer)

/**
 * The agents, the one pipeline their tool calls go through, what it grants them, and what undoes their changes of files. Needs the
 * registries and the repositories.
 */
export const agents = Layer.mergeAll(Agents.layer, ToolCalls.layer, MemoryGrant.layer, Undo.layer).pipe(
  Layer.provideMerge(Layer.merge(Approvals.layer, Policy.layer)),
  Layer.provide(Spill.layer),
  Layer.provideMerge(files)
)

/**
 * The conversations: actors, the sweep that wakes them, and the deliveries of their replies. Needs everything above, models,
 * and the tools, so that no turn begins before its tools are there.
 */
export const conversations = Conversations.layer.pipe(
  Layer.provide(Sweep.layer),
  Layer.provide(ConversationActor.layer),
  Layer.provide(TurnRunner.layer),
  Layer.provide(SystemPrompt.layer),
  Layer.provideMerge(TurnSlots.layer),
  Layer.provideMerge(
    Layer.mergeAll(SingleProcess.layer, Layer.provide(Deliveries.layer, FormatRepair.layer), PolicyPatterns.layer)
  )
)
