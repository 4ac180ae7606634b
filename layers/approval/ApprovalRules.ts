/** What the settings say of a tool's approval: from whom, and for how long they are asked. */
import * as Duration from "effect/Duration"
import type * as Approval from "../../src/approval/Approval.ts"
import type { Settings } from "../../src/config/Settings.ts"
import * as ToolPattern from "../../src/config/ToolPattern.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"

export interface ApprovalRules {
  readonly of: (
    tool: string,
    scope: ToolContext.TurnScope,
    now: number
  ) => { readonly rule: Approval.Rule; readonly timeoutMillis: number }
}

export const compile = (settings: Settings["Service"]["tools"]["approval"]): ApprovalRules => {
  const rules = Object.values(settings.rules).map((rule) => ({ rule, names: ToolPattern.compile(rule.tools ?? []) }))
  const ruleOf = (tool: string) => rules.find(({ names }) => names(tool))?.rule
  return {
    of: (tool, scope, now) => {
      const rule = ruleOf(tool)
      const escalateTo = people(rule?.escalate_to ?? [], scope)
      const escalates = rule?.escalate_after_seconds
      return {
        rule: {
          approvers: people(rule?.approvers ?? settings.approvers, scope),
          quorum: rule?.quorum ?? 1,
          requesterMayAnswer: rule?.requester_may_answer ?? true,
          escalateTo,
          escalatesAt: escalates === undefined ? null : now + Math.ceil(Duration.toMillis(escalates))
        },
        timeoutMillis: Math.ceil(Duration.toMillis(rule?.timeout_seconds ?? settings.timeout_seconds))
      }
    }
  }
}

/** `requester` and `owner` stand for whoever they are; the requester of a schedule is nobody. */
const people = (named: ReadonlyArray<string>, { ownerId, senderId }: ToolContext.TurnScope): ReadonlyArray<string> => [
  ...new Set(
    named.flatMap((name) =>
      name === "owner" ? [ownerId] : name === "requester" ? (senderId === undefined ? [] : [senderId]) : [name]
    )
  )
]
