/**
 * `troupe`: the contracts. One namespace per module; a live layer for each is in `troupe/layers`.
 *
 * The public entries (this file, `layers/index.ts`, `src/client/index.ts`, `src/extension/index.ts`,
 * `layers/testing/index.ts`) are the only files that re-export others.
 */
export * as Agents from "./agent/Agents.ts"
export * as SystemPrompt from "./agent/SystemPrompt.ts"
export * as Approvals from "./approval/Approvals.ts"
export * as Channels from "./channel/Channels.ts"
export * as Outbox from "./channel/Outbox.ts"
export * as ConfigError from "./config/ConfigError.ts"
export * as Environment from "./config/Environment.ts"
export * as Settings from "./config/Settings.ts"
export * as Conversations from "./conversation/Conversations.ts"
export * as Journal from "./conversation/Journal.ts"
export * as Event from "./event/Event.ts"
export * as EventBus from "./event/EventBus.ts"
export * as Ids from "./Ids.ts"
export * as ModelError from "./model/ModelError.ts"
export * as Models from "./model/Models.ts"
export * as Spill from "./spill/Spill.ts"
export * as DataDirectory from "./storage/DataDirectory.ts"
export * as StorageError from "./storage/StorageError.ts"
export * as Entry from "./thread/Entry.ts"
export * as Threads from "./thread/Threads.ts"
export * as Capability from "./tool/Capability.ts"
export * as Registration from "./tool/Registration.ts"
export * as Tool from "./tool/Tool.ts"
export * as ToolCalls from "./tool/ToolCalls.ts"
export * as ToolContext from "./tool/ToolContext.ts"
export * as ToolError from "./tool/ToolError.ts"
export * as ToolRegistry from "./tool/ToolRegistry.ts"
export * as ToolResult from "./tool/ToolResult.ts"
