/**
 * The channels whose clients read the thread themselves: the console, programs over RPC, and clients of the
 * OpenAI-compatible endpoint, whose protocol has no way to ask a person.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Channels } from "../../src/channel/Channels.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const channels = yield* Channels
    for (const [name, approval] of [
      ["console", true],
      ["rpc", true],
      ["openai", false]
    ] as const) {
      yield* channels.register({
        name,
        capabilities: { approval, formatting: ["text", "markdown"], files: false }
      })
    }
  })
)
