/** A model of one's own: any `LanguageModel` of `effect/ai` will do. This one knows a single kind of question. */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Models } from "troupe/layers"

type Reply = { readonly call: string } | { readonly say: string }

/** A question leads to a call of the tool, the result of the tool to an answer. */
const replyTo = ({ prompt }: LanguageModel.ProviderOptions): Reply => {
  const last = prompt.content.at(-1)
  const part = typeof last?.content === "string" ? undefined : last?.content[0]
  if (part?.type === "tool-result") return { say: `The shelf says: ${String(part.result)}` }
  const words = part?.type === "text" ? part.text.match(/[a-z]+/g) : null
  return { call: words?.at(-1) ?? "" }
}

const usage = {
  inputTokens: { total: 0, uncached: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 }
}

/** The parts of a reply as they would stream in. */
const partsOf = (reply: Reply): ReadonlyArray<Response.StreamPartEncoded> =>
  "call" in reply
    ? [
        { type: "tool-call", id: "call_1", name: "stock_level", params: { article: reply.call } },
        { type: "finish", reason: "tool-calls", usage }
      ]
    : [
        { type: "text-start", id: "text_1" },
        { type: "text-delta", id: "text_1", delta: reply.say },
        { type: "text-end", id: "text_1" },
        { type: "finish", reason: "stop", usage }
      ]

/** The model as a layer, like those that other packages have for their providers. */
const shelfReader = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    streamText: (request) => Stream.fromIterable(partsOf(replyTo(request))),
    // A turn always streams; who asks for a whole text gets the same in one piece.
    generateText: (request) => {
      const reply = replyTo(request)
      return Effect.succeed("say" in reply ? [{ type: "text", text: reply.say }] : [])
    }
  })
)

/** The models of the settings, and the provider `shop` beside them; it has one model, whatever name is asked for. */
export const layer = Models.layerWith({ shop: () => shelfReader })
