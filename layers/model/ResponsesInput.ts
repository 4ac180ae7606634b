/**
 * From an `effect/ai` prompt to the `input` of a Responses request.
 *
 * What the same model wrote goes back as the items it came in: reasoning with its encrypted content, in its place among
 * the calls it led to. What others wrote goes as plain text, calls and results.
 *
 * Where the provider keeps responses, only what came after its last one is sent. That one must stand in a history which is
 * still the one it answered; else everything is sent.
 */
import type * as Prompt from "effect/ai/Prompt"
import type { ModelInfo } from "../../src/model/ModelTable.ts"
import type * as Schema from "effect/Schema"
import * as NativeCompaction from "../../src/model/NativeCompaction.ts"
import type * as Origin from "../../src/model/Origin.ts"
import * as Text from "../../src/model/Text.ts"
import * as Fingerprint from "../Fingerprint.ts"
import type { Reliance } from "./OpenAi.ts"
import * as Tags from "./ResponsesTags.ts"
import * as Wire from "./Wire.ts"

/** One item as the protocol spells it. */
export type Item = Schema.Json | Readonly<Record<string, unknown>>

/** The model that will read the items. */
export interface Reader extends Origin.Origin {
  readonly info: Pick<ModelInfo, "images">
}

export interface Input {
  readonly instructions: string | undefined
  readonly items: ReadonlyArray<Item>
  /** The response that the items go on from. */
  readonly previousResponseId: string | undefined
  /** Fingerprint of everything up to now, whether it is sent or kept by the provider. */
  readonly fingerprint: string
}

/** Converts a prompt. `reliance`: how much of what the provider wrote may be built on; "kept" only where it keeps it. */
export const fromPrompt = (prompt: Prompt.Prompt, reader: Reader, reliance: Reliance): Input => {
  const instructions = Wire.systemText(prompt)
  const said = turns(prompt, reader, reliance !== "nothing")
  const from = reliance === "kept" ? lastKept(said, instructions, reader) : undefined
  const items = said.flatMap((turn) => turn.items)
  return {
    instructions,
    items: from === undefined ? items : said.slice(from.index + 1).flatMap((turn) => turn.items),
    previousResponseId: from?.responseId,
    fingerprint: fingerprint(instructions, items)
  }
}

/** A message and the items it becomes. */
interface Turn {
  readonly message: Prompt.Message
  readonly items: ReadonlyArray<Item>
}

const fingerprint = (instructions: string | undefined, items: ReadonlyArray<Item>): string =>
  Fingerprint.of(instructions ?? "", JSON.stringify(items))

/** The last response that the provider keeps, if all that it knows is still so. */
const lastKept = (said: ReadonlyArray<Turn>, instructions: string | undefined, reader: Reader) => {
  const index = said.findLastIndex(({ message }) => keptBy(message, reader) !== undefined)
  const message = said[index]?.message
  const tag = keptBy(message, reader)
  if (tag === undefined || message?.role !== "assistant") return undefined
  const before = said.slice(0, index).flatMap(({ items }) => items)
  const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
  const calls = message.content.filter(({ type }) => type === "tool-call").length
  return tag.before === fingerprint(instructions, before) && tag.said === Tags.said(text, calls)
    ? { index, responseId: tag.responseId }
    : undefined
}

const keptBy = (message: Prompt.Message | undefined, reader: Reader) =>
  message?.role === "assistant" ? Tags.keptOf(message.options, reader) : undefined

const turns = (prompt: Prompt.Prompt, reader: Reader, withReasoning: boolean): ReadonlyArray<Turn> => {
  /** The provider's ids of its calls, by those in the history. */
  const callIds = new Map<string, string>()
  return prompt.content.map((message): Turn => {
    switch (message.role) {
      case "system":
        return { message, items: [] }
      case "user":
        return { message, items: fromUser(message, reader) }
      case "assistant":
        return {
          message,
          items: NativeCompaction.itemsOf(message, reader) ?? fromAssistant(message, reader, callIds, withReasoning)
        }
      case "tool":
        return {
          message,
          items: message.content.flatMap((part) => (part.type === "tool-result" ? [fromResult(part, callIds)] : []))
        }
    }
  })
}

