/**
 * From an `effect/ai` prompt to the `messages` and `tools` of a chat completions request.
 *
 * This is the border where history leaves the program: every string is made well-formed, tool arguments become a JSON
 * object in any case, blank messages are dropped, and reasoning goes back only to the model that wrote it.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Json from "../../src/model/Json.ts"
import * as Text from "../../src/model/Text.ts"
import * as ChatReasoning from "./ChatReasoning.ts"

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

/** Converts a prompt. Leading system messages become one, since some chat templates allow only one. */
export const fromPrompt = (prompt: Prompt.Prompt, target: ChatReasoning.Origin): ReadonlyArray<ChatMessage> => {
  const system = prompt.content
    .flatMap((message) => (message.role === "system" ? [Text.clean(message.content)] : []))
    .filter((text) => text.trim() !== "")
  const rest = prompt.content.flatMap((message): ReadonlyArray<ChatMessage> => {
    switch (message.role) {
      case "system":
        return []
      case "user":
        return fromUser(message)
      case "assistant":
        return fromAssistant(message, target)
      case "tool":
        return message.content.flatMap((part) => (part.type === "tool-result" ? [fromToolResult(part)] : []))
    }
  })
  return system.length === 0 ? rest : [{ role: "system", content: system.join("\n\n") }, ...rest]
}

/** The `tools` and `tool_choice` fields; empty when no tool is offered. */
export const fromTools = (options: LanguageModel.ProviderOptions): Record<string, unknown> => {
  if (options.tools.length === 0) return {}
  return {
    tools: options.tools.map((tool) => ({
      type: "function",
      function: {
        name: tool.name,
        ...(Tool.getDescription(tool) === undefined ? {} : { description: Tool.getDescription(tool) }),
        parameters: jsonSchemaOf(tool)
      }
    })),
    tool_choice: fromToolChoice(options.toolChoice)
  }
}

const jsonSchemaOf = (tool: Tool.Any): unknown =>
  Tool.isDynamic(tool) && tool.jsonSchema !== undefined ? tool.jsonSchema : Tool.getJsonSchema(tool)

const fromToolChoice = (choice: LanguageModel.ToolChoice<string>): unknown => {
  if (typeof choice === "string") return choice
  if ("tool" in choice) return { type: "function", function: { name: choice.tool } }
  return choice.mode ?? "auto"
}

const fromUser = (message: Prompt.UserMessage): ReadonlyArray<ChatMessage> => {
  const parts = message.content.flatMap((part): ReadonlyArray<ChatContent> => {
    if (part.type === "file") return [fromFile(part)]
    const text = Text.clean(part.text)
    return text.trim() === "" ? [] : [{ type: "text", text }]
  })
  if (parts.length === 0) return []
  // Plain text as a plain string: not every server takes a list.
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return [{ role: "user", content: texts.length === parts.length ? texts.join("\n\n") : parts }]
}

const fromFile = (part: Prompt.FilePart): ChatContent => {
  const mediaType = part.mediaType === "image/*" ? "image/jpeg" : part.mediaType
  const base64 =
    part.data instanceof Uint8Array ? Base64.encode(part.data) : typeof part.data === "string" ? part.data : undefined
  const url = base64 === undefined ? String(part.data) : `data:${mediaType};base64,${base64}`
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } }
  const format = audioFormats[mediaType]
  if (format !== undefined && base64 !== undefined)
    return { type: "input_audio", input_audio: { data: base64, format } }
  const filename = Text.clean(part.fileName ?? "file")
  if (mediaType === "application/pdf" && base64 !== undefined) {
    return { type: "file", file: { filename, file_data: url } }
  }
  return { type: "text", text: `[file ${filename} (${Text.clean(mediaType)}) cannot be shown to this model]` }
}

const audioFormats: Record<string, string | undefined> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3"
}

const fromAssistant = (message: Prompt.AssistantMessage, target: ChatReasoning.Origin): ReadonlyArray<ChatMessage> => {
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
  function: { name: toolName(part.name), arguments: argumentsOf(part.params) }
})

const toolName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool"

// Servers parse the arguments of old calls too and refuse the whole request when they are not a JSON object.
const argumentsOf = (params: unknown): string => {
  const value = typeof params === "string" ? Option.getOrElse(Json.parse(params), () => params) : params
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  if (isObject) return stringify(value)
  return value === "" || value === undefined || value === null ? "{}" : stringify({ unreadable_arguments: value })
}

const fromToolResult = (part: Prompt.ToolResultPart): ChatMessage => {
  const content =
    part.modelOutput === undefined
      ? textOf(part.result)
      : part.modelOutput
          .map((output) =>
            output.type === "text"
              ? output.text
              : `[${output.mediaType}${output.fileName === undefined ? "" : ` ${output.fileName}`}]`
          )
          .join("\n")
  return { role: "tool", tool_call_id: Text.clean(part.id), content: Text.clean(content) || "(empty)" }
}

const textOf = (result: unknown): string =>
  result === undefined || result === null ? "" : typeof result === "string" ? result : stringify(result)

const stringify = (value: unknown): string => Option.getOrElse(Json.stringify(Text.cleanDeep(value)), () => "{}")
