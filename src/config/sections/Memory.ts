import * as Key from "../Key.ts"
import type { Rule } from "../Rule.ts"
import * as Rules from "../Rules.ts"
import * as Values from "../Values.ts"
import type * as Runtime from "./Runtime.ts"

export const section = Key.key(
  Key.table({
    max_history_messages: Key.optional(
      Values.PositiveInt,
      200,
      "Most messages of a conversation that are sent to the model; all of them when not set."
    ),
    max_history_tokens: Key.optional(
      Values.PositiveInt,
      100_000,
      "Tokens from which on older messages give way to a summary; when not set, what the model can read, where that is known."
    ),
    context_ratio_before_compact: Key.key(
      Values.Ratio,
      0.95,
      "How much of what the model can read is used before that, above 0 and at most 1; not used with max_history_tokens."
    ),
    compaction: Key.key(
      Values.Choice(["summary", "native"]),
      "summary",
      'How older messages give way: summary (a model writes one), or native (the provider compacts them itself, where [providers.<name>].api is "responses"; a summary when it cannot).'
    ),
    compaction_timeout_seconds: Key.key(
      Values.Seconds,
      60,
      "Longest that may take; at most [runtime].agent_timeout_seconds, of which it is a part."
    ),
    notify_compaction_updates: Key.key(
      Values.Choice(["off", "brief", "full"]),
      "off",
      "What people are told when that happens: nothing, that it happened, or the summary as well."
    )
  }),
  {},
  "How much of a conversation the model sees."
)

type Read = { readonly memory: typeof section.Type; readonly runtime: typeof Runtime.section.Type }

/** Of two times the inner is the shorter. */
export const rules: ReadonlyArray<Rule<Read>> = [
  ({ memory, runtime }, written) =>
    Rules.within(
      written,
      { path: ["memory", "compaction_timeout_seconds"], time: memory.compaction_timeout_seconds },
      { path: ["runtime", "agent_timeout_seconds"], time: runtime.agent_timeout_seconds, ends: "the turn" }
    )
]
