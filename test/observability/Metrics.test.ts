/** What is counted of a turn, a tool call and a delivery, as Prometheus reads it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Schema from "effect/Schema"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "../conversation/Fixtures.ts"
import * as Lives from "../conversation/Lives.ts"

const Add = Tool.make("add", {
  description: "Adds.",
  parameters: Schema.Struct({ a: Schema.Int }),
  success: Schema.Struct({ sum: Schema.Int }),
  failure: Tool.NoFailure,
  limits: { timeout: "1 second", output: { maxChars: 100 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: []
})

const runtime = TestRuntime.layer({
  scripts: [
    [ScriptedModel.toolCall("add", { a: 1 })],
    [ScriptedModel.toolCall("made_up_by_the_model", {})],
    [ScriptedModel.text("done")]
  ],
  tools: ToolRegistry.layer([Add], { add: ({ a }) => Effect.succeed({ sum: a }) })
})

describe("metrics", () => {
  it.effect("count what is on disk: a message, its turn, its responses and its calls, each once", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      yield* troupe.say("hello", { externalId: "one" })
      yield* troupe.say("hello", { externalId: "one" })
      const text = yield* PrometheusMetrics.format()
      const has = (line: string) => assert.include(text.split("\n"), line)
      has(`troupe_messages_accepted_total{channel="test"} 1`)
      has(`troupe_turns_ended_total{state="answered"} 1`)
      has(`troupe_turn_seconds_count 1`)
      has(`troupe_accept_seconds_count 2`)
      has(`troupe_tool_calls_total{tool="add",outcome="completed"} 1`)
      has(`troupe_model_responses_total{provider="scripted",model="scripted",finish_reason="stop"} 1`)
      // What the model of the script counts for each of its three responses.
      has(`troupe_model_tokens_total{provider="scripted",model="scripted",kind="input"} 30`)
      has(`troupe_model_tokens_total{provider="scripted",model="scripted",kind="output"} 15`)
      assert.match(text, /troupe_model_response_seconds_count\{[^}]*\} 3/)
      // A name that only the model knows is no series of its own.
      assert.notInclude(text, "made_up_by_the_model")
      assert.match(text, /troupe_tool_calls_total\{[^}]*tool="unknown"[^}]*\} 1/)
    }).pipe(Effect.provide(runtime), Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("count what is on disk although who wrote it was interrupted at that moment", () => {
    const interruptible = new Set(["accept", "append", "resumeTurn"])
    /** Interrupts who does this for the first time, when it is done. */
    const interrupted =
      <Args extends ReadonlyArray<unknown>, A, E>(name: string, write: (...args: Args) => Effect.Effect<A, E>) =>
      (...args: Args) =>
        Effect.tap(write(...args), () =>
          Effect.withFiber((fiber) =>
            Effect.sync(() => {
              if (interruptible.delete(name)) fiber.interruptUnsafe()
            })
          )
        )
    const runtime = TestRuntime.layer({
      scripts: [[ScriptedModel.toolCall("add", { a: 1 })], [ScriptedModel.text("done")]],
      tools: ToolRegistry.layer([Add], { add: ({ a }) => Effect.succeed({ sum: a }) }),
      journal: (journal) => ({
        ...journal,
        accept: interrupted("accept", journal.accept),
        append: interrupted("append", journal.append),
        resumeTurn: interrupted("resumeTurn", journal.resumeTurn)
      })
    })
    return Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const first = yield* Effect.forkChild(troupe.accept("hello", { externalId: "one" }))
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(first)))
      const outcome = yield* Fixtures.whileTimePasses(troupe.say("hello", { externalId: "one" }))
      assert.strictEqual(outcome.answer, "done")
      assert.strictEqual(interruptible.size, 0)
      const figures = (yield* PrometheusMetrics.format()).split("\n")
      const has = (line: string) => assert.include(figures, line)
      has(`troupe_messages_accepted_total{channel="test"} 1`)
      has(`troupe_model_responses_total{provider="scripted",model="scripted",finish_reason="tool-calls"} 1`)
      has(`troupe_turns_resumed_total 2`)
    }).pipe(Effect.provide(runtime), Effect.provideService(Metric.MetricRegistry, new Map()))
  })

  it.effect("count a turn that goes on in another life of the process once, with what each life did of it", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const make: Lives.Make = (at) => ({
        scripts: ({ prompt }) => [
          prompt.content.some(({ role }) => role === "tool")
            ? ScriptedModel.text("done")
            : ScriptedModel.toolCall("add", { a: 1 }),
          ScriptedModel.run(at("model answered"))
        ],
        tools: ToolRegistry.layer([Add], {
          add: ({ a }) => Effect.as(at("call done"), { sum: a })
        })
      })
      const say = Effect.flatMap(TestRuntime.TestRuntime, (troupe) => troupe.say("hello", { externalId: "one" }))
      assert.strictEqual(yield* Lives.killedAt(store, "call done", make, say), "call done")
      yield* Lives.whole(store, make, say)
      const lines = (yield* PrometheusMetrics.format()).split("\n")
      for (const line of [
        `troupe_messages_accepted_total{channel="test"} 1`,
        `troupe_turns_resumed_total 1`,
        `troupe_turns_ended_total{state="answered"} 1`,
        `troupe_turn_seconds_count 1`,
        `troupe_tool_calls_total{tool="add",outcome="completed"} 1`,
        `troupe_model_responses_total{provider="scripted",model="scripted",finish_reason="tool-calls"} 1`,
        `troupe_model_responses_total{provider="scripted",model="scripted",finish_reason="stop"} 1`,
        `troupe_model_tokens_total{provider="scripted",model="scripted",kind="input"} 20`
      ]) {
        assert.include(lines, line)
      }
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
