/**
 * From the chunks of a chat completion to response parts.
 *
 * The reader is forgiving, since servers differ: fields may be absent or null, tool calls may come without index or
 * id, several calls may share one index or one id, arguments may be an object instead of text. What leaves here is
 * regular: blocks are opened and closed, every tool call has its own id, and calls come only once the server has said
 * how the answer finished, so that a half-received call is never mistaken for a whole one.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Origin from "../../src/model/Origin.ts"
import * as Answers from "./Answers.ts"
import { maybe, Tokens } from "./Answers.ts"
import type { Collector, Part, Read } from "./Answers.ts"
import * as ChatReasoning from "./ChatReasoning.ts"

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

export const makeCollector = (options: Answers.Ids & { readonly origin: Origin.Origin }): Collector => {
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
    if (found === undefined) size += Answers.costOfBlock
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
    return [Answers.metadata(chunk), ...parts]
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
      for (const call of calls) parts.push(...Answers.closeCall(call))
      parts.push({
        type: "finish",
        reason: refused ? "content-filter" : Answers.finishReason(finishReason, calls.length > 0),
        usage: readUsage(usage)
      })
      return Option.some(parts)
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tool calls

interface OpenCall extends Answers.Call {
  readonly index: number
  /** Id the server gave, "" when it gave none yet. */
  readonly given: string
  name: string
  text: string
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
  ids: Answers.Ids
): OpenCall => {
  const given = delta.id ?? ""
  const id = Answers.callId(given, calls.length + 1, ids)
  const call: OpenCall = { index: delta.index ?? position, given, id, name: "", text: "", value: undefined }
  calls.push(call)
  return call
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading fields

const contentText = (content: (typeof Message.Type)["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")

const decodeDetail = Schema.decodeUnknownOption(
  Schema.Struct({ text: maybe(Schema.String), summary: maybe(Schema.String) })
)

const detailText = (detail: Schema.Json): string =>
  Option.match(decodeDetail(detail), { onNone: () => "", onSome: ({ summary, text }) => text ?? summary ?? "" })

const readUsage = (usage: typeof Usage.Type | undefined) =>
  Answers.usage({
    input: usage?.prompt_tokens,
    output: usage?.completion_tokens,
    cacheRead: usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens,
    cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens
  })
