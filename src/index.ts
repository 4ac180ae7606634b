/**
 * `troupe`: the contracts. One namespace per module; a live layer for each is in `troupe/layers`.
 *
 * The public entries (this file, `layers/index.ts`, `src/client/index.ts`, `src/extension/index.ts`,
 * `layers/testing/index.ts`) are the only files that re-export others.
 */
export * as Approvals from "./approval/Approvals.ts"
export * as Conversations from "./conversation/Conversations.ts"
export * as Event from "./event/Event.ts"
export * as EventBus from "./event/EventBus.ts"
export * as Ids from "./Ids.ts"
export * as Spill from "./spill/Spill.ts"
export * as Threads from "./thread/Threads.ts"
export * as Tool from "./tool/Tool.ts"
export * as ToolRegistry from "./tool/ToolRegistry.ts"
export * as ToolResult from "./tool/ToolResult.ts"
