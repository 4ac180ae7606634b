import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { EventBus } from "../../src/event/EventBus.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"

const canary = "zq+Canary/0123456789-never-seen"

const Say = Tool.make("say", {
  description: "Says it again.",
  parameters: Schema.Struct({ text: Schema.String }),
  success: Schema.Struct({ said: Schema.String }),
  failure: Schema.Struct({ code: Schema.String, message: Schema.String }),
  limits: { timeout: "1 second", output: { maxChars: 4000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: []
})

const runtime = (scripts: ScriptedModel.Scripts) =>
  TestRuntime.layer({
    scripts,
    tools: ToolRegistry.layer([Say], { say: ({ text }) => Effect.succeed({ said: `${text} ${canary}` }) }),
    settings: { providers: { acme: { base_url: "http://acme.test/v1", api_key: canary } } }
  })

const assertNone = (what: unknown) => {
  const text = JSON.stringify(what)
  for (const form of [
    canary.slice(3, 12),
    encodeURIComponent(canary).slice(3, 20),
    Buffer.from(canary).toString("hex")
  ]) {
    assert.notInclude(text, form)
  }
  assert.include(text, "[redacted]")
}

describe("F057 a turn", () => {
  it.effect("F059 an answer that holds a known secret, cut anywhere, is masked as it streams and as it is kept", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus
      const events = yield* Effect.forkChild(
        Stream.runCollect(Stream.takeUntil(yield* bus.subscribe, ({ _tag }) => _tag === "TurnCompleted"))
      )
      const { answer, entries } = yield* (yield* TestRuntime.TestRuntime).say("hello")
      assert.strictEqual(answer, "the key is [redacted], and [redacted]")
      assertNone(entries)
      const deltas = (yield* Fiber.join(events)).filter((event) => event._tag === "ModelDelta")
      assertNone(deltas)
      const shown = (kind: string) => deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join("")
      assert.strictEqual(shown("text"), answer)
      assert.strictEqual(shown("reasoning"), "thinking of [redacted].")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        runtime([
          [
            ScriptedModel.reasoning("thinking of ", ...canary, "."),
            ScriptedModel.text("the key is ", ...`${canary}, and `, encodeURIComponent(canary).slice(0, 9)),
            ScriptedModel.text(encodeURIComponent(canary).slice(9, 30))
          ]
        ])
      )
    )
  )

  it.effect("F057 neither a prompt nor the arguments of a call hold one", () => {
    const prompts: Array<unknown> = []
    return Effect.gen(function* () {
      const { entries } = yield* (yield* TestRuntime.TestRuntime).say(`my key is ${canary}`)
      assert.strictEqual(prompts.length, 2)
      for (const prompt of prompts) assertNone(prompt)
      assertNone(entries.filter(({ _tag }) => _tag === "AssistantMessage"))
      assertNone(entries.filter(({ _tag }) => _tag === "ToolResult"))
    }).pipe(
      Effect.provide(
        runtime(({ index, prompt }) => {
          prompts.push(prompt)
          return index === 0
            ? [ScriptedModel.toolCall("say", { text: `it is ${encodeURIComponent(canary)}` })]
            : [ScriptedModel.text("Done.")]
        })
      )
    )
  })
})
