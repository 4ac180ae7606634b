/** One model response: asks, streams the pieces to watchers, and gathers the whole. */
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Ids from "../../src/Ids.ts"
import type * as Models from "../../src/model/Models.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import * as Retry from "../../src/model/Retry.ts"
import * as ToolSchema from "../../src/model/ToolSchema.ts"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as MaskedPrompt from "../../src/turn/MaskedPrompt.ts"
import * as ResponseParts from "../../src/turn/ResponseParts.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as WholeCharacters from "../../src/turn/WholeCharacters.ts"

/** The model said nothing and called nothing, every time it was asked. */
export class EmptyResponse extends Schema.TaggedError<EmptyResponse>()("EmptyResponse", {
  attempts: Schema.Int,
  /** It ran into the limit of its output, which another try will not change. */
  outOfTokens: Schema.Boolean
}) {
  readonly code = "model:empty_response"
  override get message() {
    return this.outOfTokens
      ? "The model used up its output before it said anything. Raise [llm].max_new_tokens, or lower [llm].reasoning_effort."
      : `The model gave an empty response ${this.attempts} times in a row.`
  }
}

export interface Request {
  readonly model: Models.ModelHandle
  readonly prompt: Prompt.Prompt
  /** What neither goes to the model nor is taken from it. */
  readonly secrets: KnownSecrets["Service"]
  readonly tools: ReadonlyArray<ToolCalls.Offer>
  /** Names the conversation to the provider's cache. */
  readonly cacheKey: string
  /** How many more times an empty response is asked for again. */
  readonly retries: number
  /** Is told before every pause after which the model is asked again. */
  readonly onRetry: (retrying: Retry.Retrying) => Effect.Effect<void>
  /** `offset`: how much of this kind came before, from 0 again when the response is asked for again. */
  readonly onDelta: (kind: "text" | "reasoning", offset: number, text: string) => Effect.Effect<void>
}

export interface Response extends ResponseParts.Kept {
  readonly calls: ReadonlyArray<Entry.ToolCallRequest>
  readonly finishReason: string
  readonly usage: Entry.Usage
}

/** Retries an empty response; every other retry belongs to the model's adapter, which knows what is safe to repeat. */
export const ask = (request: Request): Effect.Effect<Response, AiError.AiError | EmptyResponse> =>
  askOnce(request).pipe(
    Effect.flatMap((response) =>
      saysNothing(response.text) && response.calls.length === 0
        ? Effect.fail(nothingSaid(response.finishReason, request.retries + 1))
        : Effect.succeed(response)
    ),
    Effect.retry(emptyResponses(request)),
    Effect.provideService(Retry.OnRetry, request.onRetry),
    Effect.provideService(PromptCache.Key, request.cacheKey)
  )

/** Whether there is nothing in it that a person could see. */
const saysNothing = (text: string): boolean => !/[^\s\p{Z}\p{Cc}\p{Cf}]/u.test(text)

const emptyResponses = ({ onRetry, retries }: Request) =>
  Schedule.exponential("200 millis").pipe(
    Schedule.setInputType<AiError.AiError | EmptyResponse>(),
    Schedule.while(({ attempt, input }) => Effect.succeed(isWorthAsking(input) && attempt <= retries)),
    Schedule.tap(({ attempt, duration }) =>
      onRetry({ retry: attempt, retries, wait: duration, reason: "The model gave an empty response" })
    )
  )

const isWorthAsking = (error: AiError.AiError | EmptyResponse) => error._tag === "EmptyResponse" && !error.outOfTokens

const nothingSaid = (finishReason: string, attempts: number): AiError.AiError | EmptyResponse =>
  finishReason === "content-filter" ? withheld : new EmptyResponse({ attempts, outOfTokens: finishReason === "length" })

