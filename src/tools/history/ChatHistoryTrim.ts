import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"
import { History } from "./History.ts"

export const ChatHistoryTrim = Tool.make("chat_history_trim", {
  description:
    "Takes older messages of this conversation out of what you see, keeping the latest ones. They stay in the log.",
  parameters: Schema.Struct({
    keep_latest: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      description: "How many of the latest messages to keep; 0 takes out all."
    })
  }),
  success: Schema.Struct({
    session_id: Schema.String,
    keep_latest: Schema.Int,
    removed_messages: Schema.Int,
    remaining_messages: Schema.Int,
    max_history_messages: Schema.NullOr(Schema.Int)
  }),
  failure: Tool.NoFailure,
  limits: { timeout: "10 seconds", output: { maxChars: 1000 } },
  cancellation: "interruptible",
  // Keeping the latest again leaves them as they are.
  replay: "idempotent",
  capabilities: [History],
  content: "own",
  identifiedBy: ["keep_latest"]
})
