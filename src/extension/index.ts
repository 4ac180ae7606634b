/**
 * `troupe/extension`: what an addition is written against. Tools with their authorities, wrappers around all tools, channels,
 * and what happens inside the runtime.
 */
export * as Channels from "../channel/Channels.ts"
export * as Outbox from "../channel/Outbox.ts"
export * as Event from "../event/Event.ts"
export * as EventBus from "../event/EventBus.ts"
export * as FileError from "../file/FileError.ts"
export * as Workspace from "../file/Workspace.ts"
export * as Process from "../process/Process.ts"
export * as ProcessRunner from "../process/ProcessRunner.ts"
export * as Sandbox from "../process/Sandbox.ts"
export * as Capability from "../tool/Capability.ts"
export * as Registration from "../tool/Registration.ts"
export * as Tool from "../tool/Tool.ts"
export * as ToolContext from "../tool/ToolContext.ts"
export * as ToolError from "../tool/ToolError.ts"
export * as ToolRegistry from "../tool/ToolRegistry.ts"
