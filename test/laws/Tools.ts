/**
 * What holds for every tool that is registered, whoever wrote it. `laws` takes a layer that registers the tools under test
 * and the pipeline they run in.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import type { Approvals } from "../../src/approval/Approvals.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import * as ToolResult from "../../src/tool/ToolResult.ts"
import * as Fixtures from "../tool/Fixtures.ts"

/** The most time a call may take beyond its limit, on the test clock. */
const grace = Duration.seconds(1)

const isResult = Schema.is(ToolResult.ToolResult)
const isObject = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

export const laws = <E>(name: string, tools: Layer.Layer<ToolCalls | ToolRegistry | Approvals, E>) =>
  describe(`the tools of ${name}`, () => {
    const forEachTool = (check: (tool: Tool.Any) => Effect.Effect<void>) =>
      Effect.gen(function* () {
        const all = yield* (yield* ToolRegistry).all
        assert.isNotEmpty(all)
        yield* Effect.forEach(all, check, { discard: true })
      }).pipe(Effect.provide(tools))

    it.effect("have a name that every model takes, and a description", () =>
      forEachTool((tool) =>
        Effect.sync(() => {
          assert.isTrue(ToolName.acceptable(tool.name), tool.name)
          assert.match(tool.name, /^[a-z][a-z0-9_]*$/)
          assert.isAtLeast(tool.description.trim().length, 10, tool.name)
        })
      )
    )

    it.effect("have a time limit that is finite and more than nothing, and an output limit", () =>
      forEachTool((tool) =>
        Effect.sync(() => {
          const millis = Duration.toMillis(tool.limits.timeout)
          assert.isTrue(Number.isFinite(millis) && millis > 0, `${tool.name}: ${tool.limits.timeout}`)
          assert.isAtLeast(tool.limits.output.maxChars, 1)
          for (const count of [tool.limits.concurrency, tool.limits.perTurn]) {
            assert.isTrue(count === undefined || (Number.isSafeInteger(count) && count > 0), tool.name)
          }
        })
      )
    )

    it.effect("say what a restart may do, and how they can be stopped", () =>
      forEachTool((tool) =>
        Effect.sync(() => {
          assert.include(["safe", "idempotent", "unknown"], tool.replay)
          assert.include(["interruptible", "atomic"], tool.cancellation)
          for (const key of tool.identifiedBy) assert.property(tool.parameters.fields, key)
        })
      )
    )

    it.effect("show a model a closed object schema without references or noise", () =>
      Effect.gen(function* () {
        const registry = yield* ToolRegistry
        for (const tool of yield* registry.all) {
          const schema = (yield* registry.find(tool.name))?.parameters
          assert.isDefined(schema)
          assert.strictEqual(schema["type"], "object", tool.name)
          assertClosed(tool.name, schema)
          const text = JSON.stringify(schema)
          for (const noise of ["$ref", "$defs", "9007199254740991", '"not"']) assert.notInclude(text, noise, tool.name)
        }
      }).pipe(Effect.provide(tools))
    )

    it.effect("refuse a parameter they do not know, and say so without repeating its value", () =>
      Effect.gen(function* () {
        const turn = yield* Fixtures.startTurn()
        for (const tool of yield* (yield* ToolRegistry).all) {
          const parameters = yield* Fixtures.sample(tool.parameters, 1)
          const result = yield* Fixtures.callTool(turn, tool.name, { ...parameters, no_such_parameter: "canary" })
          assert.strictEqual(result.errorCode, "invalid_tool_arguments", tool.name)
          assert.notInclude(result.text, "canary", tool.name)
        }
      }).pipe(Effect.provide(tools))
    )

    it.effect.prop(
      "answer any arguments with one result, in time",
      { written: Schema.String, any: Schema.Json },
      ({ any, written }) =>
        Effect.gen(function* () {
          const registry = yield* ToolRegistry
          for (const tool of yield* registry.all) {
            // What another tool has read is no reason to ask about this one.
            const turn = yield* Fixtures.startTurn()
            for (const given of [written, JSON.stringify(any), likely(tool, any)]) {
              assertResult(tool, yield* finished(tool, Fixtures.callTool(turn, tool.name, given)))
            }
          }
        }).pipe(Effect.provide(tools), Effect.scoped),
      { arbitrary: { runs: 20 } }
    )

    it.effect.prop(
      "answer parameters that fit their own schema with one result, in time",
      { seed: Schema.Int },
      ({ seed }) =>
        Effect.gen(function* () {
          const registry = yield* ToolRegistry
          for (const tool of yield* registry.all) {
            // What another tool has read is no reason to ask about this one.
            const turn = yield* Fixtures.startTurn()
            const parameters = yield* Fixtures.sample(tool.parameters, seed)
            const result = yield* finished(tool, Fixtures.callTool(turn, tool.name, parameters))
            assertResult(tool, result)
            assert.notStrictEqual(result.errorCode, "tool_execution_failed", tool.name)
            assert.notStrictEqual(result.outcome, "timeout", tool.name)
          }
        }).pipe(Effect.provide(tools), Effect.scoped),
      { arbitrary: { runs: 20 } }
    )
  })

/** Runs to the end on the test clock, which goes on to the tool's limit and no further. */
const finished = Effect.fnUntraced(function* <R>(tool: Tool.Any, call: Effect.Effect<ToolResult.ToolResult, never, R>) {
  const fiber = yield* Effect.forkChild(call)
  const limit = Duration.sum(Duration.fromInputUnsafe(tool.limits.timeout), grace)
  const before = yield* Clock.currentTimeMillis
  yield* TestClock.adjust(limit)
  const result = yield* Fiber.join(fiber)
  assert.isAtMost((yield* Clock.currentTimeMillis) - before, Duration.toMillis(limit), tool.name)
  return result
})

/** Arguments of the tool's own names with values that need not fit. */
const likely = (tool: Tool.Any, any: Schema.Json): string =>
  JSON.stringify(Object.fromEntries(Object.keys(tool.parameters.fields).map((name) => [name, any])))

const assertResult = (tool: Tool.Any, result: ToolResult.ToolResult): void => {
  assert.isTrue(isResult(result), tool.name)
  assert.isTrue(result.text.isWellFormed() && !result.text.includes("\0"), tool.name)
  if (result.status === "success") {
    assert.strictEqual(result.outcome, "completed")
    return
  }
  assert.isTrue(isObject(result.data) && result.data["ok"] === false, tool.name)
  assert.match(result.errorCode ?? "", /^[a-z][a-z0-9_]*(:[a-z0-9_]+)*$/, tool.name)
  assert.isTrue(
    isObject(result.data) && typeof result.data["error"] === "string" && result.data["error"] !== "",
    tool.name
  )
}

const assertClosed = (tool: string, schema: unknown): void => {
  if (Array.isArray(schema)) {
    for (const item of schema) assertClosed(tool, item)
  } else if (isObject(schema)) {
    if ("properties" in schema) assert.strictEqual(schema["additionalProperties"], false, tool)
    for (const inner of Object.values(schema)) assertClosed(tool, inner)
  }
}
