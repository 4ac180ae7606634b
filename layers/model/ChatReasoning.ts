/**
 * Reasoning text in chat completions. The protocol has no agreed field for it, so each answer is tagged with the model
 * that wrote it and the field it came in; it is sent back under the same field, to the same model, and to nobody else:
 * other models refuse it or are confused by it.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Origin from "../../src/model/Origin.ts"
import * as Text from "../../src/model/Text.ts"

/** The fields seen in the wild. */
export const Field = Schema.Literals(["reasoning", "reasoning_content", "reasoning_details"])
export type Field = typeof Field.Type

const key = "troupe"

const Tag = Schema.Struct({
  ...Origin.fields,
  field: Field,
  details: Schema.optionalKey(Schema.Array(Schema.Json))
})

/** Metadata for a reasoning part. `details` are the provider's own structures, to be returned untouched. */
export const metadata = (origin: Origin.Origin, field: Field, details: ReadonlyArray<Schema.Json>) => ({
  [key]: {
    provider: origin.provider,
    model: origin.model,
    field,
    ...(details.length === 0 ? {} : { details: [...mergeDetails(details)] })
  }
})

/**
 * Joins the pieces of a streamed structure: neighbours of one `type` and `index` are one structure, whose text fields
 * grow and whose other fields (signatures, ids) are taken from the last piece that has them.
 */
const mergeDetails = (pieces: ReadonlyArray<Schema.Json>): ReadonlyArray<Schema.Json> => {
  const merged: Array<Schema.Json> = []
  for (const piece of pieces) {
    const last = merged.at(-1)
    const joined = last === undefined ? undefined : joinDetails(last, piece)
    if (joined === undefined) merged.push(piece)
    else merged[merged.length - 1] = joined
  }
  return merged
}

const isRecord = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const growing = ["text", "summary", "data"]

const joinDetails = (last: Schema.Json, piece: Schema.Json): Schema.Json | undefined => {
  if (!isRecord(last) || !isRecord(piece)) return undefined
  if (typeof piece["index"] !== "number" || piece["index"] !== last["index"] || piece["type"] !== last["type"]) {
    return undefined
  }
  const grown = growing.flatMap((name) => {
    const before = last[name]
    const after = piece[name]
    return typeof before === "string" && typeof after === "string" ? [[name, before + after] as const] : []
  })
  const given = Object.entries(piece).filter(([, value]) => value !== null)
  return { ...last, ...Object.fromEntries(given), ...Object.fromEntries(grown) }
}

/** The reasoning fields of an assistant message to send to `target`. */
export const replay = (
  parts: ReadonlyArray<Prompt.AssistantMessagePart>,
  target: Origin.Origin
): {
  readonly reasoning?: string
  readonly reasoning_content?: string
  readonly reasoning_details?: ReadonlyArray<unknown>
} => {
  let text = ""
  let field: Field | undefined
  const details: Array<Schema.Json> = []
  for (const part of parts) {
    if (part.type !== "reasoning") continue
    const tag = decodeTag(part.options[key])
    if (Option.isNone(tag) || !Origin.same(tag.value, target)) continue
    text += part.text
    field = tag.value.field
    details.push(...(tag.value.details ?? []))
  }
  if (details.length > 0) return { reasoning_details: details }
  if (field === "reasoning_content") return { reasoning_content: Text.clean(text) }
  // Servers that validate strictly refuse this field; OpenRouter defines it.
  if (field === "reasoning" && target.provider === "openrouter") return { reasoning: Text.clean(text) }
  return {}
}

const decodeTag = Schema.decodeUnknownOption(Tag)
