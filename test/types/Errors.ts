/** A handler fails with the failure its tool declares, and gives the success it declares. */
// @effect-diagnostics missingEffectError:off (the compiler itself refuses these, which is the point)
import * as Effect from "effect/Effect"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { Declared, Interruptible, Undeclared } from "./Given.ts"

export const undeclared = ToolRegistry.layer([Interruptible], {
  // @ts-expect-error a failure nobody declared
  interruptible: () => Effect.fail(new Undeclared())
  // instead: interruptible: () => Effect.fail(new Declared())
})

export const unfitting = ToolRegistry.layer([Interruptible], {
  // @ts-expect-error a success without one of its fields
  interruptible: () => Effect.succeed({ text: "" })
  // instead: interruptible: () => Effect.succeed({ text: "", lines: 0 })
})

export const used = Declared
