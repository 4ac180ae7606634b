/**
 * Every built-in tool has what people and models rely on, and every failure that it declares has been seen. It is the registry
 * that is walked: a tool that is added without one of these fails here.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { globSync, readFileSync } from "node:fs"
import * as ParameterSchema from "../../src/tool/ParameterSchema.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import { tools } from "./refusals/Refusals.ts"
import type { Group } from "./refusals/Refusals.ts"

const items = catalogue.flatMap((group) => group.items)
const isData = Schema.is(Schema.Record(Schema.String, Schema.Unknown))

const files = globSync("test/tools/refusals/*.ts").filter((path) => !path.endsWith("Refusals.ts"))
const groups = await Promise.all(
  files.map(async (path): Promise<readonly [string, Group]> => {
    const loaded: { readonly group: Group } = await import(`../../${path}`)
    return [path, loaded.group]
  })
)

describe("every registered tool", () => {
  const all = Effect.flatMap(ToolRegistry, (registry) => registry.all).pipe(Effect.provide(tools({})))

  it.effect("is in the catalogue, in a group with a page, and in the reference of docs/tools.md", () =>
    Effect.gen(function* () {
      const page = readFileSync("docs/tools.md", "utf8")
      for (const { name } of yield* all) {
        const group = catalogue.find((one) => one.items.some(({ tool }) => tool.name === name))
        assert.isDefined(group, name)
        assert.isTrue(readFileSync(`docs/${group.page}`, "utf8").startsWith("# "), group.page)
        assert.include(page, `\n### \`${name}\`\n`, name)
      }
    })
  )

  it.effect("has limits, a result with a schema, and a rule for stops and for restarts", () =>
    Effect.gen(function* () {
      for (const { cancellation, limits, name, replay, success } of yield* all) {
        assert.isAbove(Duration.toMillis(limits.timeout), 0, name)
        assert.isAbove(limits.output.maxChars, 0, name)
        assert.isNotEmpty(Object.keys(ParameterSchema.toJsonSchema(success)["properties"] ?? {}), name)
        assert.include(["interruptible", "atomic"], cancellation, name)
        assert.include(["safe", "idempotent", "unknown"], replay, name)
      }
    })
  )
})

describe("every failure that a tool declares", () => {
  for (const { failures, tool } of items) {
    for (const code of Object.keys(failures)) {
      const where = "add a call that ends with it to test/tools/refusals"
      it(`${tool.name} ${code} is seen`, () => {
        const seen = groups.some(([, { refusals }]) =>
          refusals.some((one) => one.tool === tool.name && one.code === code)
        )
        assert.isTrue(seen, where)
      })
    }
  }
})

for (const [path, { layer, refusals }] of groups) {
  describe(path, () => {
    for (const refusal of refusals) {
      it.effect(`${refusal.tool} ${refusal.code}`, () =>
        Effect.gen(function* () {
          const item = items.find(({ tool }) => tool.name === refusal.tool)
          assert.property(item?.failures, refusal.code, "the catalogue does not have this failure")
          const turn = yield* Fixtures.startTurn()
          if (refusal.after !== undefined) yield* refusal.after(turn)
          const result = yield* Fixtures.callTool(turn, refusal.tool, refusal.arguments)
          assert.strictEqual(result.errorCode, refusal.code, result.text)
          assert.strictEqual(result.status, "error")
          assert.isTrue(isData(result.data) && result.data["ok"] === false)
          const sentence = isData(result.data) ? result.data["error"] : undefined
          assert.match(typeof sentence === "string" ? sentence : "", /^["\p{L}].{10,}\.$/su)
        }).pipe(Effect.scoped, Effect.provide(refusal.layer ?? layer))
      )
    }
  })
}
