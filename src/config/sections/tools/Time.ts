import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, true, "Offer current_datetime."),
    default_format: Key.key(
      Values.NonEmptyText,
      "%Y-%m-%dT%H:%M:%SZ",
      "How the time (UTC) is written unless the call asks otherwise, in strftime notation."
    )
  }),
  {},
  "The current date and time."
)
