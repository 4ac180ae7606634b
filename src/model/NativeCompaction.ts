/**
 * Histories that their provider has made shorter itself: opaque items, which stand for what was said before and which nobody
 * but the same model of the same provider can read.
 */
import type * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Origin from "./Origin.ts"

/** What the provider gave, and the tokens that this took; 0 where it counts none. */
export interface Compacted {
  readonly items: ReadonlyArray<Schema.Json>
  readonly inputTokens: number
  readonly outputTokens: number
}

/**
 * Asks the provider for what stands for the whole of a history. Fails like any other request, and also when what comes back is
 * no shorter.
 */
export type Compact = (prompt: Prompt.Prompt) => Effect.Effect<Compacted, AiError.AiError>

const key = "troupe"
const Tag = Schema.Struct({ ...Origin.fields, compacted: Schema.Array(Schema.Json) })

/** The message that holds the place of the items in a prompt. Only the adapter of their provider makes something of it. */
export const message = (
  { model, provider }: Origin.Origin,
  items: ReadonlyArray<Schema.Json>
): Prompt.AssistantMessage =>
  Prompt.assistantMessage({
    content: [Prompt.textPart({ text: "(What was said before, as the provider has compacted it.)" })],
    options: { [key]: { provider, model, compacted: items } }
  })

/** The items in whose place a message stands, for a reader that made them itself. */
export const itemsOf = (
  { options }: Prompt.AssistantMessage,
  reader: Origin.Origin
): ReadonlyArray<Schema.Json> | undefined =>
  Option.getOrUndefined(
    Option.map(
      Option.filter(decode(options[key]), (tag) => Origin.same(tag, reader)),
      ({ compacted }) => compacted
    )
  )

const decode = Schema.decodeUnknownOption(Tag)
