/** Rules that the sections of host execution have in common. */
import * as Duration from "effect/Duration"
import type { Finding, Path } from "../../Rule.ts"
import * as Rules from "../../Rules.ts"
import type * as Runtime from "../Runtime.ts"

/** No setting makes a program run longer than this: the time limit of its tool leaves room beyond it. */
const longest = Duration.minutes(59)

interface Times {
  readonly enabled: boolean
  readonly default_timeout_seconds: Duration.Duration
  readonly max_timeout_seconds: Duration.Duration
}

/** The usual time is within the longest, the longest within what a tool may take, and within the turn. */
export const times = (
  section: Path,
  { default_timeout_seconds, enabled, max_timeout_seconds }: Times,
  runtime: typeof Runtime.section.Type,
  written: (path: Path) => boolean
): ReadonlyArray<Finding> => {
  const max = { path: [...section, "max_timeout_seconds"], time: max_timeout_seconds }
  if (Duration.isGreaterThan(max_timeout_seconds, longest)) {
    return [
      {
        path: max.path,
        found: "a longer time than a program may run",
        expected: `at most ${Duration.toSeconds(longest)} seconds`
      }
    ]
  }
  const usual = { path: [...section, "default_timeout_seconds"], time: default_timeout_seconds }
  const turn = { path: ["runtime", "agent_timeout_seconds"], time: runtime.agent_timeout_seconds, ends: "the turn" }
  return enabled
    ? [...Rules.within(written, usual, { ...max, ends: "the program" }), ...Rules.within(written, max, turn)]
    : []
}
