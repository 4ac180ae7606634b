/**
 * Language models behind the Responses API, at OpenAI or at a server that speaks it too.
 *
 * Requests are written by `ResponsesInput`, events read by `ResponsesParts`.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import type { Client } from "./Client.ts"
import * as ObjectFormat from "./ObjectFormat.ts"
import * as OpenAi from "./OpenAi.ts"
import * as ResponsesInput from "./ResponsesInput.ts"
import * as ResponsesParts from "./ResponsesParts.ts"
import * as Wire from "./Wire.ts"

export interface Options extends OpenAi.Options {
  /**
   * `full_messages`: every request holds the whole history, and the provider is told to keep nothing. `previous_response_id`:
   * the provider keeps its responses, and a request holds what came after the last one.
   */
  readonly stateMode: "full_messages" | "previous_response_id"
  /** How much of its reasoning the provider is to show; nothing when left out. */
  readonly reasoningSummary?: string | undefined
}

/** Makes the language model of one provider and model. */
export const make = (options: Options, client: Client): Effect.Effect<LanguageModel.LanguageModel> =>
  OpenAi.make(
    options,
    {
      path: "/responses",
      request: Effect.fnUntraced(function* (request, { reliance, streaming }) {
        const keeps = options.stateMode === "previous_response_id"
        const input = ResponsesInput.fromPrompt(
          request.prompt,
          options,
          reliance === "kept" && !keeps ? "encrypted" : reliance
        )
        return {
          body: {
            ...(yield* requestBody(options, request, input)),
            store: keeps,
            ...(streaming ? { stream: true } : {})
          },
          collector: (ids) =>
            ResponsesParts.makeCollector({
              origin: options,
              before: keeps ? input.fingerprint : undefined,
              ...ids
            })
        }
      })
    },
    client
  )

const requestBody = Effect.fnUntraced(function* (
  options: Options,
  request: LanguageModel.ProviderOptions,
  input: ResponsesInput.Input
) {
  const format = yield* ObjectFormat.of(request)
  return {
    model: options.model,
    // Not kept by the provider, even where it keeps what was said.
    ...(input.instructions === undefined ? {} : { instructions: input.instructions }),
    input: input.items,
    ...(input.previousResponseId === undefined ? {} : { previous_response_id: input.previousResponseId }),
    ...tools(options, request),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxNewTokens === undefined ? {} : { max_output_tokens: options.maxNewTokens }),
    ...reasoning(options),
    ...(yield* OpenAi.promptCache(options)),
    ...(format === undefined ? {} : { text: { format: { type: "json_schema", ...format } } })
  }
})

const tools = ({ info, parallelToolCalls }: Options, request: LanguageModel.ProviderOptions): OpenAi.Body => {
  if (request.tools.length === 0) return {}
  const choice = Wire.toolChoice(request.toolChoice)
  return {
    // Left out, `strict` would mean yes.
    tools: request.tools.map((tool) => ({
      type: "function",
      strict: false,
      ...Wire.describeTool(tool, info.toolSchemas)
    })),
    tool_choice: "name" in choice ? { type: "function", ...choice } : choice.mode,
    ...(parallelToolCalls === false ? { parallel_tool_calls: false } : {})
  }
}

/** Models that do not reason refuse to be asked how. */
const reasoning = ({ info, reasoningEffort, reasoningSummary }: Options): OpenAi.Body => {
  if (info.reasoning === false) return {}
  const wanted = {
    ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
    ...(reasoningSummary === undefined ? {} : { summary: reasoningSummary })
  }
  const asked = Object.keys(wanted).length > 0
  return {
    ...(asked ? { reasoning: wanted } : {}),
    ...(asked || info.reasoning === true ? { include: ["reasoning.encrypted_content"] } : {})
  }
}
