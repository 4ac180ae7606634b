/** What judging calls costs, and the whole way of a call through the pipeline without a question. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import * as Report from "./Report.ts"

const Nothing = Tool.make("nothing", {
  description: "Does nothing.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ text: Schema.String }),
  failure: Tool.NoFailure,
  limits: { timeout: "1 second", output: { maxChars: 1_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own"
})

const handler = ({ text }: { readonly text: string }) => Effect.succeed({ text })

/** As many rules as a careful person writes, of every kind. */
const rules = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [
    [`command-${at}`, { decision: "ask", commands: [`program${at} push`, "git push"] }],
    [`path-${at}`, { decision: "deny", paths: [`private-${at}/**`], access: ["write"] }],
    [`host-${at}`, { decision: "ask", hosts: [`*.example-${at}.org`], when_tainted: at % 2 === 0 }]
  ]).flat()
)

const world = Layer.provideMerge(
  ToolRegistry.layer([Nothing], { nothing: handler }),
  Fixtures.pipeline({ policy: { rules } })
)

const commands = [
  "ls -la src && grep -rn needle src | head -20",
  "git -C work status --short; git log --oneline -5",
  'for f in *.txt; do wc -l "$f"; done',
  "npm test -- --run test/policy 2>&1 | tail -5"
]

const rounds = 5_000

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>, times = rounds) =>
  Effect.gen(function* () {
    const micros: Array<number> = []
    for (let at = 0; at < times; at++) {
      const began = performance.now()
      yield* effect
      micros.push((performance.now() - began) * 1000)
    }
    return micros.toSorted((one, other) => one - other)
  })

/** The quietest of several rounds: what else the machine does is no cost of ours. */
const quietest = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(
    Effect.forEach(Array.from({ length: 10 }), () => timed(effect, 500)),
    (all) => all.toSorted((one, other) => at(one, 0.99) - at(other, 0.99))[0] ?? []
  )

const at = (sorted: ReadonlyArray<number>, part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0

const measuring = Effect.gen(function* () {
  const policy = yield* Policy
  const caller = { agent: "troupe", channel: "console", thread: "console:main", tainted: true }
  let next = 0
  const judge = Effect.suspend(() => {
    const command = commands[next++ % commands.length] ?? ""
    return policy.judge({ ...caller, tool: "bash", actions: [Action.shell(command, ".")] })
  })
  const request = policy.judge({
    ...caller,
    tool: "http_request",
    actions: [Action.connect("POST", "https://api.example-3.org/v1")]
  })
  yield* timed(judge, 500)
  const decisions = yield* quietest(judge)
  const requests = yield* quietest(request)
  const turn = yield* Fixtures.startTurn()
  const call = Fixtures.callTool(turn, "nothing", { text: "a few words" })
  const bare = handler({ text: "a few words" })
  yield* timed(call, 500)
  const calls = yield* timed(call)
  const bares = yield* timed(bare)
  const total = decisions.reduce((sum, one) => sum + one, 0)
  const found: ReadonlyArray<Report.Measurement> = [
    {
      name: "policy: decisions on commands of the shell, 30 rules",
      value: (decisions.length / total) * 1e6,
      unit: "/s",
      target: 1_000,
      better: "higher"
    },
    { name: "policy: one decision on a command, p99", value: at(decisions, 0.99) / 1000, unit: "ms", target: 1 },
    { name: "policy: one decision on a request, p99", value: at(requests, 0.99) / 1000, unit: "ms", target: 1 },
    {
      name: "pipeline: a call without a question, beyond its handler, median",
      value: at(calls, 0.5) - at(bares, 0.5),
      unit: "µs",
      target: 150
    }
  ]
  return found
})

export const measure = (): Promise<ReadonlyArray<Report.Measurement>> =>
  Effect.runPromise(Effect.scoped(Effect.provide(measuring, world)))
