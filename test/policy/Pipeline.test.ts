/** The policy in front of real calls. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Action from "../../src/policy/Action.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "../tool/Fixtures.ts"

let ran: Array<string> = []

const Shell = Tool.make("shell", {
  description: "Runs a command.",
  parameters: Schema.Struct({ command: Schema.String }),
  success: Schema.Struct({ ok: Schema.Boolean }),
  failure: Tool.NoFailure,
  limits: { timeout: "1 second", output: { maxChars: 1_000 } },
  cancellation: "interruptible",
  replay: "unknown",
  capabilities: [],
  actions: ({ command }) => [Action.shell(command)]
})

const shell = ToolRegistry.layer([Shell], {
  shell: ({ command }) =>
    Effect.sync(() => {
      ran.push(command)
      return { ok: true }
    })
})

const withShell = (policy: NonNullable<SettingsInput["policy"]>) =>
  Layer.provideMerge(shell, Fixtures.pipeline({ policy }))

const call = (policy: NonNullable<SettingsInput["policy"]>, command: string, channel?: string) =>
  Effect.gen(function* () {
    ran = []
    const tools = yield* Fixtures.startTurn(undefined, channel)
    return yield* Fixtures.callTool(tools, "shell", { command })
  }).pipe(Effect.provide(withShell(policy)))

describe("a call that a rule is about", () => {
  it.effect("is not run when the rule denies it, and the model is told which rule it was", () =>
    Effect.gen(function* () {
      const rules = {
        pushes: { decision: "deny", commands: ["git push"], reason: "releases are made by people" }
      } as const
      const result = yield* call({ rules }, "git push")
      assert.deepStrictEqual(ran, [])
      assert.deepStrictEqual(
        [result.status, result.outcome, result.errorCode],
        ["error", "forbidden", "tool:forbidden"]
      )
      assert.include(result.text, "the rule pushes forbids it (releases are made by people)")
      assert.strictEqual((yield* call({ rules }, "git pull")).status, "success")
      assert.deepStrictEqual(ran, ["git pull"])
    })
  )

  it.effect("F033 — is denied when the rule asks and nobody can be asked", () =>
    Effect.gen(function* () {
      const rules = { pushes: { decision: "ask", commands: ["git push"] } } as const
      const result = yield* call({ rules }, "git push", "script")
      assert.deepStrictEqual([result.outcome, ran.length], ["denied", 0])
      assert.include(result.text, "nobody could be asked")
    })
  )

  it.effect("is as the default says when no rule is about it", () =>
    Effect.gen(function* () {
      const refused = yield* call({ default: "deny" }, "ls")
      assert.deepStrictEqual([refused.outcome, ran.length], ["forbidden", 0])
      assert.include(refused.text, "[policy].default")
      const rules = { listing: { decision: "allow", commands: ["ls"] } } as const
      assert.strictEqual((yield* call({ default: "deny", rules }, "ls")).status, "success")
    })
  )

  it.effect("F032 — gets the same answer from code as from the model", () =>
    Effect.gen(function* () {
      ran = []
      const program = Effect.gen(function* () {
        const tools = yield* Fixtures.startTurn()
        return yield* Effect.flip((yield* ToolCalls).call(tools, Shell, { command: "git push" }))
      })
      const rules = { pushes: { decision: "deny", commands: ["git push"] } } as const
      const error = yield* program.pipe(Effect.provide(withShell({ rules })))
      assert.deepStrictEqual([error._tag, ran.length], ["ToolForbidden", 0])
    })
  )
})