const askOnce = Effect.fnUntraced(function* (request: Request) {
  const gatherer = ResponseParts.gather()
  const calls: Array<{ readonly name: string; readonly arguments: string }> = []
  let finishReason: string = TurnState.unfinished
  let usage: Entry.Usage = { inputTokens: 0, outputTokens: 0 }
  const { secrets } = request
  const whole = WholeCharacters.make(secrets.texts)
  const show = (pieces: ReadonlyArray<Piece>) =>
    Effect.forEach(pieces, ({ kind, offset, text }) => request.onDelta(kind, offset, text), { discard: true })
  const said = (shown: Array<Piece>, piece: WholeCharacters.Piece, metadata: ResponseParts.Metadata) => {
    const text = whole.take(piece)
    join(shown, piece.kind, gatherer.add(piece.kind, piece.id, text, metadata), text)
  }
  yield* Stream.runForEachArray(
    ToolSchema.streamStep(request.model.languageModel, {
      prompt: MaskedPrompt.make(request.prompt, secrets.text),
      tools: request.tools
    }),
    (parts): Effect.Effect<void, AiError.AiError> => {
      const shown: Array<Piece> = []
      for (const part of parts) {
        switch (part.type) {
          case "text-delta":
            said(shown, { kind: "text", id: part.id, text: part.delta }, part.metadata)
            break
          case "reasoning-delta":
            said(shown, { kind: "reasoning", id: part.id, text: part.delta }, part.metadata)
            break
          case "text-start":
          case "text-end":
            gatherer.add("text", part.id, "", part.metadata)
            break
          case "reasoning-start":
          case "reasoning-end":
            gatherer.add("reasoning", part.id, "", part.metadata)
            break
          case "tool-call":
            calls.push({ name: secrets.text(part.name), arguments: secrets.text(argumentsText(part.params)) })
            gatherer.call(part.metadata)
            break
          case "finish":
            finishReason = part.reason
            usage = usageOf(part.usage)
            gatherer.whole(part.metadata)
            break
          case "error":
            // A provider that reports a failure inside its stream; what it says may hold anything, so it stays out.
            return Effect.andThen(show(shown), Effect.fail(reportedError))
        }
      }
      return show(shown)
    }
  )
  yield* show(whole.rest().map(({ id, kind, text }) => ({ kind, offset: gatherer.add(kind, id, text, {}), text })))
  return {
    ...gatherer.kept(),
    // Providers repeat ids, leave them out or reuse them in a later turn; ours are unique for ever.
    calls: yield* Effect.forEach(calls, (call) => Effect.map(Ids.makeCallId, (callId) => ({ callId, ...call }))),
    finishReason,
    usage
  }
})

/** Words that came next to each other. */
interface Piece {
  readonly kind: "text" | "reasoning"
  /** How much of the kind came before, in UTF-16 code units. */
  readonly offset: number
  text: string
}

/** Adds a delta to the pieces: to the last of them, where it is of the same kind. */
const join = (pieces: Array<Piece>, kind: Piece["kind"], offset: number, text: string): void => {
  if (text === "") return
  const last = pieces.at(-1)
  if (last?.kind === kind) last.text += text
  else pieces.push({ kind, offset, text })
}

const withheld = AiError.make({
  module: "ModelStep",
  method: "ask",
  reason: new AiError.ContentPolicyError({
    description: "The provider withheld the answer because of its content rules"
  })
})

const reportedError = AiError.make({
  module: "ModelStep",
  method: "ask",
  reason: new AiError.UnknownError({ description: "The provider reported an error in the middle of its response" })
})

/** Adapters hand over the text as it came; an object only where there never was a text. */
const argumentsText = (params: unknown): string => (typeof params === "string" ? params : JSON.stringify(params ?? {}))

const usageOf = (usage: {
  readonly inputTokens: { readonly total?: number | undefined; readonly cacheRead?: number | undefined }
  readonly outputTokens: { readonly total?: number | undefined; readonly reasoning?: number | undefined }
}): Entry.Usage => ({
  inputTokens: usage.inputTokens.total ?? 0,
  outputTokens: usage.outputTokens.total ?? 0,
  ...(usage.inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: usage.inputTokens.cacheRead }),
  ...(usage.outputTokens.reasoning === undefined ? {} : { reasoningTokens: usage.outputTokens.reasoning })
})
