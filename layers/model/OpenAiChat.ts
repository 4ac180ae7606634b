/**
 * Language models behind a chat completions API (OpenAI, OpenRouter, Ollama, vLLM, LM Studio and the like).
 *
 * Requests are written by `ChatMessages`, chunks read by `ChatParts`.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as ChatMessages from "./ChatMessages.ts"
import * as ChatParts from "./ChatParts.ts"
import type { Client } from "./Client.ts"
import * as ObjectFormat from "./ObjectFormat.ts"
import * as OpenAi from "./OpenAi.ts"
import * as OpenAiErrors from "./OpenAiErrors.ts"

export type Options = OpenAi.Options

/** Makes the language model of one provider and model. */
export const make = (options: Options, client: Client): Effect.Effect<LanguageModel.LanguageModel> =>
  OpenAi.make(
    options,
    {
      path: "/chat/completions",
      request: (request, { streaming }) =>
        Effect.map(requestBody(options, request, streaming), (body) => ({
          body,
          collector: (ids) => ChatParts.makeCollector({ origin: options, ...ids })
        }))
    },
    client
  )

const requestBody = Effect.fnUntraced(function* (
  options: OpenAi.Options,
  request: LanguageModel.ProviderOptions,
  streaming: boolean
) {
  const tools = ChatMessages.fromTools(request, options.info)
  return {
    model: options.model,
    messages: ChatMessages.fromPrompt(request.prompt, options),
    ...tools,
    ...("tools" in tools && options.parallelToolCalls === false ? { parallel_tool_calls: false } : {}),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...outputLimit(options),
    ...reasoningEffort(options),
    ...(yield* responseFormat(request)),
    // Other servers may refuse a field that they do not know.
    ...(OpenAiErrors.hostOf(options.baseUrl) === "api.openai.com" ? yield* OpenAi.promptCache(options) : {}),
    ...(streaming ? { stream: true, stream_options: { include_usage: true } } : {})
  }
})

/** OpenAI renamed the field and refuses the old one for newer models; everybody else knows only the old one. */
const outputLimit = (options: OpenAi.Options): Record<string, unknown> => {
  if (options.maxNewTokens === undefined) return {}
  const openai = OpenAiErrors.hostOf(options.baseUrl) === "api.openai.com"
  return openai ? { max_completion_tokens: options.maxNewTokens } : { max_tokens: options.maxNewTokens }
}

const reasoningEffort = (options: OpenAi.Options): Record<string, unknown> => {
  if (options.reasoningEffort === undefined || options.info.reasoning === false) return {}
  return OpenAiErrors.hostOf(options.baseUrl) === "openrouter.ai"
    ? { reasoning: { effort: options.reasoningEffort } }
    : { reasoning_effort: options.reasoningEffort }
}

const responseFormat = (request: LanguageModel.ProviderOptions) =>
  Effect.map(ObjectFormat.of(request), (format) =>
    format === undefined ? {} : { response_format: { type: "json_schema", json_schema: format } }
  )
