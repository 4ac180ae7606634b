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
    // Clients of the OpenAI protocol are not told of files, and can be anywhere.
    for (const [name, approval, files] of [
      ["console", true, true],
      ["rpc", true, true],
      ["openai", false, false]
    ] as const) {
      yield* channels.register({
        name,
        capabilities: { approval, formatting: ["text", "markdown"], files }
      })
    }
  })
)
