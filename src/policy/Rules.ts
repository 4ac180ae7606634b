/**
 * Rules over actions, made ready to be asked many times. A rule names conditions; it concerns an action when all of them hold.
 *
 * Of the rules that concern an action, one that denies decides, whatever else there is. Otherwise the one of the highest
 * priority decides, and of those the one that asks. A call is as its strictest action is.
 */
import * as Glob from "effect/Glob"
import * as ToolPattern from "../config/ToolPattern.ts"
import * as Action from "./Action.ts"
import * as CommandPattern from "./CommandPattern.ts"
import * as Outward from "./Outward.ts"

export type Decision = "allow" | "ask" | "deny"

/** A rule as it stands in the settings. An empty list is no condition. */
export interface RuleInput {
  readonly decision: Decision
  readonly priority: number
  readonly reason: string
  readonly tools: ReadonlyArray<string>
  readonly commands: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  readonly access: ReadonlyArray<Action.Access>
  readonly hosts: ReadonlyArray<string>
  readonly methods: ReadonlyArray<string>
  readonly agents: ReadonlyArray<string>
  readonly channels: ReadonlyArray<string>
  readonly threads: ReadonlyArray<string>
  /** Whether it is only about turns that have read what others wrote. */
  readonly when_tainted: boolean
}

/** What holds in turns that have read what others wrote, whatever the rules say: a rule of priority 0 itself. */
export interface Tainted {
  readonly decision: Decision
  readonly effects: ReadonlyArray<Outward.Kind>
}

/** Who makes a call, and where. */
export interface Caller {
  readonly agent: string
  readonly channel: string
  readonly thread: string
}

export interface Asked extends Caller {
  readonly tool: string
  readonly actions: ReadonlyArray<Action.Action>
  /** Whether the model has read what others wrote. */
  readonly tainted: boolean
}

/** What decided. `rule` is undefined where no rule concerned the action, and the default holds. */
export interface Verdict {
  readonly decision: Decision
  readonly rule: string | undefined
  readonly reason: string
  readonly action: Action.Action
  /** There because the turn is tainted: otherwise the rule would be about nothing. */
  readonly tainted?: true
}

/** The verdict on each action, in their order. */
export type Rules = (asked: Asked) => ReadonlyArray<Verdict>

export const make = (
  rules: Readonly<Record<string, RuleInput>>,
  fallback: Decision,
  tainted: Tainted = { decision: "allow", effects: [] }
): Rules => {
  const compiled = [...Object.entries(rules).map(([name, rule]) => compile(name, rule)), ...ofTainted(tainted)]
  return (asked) => {
    const concerned = compiled.filter((rule) => rule.concerns(asked))
    return asked.actions.map((action) => decide(concerned, action, fallback))
  }
}

const strictness: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** The strictest of them, the first where several are; undefined when there are none. */
export const strictest = (verdicts: ReadonlyArray<Verdict>): Verdict | undefined => {
  let worst: Verdict | undefined
  for (const verdict of verdicts) {
    if (worst === undefined || strictness[verdict.decision] > strictness[worst.decision]) worst = verdict
  }
  return worst
}

// ---------------------------------------------------------------------------------------------------------------------
// One rule

/** Whether a rule concerns an action: for sure, perhaps (it cannot be seen), or not. */
type Match = "yes" | "perhaps" | "no"

interface Compiled {
  readonly name: string
  readonly decision: Decision
  readonly priority: number
  readonly reason: string
  readonly whenTainted: boolean
  readonly concerns: (asked: Asked) => boolean
  readonly matches: (action: Action.Action) => Match
}

const compile = (name: string, rule: RuleInput): Compiled => {
  const tools = anyOr(rule.tools, ToolPattern.compile)
  const agents = anyOr(rule.agents, ToolPattern.compile)
  const channels = anyOr(rule.channels, ToolPattern.compile)
  const threads = anyOr(rule.threads, ToolPattern.compile)
  return {
    name,
    decision: rule.decision,
    priority: rule.priority,
    reason: rule.reason,
    whenTainted: rule.when_tainted,
    concerns: (asked) =>
      (asked.tainted || !rule.when_tainted) &&
      tools(asked.tool) &&
      agents(asked.agent) &&
      channels(asked.channel) &&
      threads(asked.thread),
    matches: matcherOf(rule)
  }
}

/** The name that the setting goes by among the rules. */
export const taintedRule = "[policy].tainted"

const ofTainted = ({ decision, effects }: Tainted): ReadonlyArray<Compiled> => {
  const wanted = new Set(effects)
  return decision === "allow"
    ? []
    : [
        {
          name: taintedRule,
          decision,
          priority: 0,
          reason: "this conversation has read what others wrote",
          whenTainted: true,
          concerns: ({ tainted }) => tainted,
          matches: (action) => (Outward.has(wanted, action) ? "yes" : "no")
        }
      ]
}

const anyOr = (
  patterns: ReadonlyArray<string>,
  make: (patterns: ReadonlyArray<string>) => (text: string) => boolean
): ((text: string) => boolean) => (patterns.length === 0 ? () => true : make(patterns))

