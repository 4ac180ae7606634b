import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { streamStep, toAiToolkit } from "../../src/model/ToolSchema.ts"
import type { StepPart } from "../../src/model/ToolSchema.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"

const wait = {
  name: "wait",
  description: "Waits.",
  parameters: {
    type: "object",
    properties: { milliseconds: { type: "integer", minimum: 1 } },
    required: ["milliseconds"],
    additionalProperties: false
  }
}

/** What reaches the loop when the model calls tools with the given arguments. */
const callsOf = (...calls: ReadonlyArray<readonly [name: string, params: unknown]>) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make([calls.map(([name, params]) => ScriptedModel.toolCall(name, params))])
    const parts = yield* Stream.runCollect(streamStep(model.languageModel, { prompt: "go", tools: [wait] }))
    return parts.filter((part: StepPart) => part.type === "tool-call").map((part) => [part.name, part.params] as const)
  })

describe("streamStep", () => {
  it.effect("hands over arguments that fit", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* callsOf(["wait", { milliseconds: 5 }]), [["wait", { milliseconds: 5 }]])
    })
  )

  it.effect("hands over arguments that are not JSON, as the raw text", () =>
    Effect.gen(function* () {
      const raw = '```json\n{"milliseconds": 5'
      assert.deepStrictEqual(yield* callsOf(["wait", raw]), [["wait", raw]])
    })
  )

  it.effect("hands over arguments that do not fit the schema, unchanged", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* callsOf(["wait", { milliseconds: "soon", extra: [1] }], ["wait", null], ["wait", [1]]),
        [
          ["wait", { milliseconds: "soon", extra: [1] }],
          ["wait", null],
          ["wait", [1]]
        ]
      )
    })
  )

  it.effect("hands over calls to tools that were not offered", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* callsOf(["no_such_tool", { a: 1 }], ["wait", { milliseconds: 1 }]), [
        ["no_such_tool", { a: 1 }],
        ["wait", { milliseconds: 1 }]
      ])
    })
  )

  it.effect("works with no tool at all", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([[ScriptedModel.text("hi"), ScriptedModel.toolCall("ghost", "{")]])
      const parts = yield* Stream.runCollect(streamStep(model.languageModel, { prompt: "go", tools: [] }))
      assert.deepStrictEqual(
        parts.map((part) => part.type),
        ["text-start", "text-delta", "text-end", "tool-call", "finish"]
      )
    })
  )

  it.effect.prop("never fails on any JSON the model may write", { params: Schema.Json }, ({ params }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* callsOf(["wait", params]), [["wait", params]])
    })
  )
})

describe("toAiToolkit", () => {
  it.effect("refuses to run tools itself", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(toAiToolkit([wait]).handle("wait", { milliseconds: 1 }))
      assert.strictEqual(error.reason._tag, "ToolConfigurationError")
    })
  )
})
