/** A registry has one handler for each of its tools. */
import * as Effect from "effect/Effect"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { Atomic, Declared, found, Interruptible } from "./Given.ts"

const interruptible = () => Effect.succeed(found)
const atomic = () => Tool.atomic(Effect.succeed(found), () => new Declared())

// @ts-expect-error no handler for one of the tools
export const missing = ToolRegistry.layer([Interruptible, Atomic], { interruptible })
// instead: export const missing = ToolRegistry.layer([Interruptible, Atomic], { interruptible, atomic })

// @ts-expect-error a handler for no tool
export const tooMany = ToolRegistry.layer([Interruptible], { interruptible, atomic })
// instead: export const tooMany = ToolRegistry.layer([Interruptible], { interruptible })

// @ts-expect-error no handler for one of the tools, from an effect
export const missingFromEffect = ToolRegistry.layer([Interruptible, Atomic], Effect.succeed({ atomic }))
// instead: export const missingFromEffect = ToolRegistry.layer([Atomic], Effect.succeed({ atomic }))

// @ts-expect-error a handler for no tool, from an effect
export const tooManyFromEffect = ToolRegistry.layer([Interruptible], Effect.succeed({ interruptible, atomic }))
// instead: export const tooManyFromEffect = ToolRegistry.layer([Interruptible], Effect.succeed({ interruptible }))
