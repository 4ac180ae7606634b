/**
 * Spill: an output too long for the model's context goes to a managed file, and the model gets its beginning and a
 * pointer that the read-back tools can open.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What the model gets in place of the output. */
export const Spilled = Schema.Struct({
  path: Schema.String,
  absolutePath: Schema.String,
  bytes: Schema.Int,
  preview: Schema.String
})
export type Spilled = typeof Spilled.Type

export class SpillFailed extends Schema.TaggedError<SpillFailed>()("SpillFailed", { reason: Schema.String }) {
  override get message() {
    return `The output could not be written to a file: ${this.reason}`
  }
}

export class Spill extends Context.Service<
  Spill,
  {
    /** Tools whose output is never moved, since they manage its size themselves. */
    readonly excluded: (tool: string) => boolean
    /** How many characters stay inline for a tool that asks for `maxChars`: never less than configured. */
    readonly inlineChars: (maxChars: number) => number
    /** Whether output can be moved in a turn with these tools: it is on, and one of them can read the file back. */
    readonly available: (tools: ReadonlyArray<string>) => boolean
    readonly write: (options: {
      readonly tool: string
      readonly content: string
      readonly extension: "json" | "txt"
    }) => Effect.Effect<Spilled, SpillFailed>
  }
>()("troupe/spill/Spill") {}
