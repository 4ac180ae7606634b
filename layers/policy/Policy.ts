/** The policy of the settings. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import * as Rules from "../../src/policy/Rules.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Places from "./Places.ts"

/** The name that the list of settings goes by among the rules. */
const approvalRule = "[tools.approval].require_approval"

export const layer: Layer.Layer<Policy, never, Settings | DataDirectory> = Layer.effect(
  Policy,
  Effect.gen(function* () {
    const rules = rulesOf(yield* Settings)
    const places = yield* Places.make
    return Policy.of({
      judge: Effect.fnUntraced(function* (asked) {
        const actions = yield* read(places, asked)
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
    policy.default,
    { decision: policy.tainted, effects: policy.tainted_effects }
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
  threads: [],
  when_tainted: false
}

/**
 * The actions with all forms of their paths, and those that texts for the shell hold in their place. The parser is loaded with the
 * first of these.
 */
const read = Effect.fnUntraced(function* (places: Places.Places, { actions, tool }: Rules.Asked) {
  const found: Array<Action.Action> = []
  const known: Places.Known = new Map()
  for (const action of actions) {
    if (action._tag !== "Shell") {
      found.push(yield* Places.placed(places, known, tool, action))
      continue
    }
    const ShellActions = yield* Effect.promise(() => import("./ShellActions.ts"))
    for (const one of ShellActions.of(action.text)) {
      found.push(yield* Places.placed(places, known, tool, one, action.cwd))
    }
  }
  return found
})
