import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    native: Key.key(Values.Bool, true, "Offer the skills that come with Troupe."),
    native_disabled: Key.key(
      Values.TextList,
      [],
      "Skills of these that are left out; without troupe-docs there is no read_docs."
    )
  }),
  {},
  "Skills: knowledge that agents read when they need it."
)
