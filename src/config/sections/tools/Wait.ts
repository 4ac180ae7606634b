import * as Duration from "effect/Duration"
import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Rules from "../../Rules.ts"
import * as Values from "../../Values.ts"
import type * as Runtime from "../Runtime.ts"

/** No setting makes a call wait longer than this, in milliseconds: the time limit of the tool leaves room beyond it. */
const longestWait = 9 * 60_000

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer wait."),
    max_milliseconds: Key.key(
      Values.IntBetween(1, longestWait),
      30_000,
      "Longest a call may wait; a longer request is cut to this."
    )
  }),
  {},
  "Pausing for a while."
)

export interface Read {
  readonly runtime: typeof Runtime.section.Type
  readonly tools: { readonly wait: typeof section.Type }
}

/** A turn ends before a wait that is longer than it may be. */
export const rules: ReadonlyArray<Rule<Read>> = [
  ({ runtime, tools: { wait } }, written) =>
    wait.enabled
      ? Rules.within(
          written,
          { path: ["tools", "wait", "max_milliseconds"], time: Duration.millis(wait.max_milliseconds) },
          { path: ["runtime", "agent_timeout_seconds"], time: runtime.agent_timeout_seconds, ends: "the turn" }
        )
      : []
]
