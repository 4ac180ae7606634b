/** What the policy of a settings file says of a call that is not made, and which rules there are. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CommandFailed from "../../src/cli/CommandFailed.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Suggest from "../../src/config/Suggest.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import type * as Rules from "../../src/policy/Rules.ts"
import * as Arguments from "../../src/tool/Arguments.ts"
import * as Display from "../../src/tool/Display.ts"
import * as PolicyPatterns from "../../src/tool/PolicyPatterns.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"

export interface Question extends Rules.Caller {
  readonly tool: string
  /** A JSON object; or the text of the parameter that tells most of a call. Undefined for no parameters. */
  readonly arguments: string | undefined
  /** Whether the conversation has read what others wrote. */
  readonly tainted: boolean
}

export interface Explanation {
  readonly tool: string
  readonly decision: Rules.Decision
  readonly rule: string | null
  readonly reason: string
  readonly actions: ReadonlyArray<{
    readonly action: string
    readonly decision: Rules.Decision
    readonly rule: string | null
    readonly reason: string
  }>
}

const tools: ReadonlyMap<string, Tool.Any> = new Map(
  catalogue.flatMap(({ items }) => items.map(({ tool }) => [tool.name, tool] as const))
)

/** Fails when there is no such tool, or when it would refuse the parameters. */
export const explain = Effect.fn("Policy.explain")(function* (question: Question) {
  const name = ToolName.canonical(question.tool)
  const tool = tools.get(name)
  if (tool === undefined) return yield* unknownTool(question.tool)
  const given = yield* parametersOf(tool, question.arguments)
  const asked = { ...question, tool: name, actions: tool.actionsOf(given) }
  const { each, verdict } = yield* (yield* Policy).judge(asked)
  const { decision, reason, rule = null } = verdict
  const explanation: Explanation = {
    tool: name,
    decision,
    rule,
    reason,
    actions: each.map(({ action, decision, reason, rule = null }) => ({
      action: Action.describe(action),
      decision,
      rule,
      reason
    }))
  }
  return explanation
})

/** The rules in force, and what is most often a slip in them. */
export const check = Effect.gen(function* () {
  const settings = yield* Settings
  const { policy, tools: toolSettings } = settings
  const notes = PolicyPatterns.unmatched(settings, Array.from(tools.keys()), "built-in ")
  return {
    default: policy.default,
    rules: Object.entries(policy.rules).map(([name, rule]) => ({ name, ...rule })),
    tainted: policy.tainted,
    tainted_effects: policy.tainted_effects,
    require_approval: toolSettings.approval.require_approval,
    notes: notes.filter((note) => /^(policy|tools\.approval)\./.test(note))
  }
})

const unknownTool = (name: string) => {
  const nearest = Suggest.nearest(name, Array.from(tools.keys()))
  const hint = nearest === undefined ? "`troupe tools --all` lists them" : `did you mean ${nearest}?`
  return CommandFailed.usage(`There is no built-in tool ${Display.name(name)}; ${hint}\n`)
}

const parametersOf = Effect.fnUntraced(function* (tool: Tool.Any, given: string | undefined) {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(tool.parameters), {
    errors: "all",
    onExcessProperty: "error"
  })
  const refused = (error: Schema.SchemaError) =>
    CommandFailed.usage(`${tool.name} would refuse these parameters.\n${error.message}\n`)
  if (given === undefined || /^\s*\{\s*["}]/.test(given) || tool.identifiedBy.length === 0) {
    const object = yield* Effect.fromResult(
      Result.mapError(Arguments.read(given ?? "{}"), (problem) => CommandFailed.usage(`${tool.name}: ${problem}\n`))
    )
    return yield* Effect.mapError(decode(object), refused)
  }
  // The first of the telling parameters that makes a whole call.
  return yield* Effect.mapError(
    Effect.firstSuccessOf(tool.identifiedBy.map((name) => decode({ [name]: given }))),
    refused
  )
})
