/** What `troupe policy` prints for a person. */
import type * as Rules from "../policy/Rules.ts"
import * as Redaction from "../tool/Redaction.ts"
import type { Style } from "./Style.ts"

interface Judged {
  readonly decision: Rules.Decision
  readonly rule: string | null
  readonly reason: string
}

/** The decision, and below it each action with what decided it. */
export const explanation = (
  explained: Judged & { readonly tool: string; readonly actions: ReadonlyArray<Judged & { readonly action: string }> },
  style: Style
): string => {
  const lines = explained.actions.map(
    (one) =>
      `  ${painted(style, one.decision, one.decision.padEnd(5))}  ${shown(one.action)}\n         ${style.dim(why(one))}\n`
  )
  return `${style.bold(explained.tool)}: ${painted(style, explained.decision, explained.decision)}\n${lines.join("")}`
}

/** The rules, one a line, and what is to be noted of them. */
export const rules = (
  found: {
    readonly default: Rules.Decision
    readonly rules: ReadonlyArray<Rules.RuleInput & { readonly name: string }>
    readonly require_approval: ReadonlyArray<string>
    readonly tainted: Rules.Decision
    readonly tainted_effects: ReadonlyArray<string>
    readonly notes: ReadonlyArray<string>
  },
  style: Style
): string => {
  const lines = found.rules.map(
    (rule) =>
      `  ${painted(style, rule.decision, rule.decision.padEnd(5))}  ${shown(rule.name)}: ${shown(conditions(rule))}\n`
  )
  const approval =
    found.require_approval.length === 0
      ? ""
      : `  ${painted(style, "ask", "ask  ")}  [tools.approval].require_approval: ${shown(found.require_approval.join(", "))}\n`
  const notes = found.notes.map((note) => `  - note: ${shown(note)}\n`)
  const tainted =
    found.tainted === "allow"
      ? ""
      : `  ${painted(style, found.tainted, found.tainted.padEnd(5))}  [policy].tainted: ${shown(found.tainted_effects.join(", "))} once others' content was read\n`
  return `${lines.join("")}${approval}${tainted}Without a rule: ${painted(style, found.default, found.default)}.\n${notes.join("")}`
}

interface Simulated {
  readonly calls: number
  readonly undecided: number
  readonly changed: number
  readonly changes: ReadonlyArray<{
    readonly tool: string
    readonly was: Rules.Decision
    readonly now: Rules.Decision
    readonly rule: string | null
    readonly calls: number
    readonly first: string
  }>
}

/** What would be decided in another way, the most frequent first. */
export const simulation = ({ calls, changed, changes, undecided }: Simulated, style: Style): string => {
  const lines = changes.map(
    (one) =>
      `  ${String(one.calls).padStart(6)}  ${shown(one.tool)}: ${painted(style, one.was, one.was)} → ${painted(style, one.now, one.now)}` +
      `  ${style.dim(shown(one.rule ?? "[policy].default"))}\n          ${style.dim(`such as ${shown(one.first)}`)}\n`
  )
  const without = undecided === 0 ? "" : `; ${undecided} without a decision were left out`
  return `${changed} of ${calls} calls would be decided in another way${without}.\n${lines.join("")}`
}

const kinds = ["tools", "commands", "paths", "access", "hosts", "methods", "agents", "channels", "threads"] as const

const conditions = (rule: Rules.RuleInput): string => {
  const given = kinds.flatMap((kind) => (rule[kind].length === 0 ? [] : [`${kind} ${rule[kind].join(", ")}`]))
  const tainted = rule.when_tainted ? ["when tainted"] : []
  const priority = rule.priority === 0 ? [] : [`priority ${rule.priority}`]
  return [...(given.length === 0 ? ["any call"] : given), ...tainted, ...priority].join("; ")
}

const why = ({ reason, rule }: Judged): string => {
  if (rule === null) return `no rule is about it: [policy].default`
  return shown(reason === "" ? rule : `${rule}: ${reason}`)
}

const shown = (text: string): string => Redaction.clip(Redaction.visible(text), 400)

const painted = (style: Style, decision: Rules.Decision, text: string): string =>
  ({ allow: style.good, ask: style.asking, deny: style.bad })[decision](text)
