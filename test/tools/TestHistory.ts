/** A history that counts messages and has none: what the `History` capability is, for tests of the tools that use it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Capability from "../../src/tool/Capability.ts"
import { History } from "../../src/tools/history/History.ts"

/** Every turn starts with `messages`. */
export const layer = (messages: number, maxHistoryMessages: number | null = null) =>
  Layer.effectDiscard(
    Capability.Grants.use((grants) =>
      grants.register(History, () =>
        Effect.sync(() => {
          let total = messages
          const info = () => ({ totalMessages: total, summarised: false, maxHistoryMessages })
          return {
            info: Effect.sync(info),
            trim: (keepLatest) =>
              Effect.sync(() => {
                const removedMessages = Math.max(0, total - keepLatest)
                total -= removedMessages
                return { ...info(), removedMessages }
              })
          }
        })
      )
    )
  )
