/**
 * From the chunks of a chat completion to response parts.
 *
 * The reader is forgiving, since servers differ: fields may be absent or null, tool calls may come without index or
 * id, several calls may share one index or one id, arguments may be an object instead of text. What leaves here is
 * regular: blocks are opened and closed, every tool call has its own id, and calls come only once the server has said
 * how the answer finished, so that a half-received call is never mistaken for a whole one.
 */
import type * as Response from "effect/ai/Response"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Parts from "../../src/model/Parts.ts"
import * as Text from "../../src/model/Text.ts"
import * as ChatReasoning from "./ChatReasoning.ts"
import type { Collector, Part, Read } from "./OpenAi.ts"

const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const ToolCall = Schema.Struct({
  index: maybe(Schema.Number),
  id: maybe(Schema.String),
  function: maybe(Schema.Struct({ name: maybe(Schema.String), arguments: maybe(Schema.Unknown) }))
})

const Message = Schema.Struct({
  content: maybe(Schema.Union([Schema.String, Schema.Array(Schema.Struct({ text: maybe(Schema.String) }))])),
  refusal: maybe(Schema.String),
  reasoning: maybe(Schema.String),
  reasoning_content: maybe(Schema.String),
  reasoning_details: maybe(Schema.Array(Schema.Json)),
  tool_calls: maybe(Schema.Array(ToolCall))
})

const Tokens = maybe(Schema.Number)

const Usage = Schema.Struct({
  prompt_tokens: Tokens,
  completion_tokens: Tokens,
  prompt_cache_hit_tokens: Tokens,
  prompt_tokens_details: maybe(Schema.Struct({ cached_tokens: Tokens, cache_write_tokens: Tokens })),
  completion_tokens_details: maybe(Schema.Struct({ reasoning_tokens: Tokens }))
})

/** A chunk of a stream (`delta`), or a whole completion (`message`). */
const Chunk = Schema.Struct({
  id: maybe(Schema.String),
  model: maybe(Schema.String),
  created: maybe(Schema.Number),
  choices: maybe(
    Schema.Array(
      Schema.Struct({
        index: maybe(Schema.Number),
        delta: maybe(Message),
        message: maybe(Message),
        finish_reason: maybe(Schema.String)
      })
    )
  ),
  usage: maybe(Usage),
  /** Some gateways answer 200 and put the failure here. */
  error: maybe(Schema.Unknown)
})
type Chunk = typeof Chunk.Type

const decodeChunk = Schema.decodeUnknownOption(Chunk)

