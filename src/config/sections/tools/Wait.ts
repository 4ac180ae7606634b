import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer wait."),
    max_milliseconds: Key.key(Values.PositiveInt, 30_000, "Longest a call may wait; a longer request is cut to this.")
  }),
  {},
  "Pausing for a while."
)
