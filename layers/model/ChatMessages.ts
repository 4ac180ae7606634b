/**
 * From an `effect/ai` prompt to the `messages` and `tools` of a chat completions request.
 *
 * This is the border where history leaves the program: every string is made well-formed, tool arguments become a JSON
 * object in any case, blank messages are dropped, and reasoning goes back only to the model that wrote it.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Memo from "../../src/Memo.ts"
import type { ModelInfo } from "../../src/model/ModelTable.ts"
import type * as Origin from "../../src/model/Origin.ts"
import * as Text from "../../src/model/Text.ts"
import * as ChatReasoning from "./ChatReasoning.ts"
import * as Wire from "./Wire.ts"

/** One message as the protocol spells it. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | ReadonlyArray<ChatContent> }
  | AssistantMessage
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }

interface AssistantMessage {
  readonly role: "assistant"
  readonly content: string | null
  readonly tool_calls?: ReadonlyArray<ChatToolCall>
  readonly reasoning?: string
  readonly reasoning_content?: string
  readonly reasoning_details?: ReadonlyArray<unknown>
}

interface ChatToolCall {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

type ChatContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } }

/** The model that will read the messages. */
export interface Reader extends Origin.Origin {
  readonly info: Pick<ModelInfo, "images">
}

/** Converts a prompt. Leading system messages become one, since some chat templates allow only one. */
export const fromPrompt = (prompt: Prompt.Prompt, reader: Reader): ReadonlyArray<ChatMessage> => {
  const system = Wire.systemText(prompt)
  const rest = prompt.content.flatMap(messagesFor(reader))
  return system === undefined ? rest : [{ role: "system", content: system }, ...rest]
}

/** The history of a long thread is mostly the same in each request: what its messages became is remembered. */
const messagesFor = Memo.byIdentity((reader: Reader) =>
  Memo.byIdentity((message: Prompt.Message) => fromMessage(message, reader))
)

const fromMessage = (message: Prompt.Message, reader: Reader): ReadonlyArray<ChatMessage> => {
  switch (message.role) {
    case "system":
      return []
    case "user":
      return fromUser(message, reader)
    case "assistant":
      return fromAssistant(message, reader)
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [fromToolResult(part)] : []))
  }
}

/** The `tools` and `tool_choice` fields; empty when no tool is offered. */
export const fromTools = (
  options: LanguageModel.ProviderOptions,
  { toolSchemas }: Pick<ModelInfo, "toolSchemas">
): Record<string, unknown> => {
  if (options.tools.length === 0) return {}
  const choice = Wire.toolChoice(options.toolChoice)
  return {
    tools: options.tools.map((tool) => ({ type: "function", function: Wire.describeTool(tool, toolSchemas) })),
    tool_choice: "name" in choice ? { type: "function", function: choice } : choice.mode
  }
}

const fromUser = (message: Prompt.UserMessage, { info }: Reader): ReadonlyArray<ChatMessage> => {
  const parts = message.content.flatMap((part): ReadonlyArray<ChatContent> => {
    if (part.type === "file") return [fromFile(Wire.fileOf(part, info.images))]
    const text = Text.clean(part.text)
    return text.trim() === "" ? [] : [{ type: "text", text }]
  })
  if (parts.length === 0) return []
  // Plain text as a plain string: not every server takes a list.
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return [{ role: "user", content: texts.length === parts.length ? texts.join("\n\n") : parts }]
}

const fromFile = (file: Wire.File): ChatContent => {
  switch (file.kind) {
    case "image":
      return { type: "image_url", image_url: { url: file.url } }
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: file.base64 ?? "", format: Wire.audioFormats.get(file.mediaType) ?? "wav" }
      }
    case "document":
      return { type: "file", file: { filename: file.name, file_data: file.url } }
    case "other":
      return { type: "text", text: Wire.unseen(file) }
  }
}

const fromAssistant = (message: Prompt.AssistantMessage, target: Origin.Origin): ReadonlyArray<ChatMessage> => {
  const texts: Array<string> = []
  const calls: Array<ChatToolCall> = []
  const results: Array<ChatMessage> = []
  for (const part of message.content) {
    if (part.type === "text") texts.push(Text.clean(part.text))
    if (part.type === "tool-call") calls.push(fromToolCall(part))
    if (part.type === "tool-result") results.push(fromToolResult(part))
  }
  const content = texts.join("")
  if (content.trim() === "" && calls.length === 0) return []
  return [
    {
      role: "assistant",
      content: content.trim() === "" ? null : content,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...ChatReasoning.replay(message.content, target)
    },
    ...results
  ]
}

const fromToolCall = (part: Prompt.ToolCallPart): ChatToolCall => ({
  id: Text.clean(part.id),
  type: "function",
  function: { name: Wire.toolName(part.name), arguments: Wire.argumentsOf(part.params) }
})

const fromToolResult = (part: Prompt.ToolResultPart): ChatMessage => ({
  role: "tool",
  tool_call_id: Text.clean(part.id),
  content: Wire.resultText(part)
})
