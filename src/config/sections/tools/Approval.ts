import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    require_approval: Key.key(Values.ToolPatterns, [], "Tools that run only after a person has said yes."),
    timeout_seconds: Key.key(Values.Seconds, 90, "How long to wait for that answer; silence means no.")
  }),
  {},
  "Which tool calls a person must allow."
)
