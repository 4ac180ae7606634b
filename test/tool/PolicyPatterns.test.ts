import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as PolicyPatterns from "../../src/tool/PolicyPatterns.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { CurrentDatetime } from "../../src/tools/utility/CurrentDatetime.ts"

const names = ["calculate_expression", "wait"]
const input = {
  tools: { approval: { require_approval: ["calculate_expresion", "wait", "calc*", "shell"] } },
  orchestration: { main_agent: { tools_deny: ["nothing_*"] } }
}

describe("patterns of tools in the settings", () => {
  it.effect("each one that matches no tool is told, with the tool that was meant", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(PolicyPatterns.unmatched(yield* Settings, names), [
        "tools.approval.require_approval[0] matches no tool; did you mean calculate_expression?",
        "tools.approval.require_approval[3] matches no tool; `troupe tools` lists them",
        "orchestration.main_agent.tools_deny[0] matches no tool; `troupe tools` lists them"
      ])
    }).pipe(Effect.provide(Settings.layer(input)))
  )

  it.effect("allowed ones too, and with the kind of tool that was looked at", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(PolicyPatterns.unmatched(yield* Settings, names, "built-in "), [
        "orchestration.main_agent.tools_allow[0] matches no built-in tool; did you mean wait?"
      ])
    }).pipe(Effect.provide(Settings.layer({ orchestration: { main_agent: { tools_allow: ["wiat", "wait"] } } })))
  )

  it.effect("is logged when the conversations begin, after all tools are there", () => {
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
    const runtime = TestRuntime.layer({
      scripts: [],
      tools: ToolRegistry.layer([CurrentDatetime], { current_datetime: () => Effect.die("not called") }),
      settings: { tools: { approval: { require_approval: ["current_datetim", "current_*"] } } }
    })
    return Effect.gen(function* () {
      yield* TestRuntime.TestRuntime
      assert.deepStrictEqual(lines.flat(), [
        "tools.approval.require_approval[0] matches no tool; did you mean current_datetime?"
      ])
    }).pipe(Effect.provide(Layer.provide(runtime, logger)))
  })
})
