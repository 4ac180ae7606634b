/** The schema of the object that a request asks for, as OpenAI's protocols take it. */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import * as Effect from "effect/Effect"

/** `undefined` when text is asked for. */
export const of = Effect.fnUntraced(function* ({ responseFormat: format }: LanguageModel.ProviderOptions) {
  if (format.type === "text") return undefined
  const { jsonSchema } = yield* Effect.try({
    try: () => toCodecOpenAI(format.schema),
    catch: () =>
      AiError.make({
        module: "ObjectFormat",
        method: "of",
        reason: new AiError.UnsupportedSchemaError({ description: `${format.objectName} has no JSON Schema to send` })
      })
  })
  return { name: format.objectName, strict: true, schema: jsonSchema }
})
