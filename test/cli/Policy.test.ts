import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Program from "./Program.ts"

const rules = `
[tools.approval]
require_approval = ["wait"]
[policy.rules.releases]
decision = "deny"
commands = ["git push"]
reason = "releases are made by people"
[policy.rules.misspelt]
tools = ["basg"]
`

const withRules = Effect.gen(function* () {
  const at = yield* Program.place
  const path = join(at.home, "config.toml")
  yield* (yield* FileSystem.FileSystem).writeFileString(path, rules)
  return (...args: ReadonlyArray<string>) => Program.run(at, ["--config", path, "policy", ...args])
})

describe("troupe policy", () => {
  it.live(
    "explains a call, action by action, and names what decides",
    () =>
      Effect.gen(function* () {
        const policy = yield* withRules
        const said = yield* policy("explain", "bash", "env git push > log")
        assert.strictEqual(said.code, 0, said.stderr)
        assert.deepStrictEqual(said.stdout.split("\n").slice(0, 5), [
          "bash: deny",
          "  allow  run env git push",
          "         no rule is about it: [policy].default",
          "  deny   run git push",
          "         releases: releases are made by people"
        ])
        const json = yield* policy("explain", "bash", '{"command":"git push"}', "--json")
        assert.include(json.stdout, '"decision":"deny","rule":"releases"')
        const asks = yield* policy("explain", "wait", '{"milliseconds":5}')
        assert.include(asks.stdout, "[tools.approval].require_approval")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "refuses what is no call",
    () =>
      Effect.gen(function* () {
        const policy = yield* withRules
        const unknown = yield* policy("explain", "bas", "x")
        assert.deepStrictEqual([unknown.code, unknown.stderr.includes("did you mean bash?")], [2, true])
        const refused = yield* policy("explain", "bash", '{"cmd":"x"}')
        assert.deepStrictEqual([refused.code, refused.stderr.includes("cmd")], [2, true])
        assert.strictEqual((yield* policy("explain", "bash", `{"`)).code, 2)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "lists the rules, and what is most often a slip",
    () =>
      Effect.gen(function* () {
        const policy = yield* withRules
        const { code, stdout } = yield* policy("check")
        assert.strictEqual(code, 0)
        assert.include(stdout, "deny   releases: commands git push")
        assert.include(stdout, "policy.rules.misspelt.tools[0] matches no built-in tool; did you mean bash?")
        assert.include(stdout, "Without a rule: allow.")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
