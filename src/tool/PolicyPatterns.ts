/** The patterns of the settings that say which tools an agent has and which ask first, held against the tools there are. */
import * as Suggest from "../config/Suggest.ts"
import type { Settings } from "../config/Settings.ts"
import * as ToolPattern from "../config/ToolPattern.ts"
import * as ToolName from "./ToolName.ts"

/** Whether an agent with this policy has the tool. Without a pattern, `allow` allows all. */
export const allows = (
  { allow, deny }: { readonly allow: ReadonlyArray<string>; readonly deny: ReadonlyArray<string> },
  name: string
): boolean =>
  name === ToolName.answering ||
  (!ToolPattern.matches(deny, name) && (allow.length === 0 || ToolPattern.matches(allow, name)))

/**
 * One sentence for each pattern that matches none of the tools: most often a misspelt name, which leaves a tool unasked or
 * unlisted. It may also be meant for a tool that comes later, so it is no mistake by itself. `kind` is put before "tool".
 */
export const unmatched = (
  { orchestration: { main_agent }, policy, tools }: Settings["Service"],
  names: ReadonlyArray<string>,
  kind = ""
): ReadonlyArray<string> =>
  [
    { path: "tools.approval.require_approval", patterns: tools.approval.require_approval },
    { path: "orchestration.main_agent.tools_allow", patterns: main_agent.tools_allow },
    { path: "orchestration.main_agent.tools_deny", patterns: main_agent.tools_deny },
    ...Object.entries(policy.rules).map(([name, rule]) => ({
      path: `policy.rules.${name}.tools`,
      patterns: rule.tools
    }))
  ].flatMap(({ path, patterns }) =>
    patterns.flatMap((pattern, index) => {
      if (names.some((name) => ToolPattern.matches([pattern], name))) return []
      const nearest = Suggest.nearest(pattern, names)
      const hint = nearest === undefined ? "`troupe tools` lists them" : `did you mean ${nearest}?`
      return [`${path}[${index}] matches no ${kind}tool; ${hint}`]
    })
  )