const fromUser = (message: Prompt.UserMessage, { info }: Reader): ReadonlyArray<Item> => {
  const content = message.content.flatMap((part): ReadonlyArray<Item> => {
    if (part.type === "file") return [fromFile(Wire.fileOf(part, info.images))]
    const text = Text.clean(part.text)
    return text.trim() === "" ? [] : [{ type: "input_text", text }]
  })
  return content.length === 0 ? [] : [{ role: "user", content }]
}

const fromFile = (file: Wire.File): Item => {
  switch (file.kind) {
    case "image":
      return { type: "input_image", image_url: file.url, detail: "auto" }
    case "document":
      return { type: "input_file", filename: file.name, file_data: file.url }
    default:
      return { type: "input_text", text: Wire.unseen(file) }
  }
}

const fromAssistant = (
  message: Prompt.AssistantMessage,
  reader: Reader,
  callIds: Map<string, string>,
  withReasoning: boolean
): ReadonlyArray<Item> => {
  const tags = message.content.map((part) => Tags.itemOf(part.options, reader))
  // The ids of a response stand for all of it: an item under its id, without the reasoning before it, is refused.
  const whole = message.content.every(
    ({ type }, index) => type !== "reasoning" || (withReasoning && canBeSent(tags[index]))
  )
  const placed = message.content.flatMap((part, index) => {
    const tag = tags[index]
    if (part.type === "tool-call" && tag?.callId !== undefined) callIds.set(part.id, tag.callId)
    const item = fromPart(part, tag, callIds, whole)
    return item === undefined ? [] : [{ item, place: tag?.place ?? index, own: tag !== undefined }]
  })
  // Calls are handed out last, whatever their place was; their reasoning must stand before them.
  const ordered = placed.every(({ own }) => own) ? placed.toSorted((a, b) => a.place - b.place) : placed
  return ordered.map(({ item }) => item)
}

/** `whole`: whether all the reasoning of its response is sent. */
const fromPart = (
  part: Prompt.AssistantMessagePart,
  tag: Tags.Item | undefined,
  callIds: ReadonlyMap<string, string>,
  whole: boolean
): Item | undefined => {
  const id = whole ? tag?.id : undefined
  switch (part.type) {
    case "text":
      return fromText(Text.clean(part.text), id, tag?.phase)
    case "reasoning":
      return whole && tag !== undefined ? fromReasoning(tag) : undefined
    case "tool-call":
      return {
        type: "function_call",
        ...(id === undefined ? {} : { id }),
        call_id: callIdOf(part.id, callIds),
        name: Wire.toolName(part.name),
        arguments: Wire.argumentsOf(part.params)
      }
    case "tool-result":
      return fromResult(part, callIds)
    default:
      return undefined
  }
}

const fromText = (text: string, id: string | undefined, phase: string | undefined): Item | undefined => {
  if (text.trim() === "") return undefined
  const marked = phase === undefined ? {} : { phase }
  if (id === undefined) return { role: "assistant", content: text, ...marked }
  return {
    type: "message",
    role: "assistant",
    id,
    status: "completed",
    ...marked,
    content: [{ type: "output_text", text, annotations: [] }]
  }
}

/** Reasoning without its content stands only for something that the provider would have to keep. */
const canBeSent = (tag: Tags.Item | undefined): boolean =>
  tag?.id !== undefined && (tag.encrypted !== undefined || tag.content !== undefined)

const fromReasoning = (tag: Tags.Item): Item => ({
  type: "reasoning",
  id: tag.id,
  summary: tag.summary ?? [],
  ...(tag.content === undefined ? {} : { content: tag.content }),
  ...(tag.encrypted === undefined ? {} : { encrypted_content: tag.encrypted })
})

const fromResult = (part: Prompt.ToolResultPart, callIds: ReadonlyMap<string, string>): Item => ({
  type: "function_call_output",
  call_id: callIdOf(part.id, callIds),
  output: Wire.resultText(part)
})

const callIdOf = (id: string, callIds: ReadonlyMap<string, string>): string => callIds.get(id) ?? Text.clean(id)
