/** The policy of the settings. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import * as Rules from "../../src/policy/Rules.ts"

/** The name that the list of settings goes by among the rules. */
const approvalRule = "[tools.approval].require_approval"

export const layer: Layer.Layer<Policy, never, Settings> = Layer.effect(
  Policy,
  Effect.map(Settings, (settings) => {
    const rules = rulesOf(settings)
    return Policy.of({
      judge: Effect.fnUntraced(function* (asked) {
        const actions = asked.actions.some(isShell) ? yield* read(asked.actions) : asked.actions
        const each = rules({ ...asked, actions: actions.length === 0 ? [Action.call] : actions })
        const verdict = Rules.strictest(each)
        return verdict === undefined ? yield* Effect.die("a call without actions was judged") : { verdict, each }
      })
    })
  })
)

const rulesOf = ({ policy, tools: { approval } }: Settings["Service"]): Rules.Rules =>
  Rules.make(
    needsYes(approval).length === 0
      ? policy.rules
      : { ...policy.rules, [approvalRule]: { ...unconditional, tools: needsYes(approval) } },
    policy.default
  )

/** A rule about who says yes to a tool would say nothing of one that needs none. */
const needsYes = ({ require_approval, rules }: Settings["Service"]["tools"]["approval"]): ReadonlyArray<string> => [
  ...require_approval,
  ...Object.values(rules).flatMap(({ tools = [] }) => tools)
]

const unconditional: Rules.RuleInput = {
  decision: "ask",
  priority: 0,
  reason: "",
  tools: [],
  commands: [],
  paths: [],
  access: [],
  hosts: [],
  methods: [],
  agents: [],
  channels: [],
  threads: []
}

const isShell = (action: Action.Action): boolean => action._tag === "Shell"

/** The actions, with those that texts for the shell hold in their place. The parser is loaded with the first of them. */
const read = (actions: ReadonlyArray<Action.Action>): Effect.Effect<ReadonlyArray<Action.Action>> =>
  Effect.map(
    Effect.promise(() => import("./ShellActions.ts")),
    (ShellActions) => actions.flatMap((action) => (action._tag === "Shell" ? ShellActions.of(action.text) : [action]))
  )
