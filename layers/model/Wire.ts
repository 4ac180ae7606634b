/**
 * What both protocols of the `openai` SDK need to write a history down: names, arguments, results and files as text that
 * every server accepts.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Base64 from "effect/encoding/Base64"
import type * as JsonSchema from "effect/JsonSchema"
import * as Option from "effect/Option"
import * as Memo from "../../src/Memo.ts"
import * as Json from "../../src/model/Json.ts"
import type { ToolSchemas } from "../../src/model/ModelTable.ts"
import * as ParameterShape from "../../src/model/ParameterShape.ts"
import * as Text from "../../src/model/Text.ts"
import * as ToolName from "../../src/tool/ToolName.ts"

/** The texts of the system messages, as one: some chat templates allow only one. `undefined` when there are none. */
export const systemText = (prompt: Prompt.Prompt): string | undefined => {
  const texts = prompt.content
    .flatMap((message) => (message.role === "system" ? [Text.clean(message.content)] : []))
    .filter((text) => text.trim() !== "")
  return texts.length === 0 ? undefined : texts.join("\n\n")
}

/** A tool as a model is told of it. It is worked out once for each tool and family of models. */
export const describeTool = (tool: Tool.Any, schemas: ToolSchemas) => describers[schemas](tool)

const describeAs = (schemas: ToolSchemas) =>
  Memo.byIdentity((tool: Tool.Any) => {
    const description = Tool.getDescription(tool)
    const { schema, strict } = ParameterShape.shape(jsonSchemaOf(tool), schemas)
    return {
      name: tool.name,
      ...(description === undefined ? {} : { description }),
      parameters: schema,
      ...(strict ? { strict: true } : {})
    }
  })

const describers = { strict: describeAs("strict"), relaxed: describeAs("relaxed"), plain: describeAs("plain") }

const jsonSchemaOf = (tool: Tool.Any): JsonSchema.JsonSchema =>
  Tool.isDynamic(tool) && tool.jsonSchema !== undefined ? tool.jsonSchema : Tool.getJsonSchema(tool)

/** The mode, or the one tool that must be called. */
export const toolChoice = (
  choice: LanguageModel.ToolChoice<string>
): { readonly mode: string } | { readonly name: string } => {
  if (typeof choice === "string") return { mode: choice }
  return "tool" in choice ? { name: choice.tool } : { mode: choice.mode ?? "auto" }
}

/** A name that servers accept, whatever the model once called. */
export const toolName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || ToolName.unknown

/** Servers parse the arguments of old calls too and refuse the whole request when they are not a JSON object. */
export const argumentsOf = (params: unknown): string => {
  const value = typeof params === "string" ? Option.getOrElse(Json.parse(params), () => params) : params
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  if (isObject) return stringify(value)
  return value === "" || value === undefined || value === null ? "{}" : stringify({ unreadable_arguments: value })
}

/** What a tool gave back, as one text that is not empty. */
export const resultText = (part: Prompt.ToolResultPart): string => {
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
  return Text.clean(content) || "(empty)"
}

/** A file, and in which way it can be sent. */
export interface File {
  readonly kind: "image" | "audio" | "document" | "other"
  readonly mediaType: string
  readonly name: string
  readonly url: string
  /** The content in base64; `undefined` where there is only an address. */
  readonly base64: string | undefined
}

/** `images`: whether the model can be shown images; unknown counts as yes. */
export const fileOf = (part: Prompt.FilePart, images: boolean | undefined): File => {
  const mediaType = part.mediaType === "image/*" ? "image/jpeg" : part.mediaType
  const base64 =
    part.data instanceof Uint8Array ? Base64.encode(part.data) : typeof part.data === "string" ? part.data : undefined
  const url = base64 === undefined ? String(part.data) : `data:${mediaType};base64,${base64}`
  const file = { mediaType, name: Text.clean(part.fileName ?? "file"), url, base64 }
  if (mediaType.startsWith("image/")) return { ...file, kind: images === false ? "other" : "image" }
  if (base64 === undefined) return { ...file, kind: "other" }
  if (audioFormats.has(mediaType)) return { ...file, kind: "audio" }
  return { ...file, kind: mediaType === "application/pdf" ? "document" : "other" }
}

/** The names that the protocol has for kinds of audio. */
export const audioFormats: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"]
])

/** Words in place of a file. */
export const unseen = (file: File): string =>
  `[file ${file.name} (${Text.clean(file.mediaType)}) cannot be shown to this model]`

const textOf = (result: unknown): string =>
  result === undefined || result === null ? "" : typeof result === "string" ? result : stringify(result)

const stringify = (value: unknown): string => Option.getOrElse(Json.stringify(Text.cleanDeep(value)), () => "{}")
