/**
 * The parts of a model response: gathered from a stream into what the journal keeps, and put together again for the model
 * that wrote them. Pure.
 *
 * Providers give their parts metadata (signatures, encrypted reasoning, ids of their own) and want to see it again with the
 * same parts in the same order. Nobody else does: other models refuse what they did not write.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Entry from "../thread/Entry.ts"

/** Metadata of a part, by the name of who reads it. */
export type Metadata = Prompt.ProviderOptions

type AssistantEntry = Extract<Entry.Entry, { _tag: "AssistantMessage" }>

/** What the journal keeps of a response, but for its calls. */
export type Kept = Pick<AssistantEntry, "text" | "reasoning" | "parts" | "metadata">

interface Block {
  readonly kind: Entry.ResponsePart["kind"]
  readonly id: string
  text: string
  metadata: Metadata
}

/** Takes in the parts of one stream. Not for sharing. */
export interface Gatherer {
  /** A piece of text or reasoning, or only metadata for it. Gives how much of the kind came before. */
  readonly add: (kind: "text" | "reasoning", id: string, delta: string, metadata: Metadata) => number
  readonly call: (metadata: Metadata) => void
  /** Metadata for the whole response. */
  readonly whole: (metadata: Metadata) => void
  readonly kept: () => Kept
}

export const gather = (): Gatherer => {
  const blocks: Array<Block> = []
  const open = new Map<string, Block>()
  const chars = { text: 0, reasoning: 0 }
  let response: Metadata = {}
  return {
    add: (kind, id, delta, metadata) => {
      const key = `${kind}:${id}`
      let block = open.get(key)
      if (block === undefined) {
        block = { kind, id, text: "", metadata: {} }
        open.set(key, block)
        blocks.push(block)
      }
      block.text += delta
      block.metadata = merge(block.metadata, metadata)
      const before = chars[kind]
      chars[kind] += delta.length
      return before
    },
    call: (metadata) => {
      blocks.push({ kind: "call", id: "", text: "", metadata })
    },
    whole: (metadata) => {
      response = merge(response, metadata)
    },
    kept: () => keep(blocks, response)
  }
}

const keep = (gathered: ReadonlyArray<Block>, response: Metadata): Kept => {
  const blocks = gathered.filter(({ kind, metadata, text }) => kind === "call" || text !== "" || !isEmpty(metadata))
  return {
    text: textOf(blocks, "text").join(""),
    reasoning: blocks.flatMap(({ kind, metadata, text }) =>
      kind === "reasoning" ? [{ text, ...withMetadata(metadata) }] : []
    ),
    ...(isPlain(blocks) ? {} : { parts: blocks.map(partOf) }),
    ...withMetadata(response)
  }
}

const textOf = (blocks: ReadonlyArray<Block>, wanted: Block["kind"]): ReadonlyArray<string> =>
  blocks.flatMap(({ kind, text }) => (kind === wanted ? [text] : []))

const withMetadata = (metadata: Metadata): { readonly metadata?: Metadata } => (isEmpty(metadata) ? {} : { metadata })

const partOf = ({ kind, metadata, text }: Block): Entry.ResponsePart =>
  kind === "reasoning"
    ? { kind }
    : { kind, ...(kind === "text" ? { chars: text.length } : {}), ...withMetadata(metadata) }

/** The usual response needs no list: reasoning, then one text, then calls, with nothing said about text and calls. */
const isPlain = (blocks: ReadonlyArray<Block>): boolean => {
  const places = blocks.map(({ kind }) => order[kind])
  return (
    textOf(blocks, "text").length < 2 &&
    places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0)) &&
    blocks.every(({ kind, metadata }) => kind === "reasoning" || isEmpty(metadata))
  )
}

const order = { reasoning: 0, text: 1, call: 2 }

const isEmpty = (metadata: Metadata): boolean => Object.keys(metadata).length === 0

/** What came later wins, field by field below the name of the reader. */
const merge = (before: Metadata, after: Metadata): Metadata => {
  const merged = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(after)) {
    const had = merged.get(name)
    merged.set(name, isJsonObject(had) && isJsonObject(value) ? { ...had, ...value } : value)
  }
  return Object.fromEntries(merged)
}

const isJsonObject = (value: Schema.Json | null | undefined): value is Schema.JsonObject =>
  Predicate.isObject(value) && !Array.isArray(value)

// ---------------------------------------------------------------------------------------------------------------------
// Back to the model

/** How the pieces of a response become parts of a prompt. */
export interface Rendering {
  /** Makes text fit to be sent. */
  readonly clean: (text: string) => string
  readonly call: (call: Entry.ToolCallRequest, metadata: Metadata) => Prompt.ToolCallPart
}

/** The parts for any model: text and calls. `calls` may be fewer than those of the entry. */
export const restore = (
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  { call, clean }: Rendering
): ReadonlyArray<Prompt.AssistantMessagePart> => [
  ...textPart(clean(entry.text), {}),
  ...calls.map((made) => call(made, {}))
]

/** The parts as their own model wrote them, with reasoning and metadata. */
export const restoreOwn = (
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  rendering: Rendering
): ReadonlyArray<Prompt.AssistantMessagePart> => {
  const { parts } = entry
  if (parts !== undefined && fits(parts, entry, calls)) return inOrder(parts, entry, calls, rendering)
  return [...entry.reasoning.flatMap((item) => reasoningPart(item, rendering)), ...restore(entry, calls, rendering)]
}

/** The metadata of an entry, for the message made of it. */
export const metadataOf = (entry: AssistantEntry): Metadata => read(entry.metadata)

const fits = (
  parts: ReadonlyArray<Entry.ResponsePart>,
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>
): boolean => {
  const count = (kind: Entry.ResponsePart["kind"]) => parts.filter((part) => part.kind === kind).length
  const chars = parts.reduce((sum, part) => sum + (part.kind === "text" ? Math.max(0, part.chars ?? 0) : 0), 0)
  return count("call") === calls.length && count("reasoning") === entry.reasoning.length && chars === entry.text.length
}

const inOrder = (
  parts: ReadonlyArray<Entry.ResponsePart>,
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  rendering: Rendering
): ReadonlyArray<Prompt.AssistantMessagePart> => {
  let at = 0
  let reasoned = 0
  let called = 0
  return parts.flatMap((part): ReadonlyArray<Prompt.AssistantMessagePart> => {
    switch (part.kind) {
      case "text": {
        const text = entry.text.slice(at, (at += Math.max(0, part.chars ?? 0)))
        return textPart(rendering.clean(text), read(part.metadata))
      }
      case "reasoning": {
        const item = entry.reasoning[reasoned++]
        return item === undefined ? [] : reasoningPart(item, rendering)
      }
      case "call": {
        const made = calls[called++]
        return made === undefined ? [] : [rendering.call(made, read(part.metadata))]
      }
    }
  })
}

const textPart = (text: string, options: Metadata): ReadonlyArray<Prompt.TextPart> =>
  text.trim() === "" ? [] : [Prompt.textPart({ text, options })]

/** Reasoning without metadata cannot be recognised by anybody, and would be read as something it is not. */
const reasoningPart = (item: Entry.Reasoning, { clean }: Rendering): ReadonlyArray<Prompt.ReasoningPart> =>
  item.metadata === undefined ? [] : [Prompt.reasoningPart({ text: clean(item.text), options: read(item.metadata) })]

const decode = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.NullOr(Schema.Json)))

const read = (metadata: Schema.Json | undefined): Metadata => {
  const decoded = decode(metadata)
  return decoded._tag === "Some" ? decoded.value : {}
}
