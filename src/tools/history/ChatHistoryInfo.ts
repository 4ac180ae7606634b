import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"
import { History } from "./History.ts"

export const ChatHistoryInfo = Tool.make("chat_history_info", {
  description:
    "How many messages of this conversation you still see, whether a summary stands for older ones, and the most that are kept for you.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({
    session_id: Schema.String,
    total_messages: Schema.Int,
    summarised: Schema.Boolean,
    max_history_messages: Schema.NullOr(Schema.Int)
  }),
  failure: Tool.NoFailure,
  limits: { timeout: "10 seconds", output: { maxChars: 1000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [History],
  content: "own"
})
