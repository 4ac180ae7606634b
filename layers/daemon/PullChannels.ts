/** The channels whose clients read the thread themselves: the console, and programs over RPC. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Channels } from "../../src/channel/Channels.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const channels = yield* Channels
    for (const name of ["console", "rpc"]) {
      yield* channels.register({
        name,
        capabilities: { approval: true, formatting: ["text", "markdown"], files: false }
      })
    }
  })
)
