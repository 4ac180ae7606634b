/**
 * Our tools as `effect/ai` sees them, and the one way a step of a turn calls a model.
 *
 * `effect/ai` would decode the arguments of a tool call itself and fail the whole stream when they do not fit, or when
 * the model names a tool that was not offered. The tool pipeline has its own lenient decoder and answers both as tool
 * results, so the arguments must arrive untouched. Two things make them do so:
 *
 * - tools are `Tool.dynamic` with a JSON Schema, whose parameter schema is `Schema.Unknown`;
 * - the request says `disableToolCallResolution: true` and `toolCallValidation: "deferred"`, which also lets calls to
 *   undeclared names through.
 *
 * Adapters put into `params` the text as the model wrote it, or the value where a server sends one, so a string in
 * `params` means "text that is not an argument object yet".
 */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Memo from "../Memo.ts"

/** What a model needs to know of a tool. `parameters` is a JSON Schema of type object. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema.JsonSchema
}

/** A tool with opaque arguments and no handler. */
export type AiTool = Tool.Dynamic<
  string,
  {
    readonly parameters: JsonSchema.JsonSchema
    readonly success: Schema.Unknown
    readonly failure: Schema.Never
    readonly failureMode: "error"
  }
>

export type AiToolkit = Toolkit.WithHandler<Record<string, AiTool>>

/** A part of a step's stream; `params` of a `tool-call` part is whatever the model wrote. */
export type StepPart = Response.StreamPart<Record<string, AiTool>, "deferred">

/**
 * Builds the toolkit for a request. Names must be unique; the last of two equal names wins. The same description gives the same
 * tool each time, so that an adapter can keep what it makes of it.
 */
export const toAiToolkit = (tools: ReadonlyArray<ToolDescription>): AiToolkit => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, toAiTool(tool)])),
  handle: (name) => Effect.fail(noHandler(String(name)))
})

/** One model call of a turn: streams the parts of the answer and runs no tool. */
export const streamStep = (
  languageModel: LanguageModel.LanguageModel,
  request: {
    readonly prompt: Prompt.RawInput
    readonly tools: ReadonlyArray<ToolDescription>
  }
): Stream.Stream<StepPart, AiError.AiError> =>
  languageModel.streamText({
    prompt: request.prompt,
    toolkit: toAiToolkit(request.tools),
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  })

const toAiTool = Memo.byIdentity(({ description, name, parameters }: ToolDescription): AiTool =>
  Tool.dynamic(name, { description, parameters })
)

// Only reached by a caller that lets `effect/ai` run the tools.
const noHandler = (toolName: string) =>
  AiError.make({
    module: "ToolSchema",
    method: "handle",
    reason: new AiError.ToolConfigurationError({
      toolName,
      description: "Tools are run by the turn, not by the language model; request with disableToolCallResolution"
    })
  })
