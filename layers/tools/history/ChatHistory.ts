import * as Effect from "effect/Effect"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { ChatHistoryInfo } from "../../../src/tools/history/ChatHistoryInfo.ts"
import { ChatHistoryTrim } from "../../../src/tools/history/ChatHistoryTrim.ts"
import { History } from "../../../src/tools/history/History.ts"

export const layer = ToolRegistry.layer([ChatHistoryInfo, ChatHistoryTrim], {
  chat_history_info: Effect.fnUntraced(function* () {
    const info = yield* (yield* History).info
    return {
      session_id: (yield* ToolCallContext).threadKey,
      total_messages: info.totalMessages,
      summarised: info.summarised,
      max_history_messages: info.maxHistoryMessages
    }
  }),
  chat_history_trim: Effect.fnUntraced(function* ({ keep_latest }) {
    const trimmed = yield* (yield* History).trim(keep_latest)
    return {
      session_id: (yield* ToolCallContext).threadKey,
      keep_latest,
      removed_messages: trimmed.removedMessages,
      remaining_messages: trimmed.totalMessages,
      max_history_messages: trimmed.maxHistoryMessages
    }
  })
})
