/** What the refused programs beside this file start from. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Capability from "../../src/tool/Capability.ts"
import * as Tool from "../../src/tool/Tool.ts"

export class Declared extends Schema.TaggedError<Declared>()("Declared", {}) {
  readonly code = "test:declared"
  override readonly message = "declared"
}

export class Undeclared extends Schema.TaggedError<Undeclared>()("Undeclared", {}) {
  readonly code = "test:undeclared"
  override readonly message = "undeclared"
}

export class Reading extends Capability.Service<Reading, { readonly read: Effect.Effect<string> }>()("Reading") {}
export class Writing extends Capability.Service<Writing, { readonly write: Effect.Effect<string> }>()("Writing") {}

/** All that a tool must say except its limits and its replay rule. */
export const declaration = {
  description: "For the compiler only.",
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.Struct({ text: Schema.String, lines: Schema.Int }),
  failure: Declared,
  cancellation: "interruptible",
  capabilities: [Reading]
} as const

export const limits = { timeout: "30 seconds", output: { maxChars: 100 } } as const

export const Interruptible = Tool.make("interruptible", { ...declaration, limits, replay: "safe" })

export const Atomic = Tool.make("atomic", { ...declaration, limits, replay: "unknown", cancellation: "atomic" })

export const found = { text: "", lines: 0 }
