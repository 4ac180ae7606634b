/**
 * What the answers of both protocols have in common: counts of tokens, why an answer ended, and calls, whose ids and
 * arguments servers spell in every way there is.
 */
import type * as Response from "effect/ai/Response"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Parts from "../../src/model/Parts.ts"
import * as Text from "../../src/model/Text.ts"
import * as ToolName from "../../src/tool/ToolName.ts"

export type Part = Response.StreamPartEncoded

/** What an event was. */
export type Read =
  | { readonly _tag: "Parts"; readonly parts: Array<Part> }
  /** The provider reports this error. */
  | { readonly _tag: "Failed"; readonly error: unknown }
  /** It is none of the protocol. */
  | { readonly _tag: "Unreadable" }

/** Collects one answer. Not for sharing: it holds the state of one stream. */
export interface Collector {
  readonly push: (event: unknown) => Read
  /** `finished`: the server has said how the answer ended, and only details can follow; `complete`: nothing can. */
  readonly state: () => "open" | "finished" | "complete"
  /** Characters so far: text, reasoning and arguments, and a little for each block. */
  readonly size: () => number
  /** The closing parts, or none when the server never said how the answer ended. */
  readonly close: () => Option.Option<Array<Part>>
}

/** A field that may be absent or null. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The part that says which answer this is; `created` is in seconds since 1970. */
export const metadata = (answer: {
  readonly id?: string | null | undefined
  readonly model?: string | null | undefined
  readonly created?: number | null | undefined
}): Part => ({
  type: "response-metadata",
  ...(answer.id ? { id: answer.id } : {}),
  ...(answer.model ? { modelId: answer.model } : {}),
  ...Option.match(DateTime.make((answer.created ?? 0) * 1000), {
    onNone: () => ({}),
    onSome: (time) => (answer.created ? { timestamp: DateTime.formatIso(time) } : {})
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// Calls

/** What a call or another block counts, in characters, besides what it says. It bounds their number. */
export const costOfBlock = 1000

/** The ids of the calls of one answer. */
export interface Ids {
  /** Ids that must not be used again: those of the history, and those of the answer so far. */
  readonly takenIds: Set<string>
  /** Start of the ids made for calls that come without a usable one. */
  readonly idBase: string
}

/** The id for the call number `number`: the one that the server gave where it is usable. */
export const callId = (given: string, number: number, { idBase, takenIds }: Ids): string => {
  const usable = usableId.test(given) && !takenIds.has(given)
  return Parts.uniqueId(usable ? given : `${idBase}_${number}`, takenIds)
}

const usableId = /^[A-Za-z0-9_-]{1,64}$/

/** A call as it was when the answer was over. */
export interface Call {
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them: parsing would hide duplicate keys and the like. */
  readonly text: string
  /** Arguments that came as a value instead of text, as some servers send them. */
  readonly value: unknown
}

/** The parts that end a call. */
export const closeCall = (
  { id, name, text, value }: Call,
  metadata: Response.ToolCallPartEncoded["metadata"] = {}
): ReadonlyArray<Part> => [
  ...(name === "" ? [] : [{ type: "tool-params-end", id } as const]),
  { type: "tool-call", id, name: name || ToolName.unknown, params: value ?? Text.clean(text), metadata }
]

// ---------------------------------------------------------------------------------------------------------------------
// Why it ended

const reasons: ReadonlyMap<string, Response.FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["end_turn", "stop"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  ["content_filter", "content-filter"],
  ["error", "error"]
])

/** The server's word for why an answer ended; `other` for a word that nobody knows. */
export const finishReason = (word: string, called: boolean): Response.FinishReason => {
  const reason = reasons.get(word) ?? "other"
  // Several servers say "stop" after a call.
  return reason === "stop" && called ? "tool-calls" : reason
}

// ---------------------------------------------------------------------------------------------------------------------
// What it took

export const Tokens = maybe(Schema.Number)

interface Counts {
  readonly input: typeof Tokens.Type | undefined
  readonly output: typeof Tokens.Type | undefined
  /** Of the input. */
  readonly cacheRead: typeof Tokens.Type | undefined
  readonly cacheWrite?: typeof Tokens.Type | undefined
  /** Of the output. */
  readonly reasoning: typeof Tokens.Type | undefined
}

/** What cannot be a count is as good as not said. */
export const usage = (counts: Counts): Response.FinishPartEncoded["usage"] => {
  const input = count(counts.input)
  const output = count(counts.output)
  const cacheRead = count(counts.cacheRead)
  const reasoning = count(counts.reasoning)
  return {
    inputTokens: { total: input, cacheRead, cacheWrite: count(counts.cacheWrite), uncached: minus(input, cacheRead) },
    outputTokens: { total: output, reasoning, text: minus(output, reasoning) }
  }
}

const count = (value: number | null | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

const minus = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : Math.max(0, total - (part ?? 0))
