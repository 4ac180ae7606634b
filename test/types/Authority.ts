/** A handler uses the capabilities its tool lists, and no other service. */
// The refusals here are the point, and Effect's own diagnostics would report each a second time.
// @effect-diagnostics missingEffectContext:off
import * as Effect from "effect/Effect"
import { EventBus } from "../../src/event/EventBus.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { found, Interruptible, Reading, Writing } from "./Given.ts"

export const another = ToolRegistry.layer([Interruptible], {
  // @ts-expect-error a capability that the tool does not list
  interruptible: () => Effect.as(Writing, found)
  // instead: interruptible: () => Effect.as(Reading, found)
})

export const service = ToolRegistry.layer([Interruptible], {
  // @ts-expect-error a service of the program
  interruptible: () => Effect.as(EventBus, found)
  // instead: interruptible: () => Effect.as(ToolCallContext, found)
})

export const used = [Reading, Writing, EventBus, ToolCallContext]