export const makeCollector = (options: {
  readonly origin: ChatReasoning.Origin
  /** Ids that must not be used again: those of the history. */
  readonly takenIds: Set<string>
  /** Start of the ids made for calls that come without a usable one. */
  readonly idBase: string
}): Collector => {
  const calls: Array<OpenCall> = []
  let metadataSent = false
  let open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined
  let blocks = 0
  let size = 0
  let reasoningField: ChatReasoning.Field = "reasoning"
  let details: Array<Schema.Json> = []
  let refused = false
  let finishReason: string | undefined
  let usage: typeof Usage.Type | undefined

  const closeBlock = (parts: Array<Part>) => {
    if (open === undefined) return
    parts.push(
      open.kind === "text"
        ? { type: "text-end", id: open.id }
        : {
            type: "reasoning-end",
            id: open.id,
            metadata: ChatReasoning.metadata(options.origin, reasoningField, details)
          }
    )
    if (open.kind === "reasoning") details = []
    open = undefined
  }

  const openBlock = (kind: "text" | "reasoning", parts: Array<Part>): string => {
    if (open?.kind === kind) return open.id
    closeBlock(parts)
    open = { kind, id: `${kind}_${++blocks}` }
    parts.push({ type: `${kind}-start`, id: open.id })
    return open.id
  }

  const onReasoning = (message: typeof Message.Type, parts: Array<Part>) => {
    const fromDetails = message.reasoning_details ?? []
    const text = message.reasoning_content || message.reasoning || fromDetails.map(detailText).join("")
    if (text === "" && fromDetails.length === 0) return
    reasoningField =
      fromDetails.length > 0 ? "reasoning_details" : message.reasoning_content ? "reasoning_content" : "reasoning"
    const id = openBlock("reasoning", parts)
    details.push(...fromDetails)
    size += text.length
    if (text !== "") parts.push({ type: "reasoning-delta", id, delta: text })
  }

  const onText = (text: string, parts: Array<Part>) => {
    size += text.length
    if (text !== "") parts.push({ type: "text-delta", id: openBlock("text", parts), delta: text })
  }

  const onToolCall = (delta: typeof ToolCall.Type, position: number, parts: Array<Part>) => {
    const name = delta.function?.name ?? ""
    const found = findCall(calls, delta, position)
    if (found === undefined) size += costOfCall
    const call = found ?? startCall(calls, delta, position, options)
    if (call.name === "" && name !== "") {
      call.name = name
      closeBlock(parts)
      parts.push({ type: "tool-params-start", id: call.id, name })
    }
    const text = delta.function?.arguments ?? ""
    size += typeof text === "string" ? text.length : JSON.stringify(text).length
    if (typeof text !== "string") call.value = text
    else if (text !== "") {
      call.text += text
      if (call.name !== "") parts.push({ type: "tool-params-delta", id: call.id, delta: text })
    }
  }

  const take = (chunk: Chunk): Array<Part> => {
    const parts: Array<Part> = []
    if (chunk.usage) usage = chunk.usage
    for (const choice of chunk.choices ?? []) {
      if ((choice.index ?? 0) !== 0) continue
      const message = choice.delta ?? choice.message
      if (message) {
        onReasoning(message, parts)
        onText(contentText(message.content), parts)
        if (message.refusal) {
          refused = true
          onText(message.refusal, parts)
        }
        const whole = choice.message !== undefined
        message.tool_calls?.forEach((call, position) =>
          onToolCall(whole ? { ...call, index: position } : call, position, parts)
        )
      }
      if (choice.finish_reason) finishReason = choice.finish_reason
    }
    if (metadataSent || parts.length === 0) return parts
    metadataSent = true
    return [responseMetadata(chunk), ...parts]
  }

  return {
    push: (event): Read => {
      const chunk = Option.getOrUndefined(decodeChunk(event))
      if (chunk === undefined) return { _tag: "Unreadable" }
      return chunk.error ? { _tag: "Failed", error: chunk.error } : { _tag: "Parts", parts: take(chunk) }
    },
    size: () => size,
    state: () => (finishReason === undefined ? "open" : "finished"),
    close: () => {
      if (finishReason === undefined) return Option.none()
      const parts: Array<Part> = []
      closeBlock(parts)
      for (const call of calls) {
        if (call.name !== "") parts.push({ type: "tool-params-end", id: call.id })
        parts.push({ type: "tool-call", id: call.id, name: call.name || "unknown_tool", params: paramsOf(call) })
      }
      parts.push({
        type: "finish",
        reason: refused ? "content-filter" : readFinishReason(finishReason, calls.length > 0),
        usage: readUsage(usage)
      })
      return Option.some(parts)
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tool calls

/** What a call counts, in characters, besides its arguments. It bounds their number. */
const costOfCall = 1000

interface OpenCall {
  readonly index: number
  /** Id the server gave, "" when it gave none yet. */
  readonly given: string
  /** Our id: the server's when it is usable. */
  readonly id: string
  name: string
  text: string
  /** Arguments that came as a value instead of text. */
  value: unknown
}

/** The call a delta continues. A new id together with a name starts another call, even under an index already used. */
const findCall = (
  calls: ReadonlyArray<OpenCall>,
  delta: typeof ToolCall.Type,
  position: number
): OpenCall | undefined => {
  const id = delta.id ?? ""
  const startsAnother = (call: OpenCall) => id !== "" && id !== call.given && (delta.function?.name ?? "") !== ""
  if (typeof delta.index === "number") {
    const call = calls.findLast((candidate) => candidate.index === delta.index)
    return call === undefined || startsAnother(call) ? undefined : call
  }
  if (id !== "") return calls.findLast((candidate) => candidate.given === id)
  const startsNew = (delta.function?.name ?? "") !== ""
  return startsNew ? undefined : (calls.at(-1) ?? calls[position])
}

const startCall = (
  calls: Array<OpenCall>,
  delta: typeof ToolCall.Type,
  position: number,
  options: { readonly takenIds: Set<string>; readonly idBase: string }
): OpenCall => {
  const given = delta.id ?? ""
  const usable = usableId.test(given) && !options.takenIds.has(given)
  const id = Parts.uniqueId(usable ? given : `${options.idBase}_${calls.length + 1}`, options.takenIds)
  const call: OpenCall = { index: delta.index ?? position, given, id, name: "", text: "", value: undefined }
  calls.push(call)
  return call
}

const usableId = /^[A-Za-z0-9_-]{1,64}$/

/** The text as the model wrote it: parsing would hide duplicate keys and the like. Only some servers send a value. */
const paramsOf = (call: OpenCall): unknown => call.value ?? Text.clean(call.text)

// ---------------------------------------------------------------------------------------------------------------------
// Reading fields

const contentText = (content: (typeof Message.Type)["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")

const decodeDetail = Schema.decodeUnknownOption(
  Schema.Struct({ text: maybe(Schema.String), summary: maybe(Schema.String) })
)

const detailText = (detail: Schema.Json): string =>
  Option.match(decodeDetail(detail), { onNone: () => "", onSome: ({ summary, text }) => text ?? summary ?? "" })

const responseMetadata = (chunk: Chunk): Part => ({
  type: "response-metadata",
  ...(chunk.id ? { id: chunk.id } : {}),
  ...(chunk.model ? { modelId: chunk.model } : {}),
  ...Option.match(DateTime.make((chunk.created ?? 0) * 1000), {
    onNone: () => ({}),
    onSome: (time) => (chunk.created ? { timestamp: DateTime.formatIso(time) } : {})
  })
})

const readFinishReason = (reason: string, calledTools: boolean): Response.FinishReason => {
  switch (reason) {
    case "length":
    case "max_tokens":
      return "length"
    case "content_filter":
      return "content-filter"
    case "error":
      return "error"
    case "tool_calls":
    case "function_call":
      return "tool-calls"
    case "stop":
    case "eos":
    case "end_turn":
      // Several servers say "stop" after a tool call.
      return calledTools ? "tool-calls" : "stop"
    default:
      return "other"
  }
}

const readUsage = (usage: typeof Usage.Type | undefined): Response.FinishPartEncoded["usage"] => {
  const input = count(usage?.prompt_tokens)
  const output = count(usage?.completion_tokens)
  const cacheRead = count(usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens)
  const reasoning = count(usage?.completion_tokens_details?.reasoning_tokens)
  return {
    inputTokens: {
      total: input,
      cacheRead,
      cacheWrite: count(usage?.prompt_tokens_details?.cache_write_tokens),
      uncached: minus(input, cacheRead)
    },
    outputTokens: { total: output, reasoning, text: minus(output, reasoning) }
  }
}

const count = (value: number | null | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

const minus = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : Math.max(0, total - (part ?? 0))
