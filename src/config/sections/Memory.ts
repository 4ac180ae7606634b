import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    max_history_messages: Key.optional(
      Values.PositiveInt,
      200,
      "Most messages of a conversation that are sent to the model; all of them when not set."
    )
  }),
  {},
  "How much of a conversation the model sees."
)
