/**
 * The compaction of the Responses API: the provider is sent a history and gives back items that stand for it, with what was
 * said in a form that only it can read. Nothing is kept there, so the whole history is sent.
 */
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as NativeCompaction from "../../src/model/NativeCompaction.ts"
import * as Retry from "../../src/model/Retry.ts"
import { maybe, Tokens } from "./Answers.ts"
import type { Client } from "./Client.ts"
import * as OpenAi from "./OpenAi.ts"
import * as OpenAiErrors from "./OpenAiErrors.ts"
import * as ResponsesInput from "./ResponsesInput.ts"

const Answer = Schema.Struct({
  output: maybe(Schema.Array(Schema.Json)),
  usage: maybe(Schema.Struct({ input_tokens: Tokens, output_tokens: Tokens })),
  error: maybe(Schema.Unknown)
})
const decodeAnswer = Schema.decodeUnknownOption(Answer)

/** What stands for the messages of the assistant. */
const isCompaction = Schema.is(
  Schema.Struct({ type: Schema.Literal("compaction"), encrypted_content: Schema.NonEmptyString })
)

/** The compaction of one provider and model. */
export const make =
  (options: OpenAi.Options, client: Client): NativeCompaction.Compact =>
  (prompt) => {
    const ask = (reliance: OpenAi.Reliance): Effect.Effect<NativeCompaction.Compacted, AiError.AiError> =>
      Effect.catch(send(options, client, ResponsesInput.fromPrompt(prompt, options, reliance).items), (error) => {
        const less = OpenAi.withLess(error, reliance)
        return less === undefined ? Effect.fail(error) : ask(less)
      })
    return Effect.retry(ask("encrypted"), Retry.schedule(options.retry))
  }

const send = Effect.fnUntraced(function* (
  options: OpenAi.Options,
  client: Client,
  input: ReadonlyArray<ResponsesInput.Item>
) {
  const cache = yield* OpenAi.promptCache(options)
  const events = yield* client.open(options, "/responses/compact", { model: options.model, input, ...cache })
  const answer = Option.getOrUndefined(Option.flatMap(yield* events.next, ([answer]) => decodeAnswer(answer)))
  if (answer?.error) return yield* OpenAiErrors.fromErrorValue(answer.error, options)
  const { output, usage } = answer ?? {}
  if (!output) return yield* OpenAiErrors.notTheProtocol(options)
  const shorter = JSON.stringify(output).length < JSON.stringify(input).length
  if (!output.some((item) => isCompaction(item)) || !shorter) return yield* nothingRemoved(options)
  return { items: output, inputTokens: count(usage?.input_tokens), outputTokens: count(usage?.output_tokens) }
}, Effect.scoped)

const count = (tokens: number | null | undefined): number =>
  typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0

const nothingRemoved = ({ provider }: OpenAi.Options) =>
  AiError.make({
    module: "ResponsesCompact",
    method: "compact",
    reason: new AiError.InvalidResponseError({ description: `Provider "${provider}" made the history no shorter` })
  })
