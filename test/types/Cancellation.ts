/** An interruptible tool returns an effect that can be interrupted, an atomic one says how it ends by itself. */
// @effect-diagnostics missingEffectError:off (the compiler itself refuses these, which is the point)
import * as Effect from "effect/Effect"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { Atomic, Declared, found, Interruptible, Undeclared } from "./Given.ts"

export const stubborn = ToolRegistry.layer([Interruptible], {
  // @ts-expect-error an uninterruptible effect for an interruptible tool
  interruptible: () => Tool.atomic(Effect.succeed(found), () => new Declared())
  // instead: interruptible: () => Effect.succeed(found)
})

export const torn = ToolRegistry.layer([Atomic], {
  // @ts-expect-error an atomic tool whose caller could interrupt it half way
  atomic: () => Effect.succeed(found)
  // instead: atomic: () => Tool.atomic(Effect.succeed(found), () => new Declared())
})

export const late = ToolRegistry.layer([Atomic], {
  // @ts-expect-error a failure at its deadline that nobody declared
  atomic: () => Tool.atomic(Effect.succeed(found), () => new Undeclared())
  // instead: atomic: () => Tool.atomic(Effect.succeed(found), () => new Declared())
})

export const used = [Declared, Undeclared]