/** Conditions on what is done. A rule without any concerns whatever the tool does. */
const matcherOf = (rule: RuleInput): ((action: Action.Action) => Match) => {
  const commands = rule.commands.map(CommandPattern.make)
  const paths = rule.paths.map(pathPattern)
  const access = new Set(rule.access)
  const hosts = anyOr(rule.hosts, ToolPattern.compile)
  const methods = new Set(rule.methods)
  const ofCommands = commands.length > 0
  const ofFiles = paths.length > 0 || access.size > 0
  const ofRequests = rule.hosts.length > 0 || methods.size > 0
  if (!ofCommands && !ofFiles && !ofRequests) return () => "yes"
  const careful = rule.decision !== "allow"
  const isPath = (path: string) => paths.some(({ matches }) => matches(path))
  const isAbove = (path: string) => paths.some(({ below }) => below(path))
  const isHost = (host: string) => rule.hosts.length > 0 && hosts(host)
  // What a program does with its words is its own affair: a path or a host among them is a reason to ask.
  const mentions = (word: string | null) =>
    word === null
      ? ofFiles || rule.hosts.length > 0
      : isPath(Action.plainPath(word)) || (rule.hosts.length > 0 && Action.hostsIn(word).some(isHost))
  return (action) => {
    switch (action._tag) {
      case "Run": {
        const asCommand = best(commands, (pattern) => CommandPattern.match(pattern, action.words, careful))
        if (asCommand !== "no" || !careful) return asCommand
        return action.forms?.some(isPath) === true || action.words.some(mentions) ? "perhaps" : "no"
      }
      case "RunUnknown":
        return careful ? "perhaps" : "no"
      case "File": {
        if (!ofFiles || (access.size > 0 && !access.has(action.access))) return "no"
        const { path } = action
        if (path === null) return careful || paths.length === 0 ? "perhaps" : "no"
        const all = action.forms ?? [Action.plainPath(path)]
        if (paths.length === 0 || all.some(isPath)) return "yes"
        return careful && action.whole && all.some(isAbove) ? "perhaps" : "no"
      }
      case "Connect": {
        if (!ofRequests || (methods.size > 0 && !methods.has(action.method))) return "no"
        if (action.host === null) return careful ? "perhaps" : "no"
        return hosts(action.host) ? "yes" : "no"
      }
      case "Shell":
        return careful ? "perhaps" : "no"
      case "Call":
      case "Send":
      case "Secret":
        return "no"
    }
  }
}

interface PathPattern {
  readonly matches: (path: string) => boolean
  /** Whether what matches can only be below the folder. */
  readonly below: (folder: string) => boolean
}

/** `private/**` is about `private` too. */
const pathPattern = (pattern: string): PathPattern => {
  const globs = [pattern, ...(pattern.endsWith("/**") ? [pattern.slice(0, -3)] : [])].map((text) => Glob.make(text))
  const segments = pattern.split("/")
  const wild = segments.findIndex((segment) => /[*?[\]{}\\]/.test(segment))
  const fixed = (wild === -1 ? segments : segments.slice(0, wild)).join("/")
  // Most paths begin otherwise, and comparing beginnings costs a hundredth of matching.
  const isPlain = !pattern.split("/").some((segment, at) => segment === "." || (segment === "" && at > 0))
  const mayMatch = (path: string) =>
    !isPlain || fixed === "" || (path.startsWith(fixed) && (path.length === fixed.length || path[fixed.length] === "/"))
  return {
    matches: (path) => mayMatch(path) && globs.some((glob) => Glob.match(glob, path)),
    below: (folder) => folder === "" || `${fixed}/`.startsWith(`${folder}/`)
  }
}

const best = <A>(all: ReadonlyArray<A>, match: (one: A) => Match): Match => {
  const matches = new Set(all.map(match))
  return matches.has("yes") ? "yes" : matches.has("perhaps") ? "perhaps" : "no"
}

// ---------------------------------------------------------------------------------------------------------------------
// The verdict

interface Candidate {
  readonly rule: Compiled
  readonly decision: Decision
  readonly sure: boolean
}

const decide = (rules: ReadonlyArray<Compiled>, action: Action.Action, fallback: Decision): Verdict => {
  let decided: Candidate | undefined
  for (const rule of rules) {
    const match = rule.matches(action)
    if (match === "no") continue
    // What may be what is denied is not done unasked, and not refused either.
    const candidate: Candidate =
      match === "yes"
        ? { rule, decision: rule.decision, sure: true }
        : { rule, decision: rule.decision === "deny" ? "ask" : rule.decision, sure: false }
    if (decided === undefined || outranks(candidate, decided)) decided = candidate
  }
  if (decided === undefined) {
    // The use of a secret comes with the request or the program that it is for: the default is about those.
    const decision = action._tag === "Secret" ? "allow" : fallback
    return { decision, rule: undefined, reason: "no rule concerns it", action }
  }
  const { decision, rule, sure } = decided
  const reason = sure ? rule.reason : "it may be what the rule is about, and that cannot be seen"
  return { decision, rule: rule.name, reason, action, ...(rule.whenTainted ? { tainted: true } : {}) }
}

const outranks = (one: Candidate, other: Candidate): boolean => {
  if ((one.decision === "deny") !== (other.decision === "deny")) return one.decision === "deny"
  // What may be what is denied is asked about, however high an allowing rule stands.
  const hidden = (candidate: Candidate) => !candidate.sure && candidate.rule.decision === "deny"
  if (hidden(one) !== hidden(other)) return hidden(one)
  return one.rule.priority === other.rule.priority
    ? strictness[one.decision] > strictness[other.decision]
    : one.rule.priority > other.rule.priority
}
