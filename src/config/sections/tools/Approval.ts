import * as Duration from "effect/Duration"
import * as Key from "../../Key.ts"
import type { Finding, Rule as ConfigRule } from "../../Rule.ts"
import * as Values from "../../Values.ts"

const anyone =
  '"requester" (who sent the message), "owner" ([runtime].owner_id), or ids of people as their channels know them'

const Rule = Key.table({
  tools: Key.optional(
    Values.ToolPatterns,
    ["pay_*"],
    "The tools it is for; they need a yes even if require_approval does not name them."
  ),
  timeout_seconds: Key.optional(Values.Seconds, 600, "How long to wait for the answer, in place of the one above."),
  approvers: Key.optional(Values.TextList, ["owner"], `Who may answer, in place of those above: ${anyone}.`),
  quorum: Key.key(Values.PositiveInt, 1, "Of how many of them a yes is needed; one no is enough."),
  requester_may_answer: Key.key(Values.Bool, true, "Whether who asked may answer; false is the rule of two people."),
  escalate_to: Key.optional(Values.TextList, ["owner"], "Who may answer besides when nobody has for a while."),
  escalate_after_seconds: Key.optional(Values.Seconds, 300, "How long that while is; below the timeout.")
})

export const section = Key.key(
  Key.table({
    require_approval: Key.key(Values.ToolPatterns, [], "Tools that run only after a person has said yes."),
    timeout_seconds: Key.key(Values.Seconds, 90, "How long to wait for that answer; silence means no."),
    approvers: Key.key(Values.TextList, ["requester", "owner"], `Who may answer: ${anyone}.`),
    rules: Key.key(
      Key.tables(Rule),
      {},
      "Rules for some tools, under a name of your choice. The first that names a tool is the one for it.",
      { placeholder: "name" }
    )
  }),
  {},
  "Which tool calls a person must allow."
)

type Approval = typeof section.Type

const path = ["tools", "approval"]

export const rules: ReadonlyArray<ConfigRule<{ readonly tools: { readonly approval: Approval } }>> = [
  ({ tools: { approval } }) =>
    approval.approvers.length > 0
      ? []
      : [nobody([...path, "approvers"], "leave the key out for the requester and the owner")],
  ({ tools: { approval } }) => Object.entries(approval.rules).flatMap(([name, rule]) => ofRule(approval, name, rule))
]

const ofRule = (approval: Approval, name: string, rule: Approval["rules"][string]): ReadonlyArray<Finding> => {
  const at = [...path, "rules", name]
  const escalateTo = rule.escalate_to ?? []
  const approvers = rule.approvers ?? approval.approvers
  const all = new Set([...approvers, ...escalateTo])
  if (!rule.requester_may_answer) all.delete("requester")
  const escalates = rule.escalate_after_seconds
  const timeout = rule.timeout_seconds ?? approval.timeout_seconds
  const findings: Array<Finding> = []
  if ((rule.tools ?? []).length === 0) {
    findings.push({ path: [...at, "tools"], found: "no tool", expected: "at least one tool, or no such rule" })
  }
  if (rule.approvers?.length === 0) {
    findings.push(nobody([...at, "approvers"], "leave the key out for those of [tools.approval].approvers"))
  }
  if (all.size < rule.quorum && rule.approvers?.length !== 0) {
    findings.push({
      path: [...at, "quorum"],
      found: "more than the people who may answer",
      expected: `at most ${all.size}, the number of those in approvers and escalate_to who may`,
      hint: "without enough of them every call would be denied"
    })
  }
  if (escalateTo.length > 0 !== (escalates !== undefined)) {
    findings.push({
      path: [...at, escalates === undefined ? "escalate_to" : "escalate_after_seconds"],
      found: escalates === undefined ? "people without a time" : "a time without people",
      expected: "escalate_to and escalate_after_seconds together, or neither"
    })
  }
  if (escalates !== undefined && Duration.isGreaterThanOrEqualTo(escalates, timeout)) {
    findings.push({
      path: [...at, "escalate_after_seconds"],
      found: "a time that is not below the timeout",
      expected: `less than ${Duration.toSeconds(timeout)} seconds, after which the answer is no`
    })
  }
  return findings
}

const nobody = (at: Finding["path"], hint: string): Finding => ({
  path: at,
  found: "an empty list",
  expected: "at least one who may answer",
  hint
})
