import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Outline from "../../src/config/Outline.ts"
import { schema } from "../../src/config/Settings.ts"
import * as Shown from "../../src/config/Shown.ts"
import * as Values from "../../src/config/Values.ts"

describe("what is shown of settings", () => {
  it("is nothing where the schema does not say, or does not reach", () => {
    const kind = Schema.Struct({ key: Schema.String, list: Schema.Array(Schema.String), name: Values.Text })
    const document = { key: "secret-1", list: ["secret-2"], name: "a name", elsewhere: { deep: ["secret-3"] } }
    assert.deepStrictEqual(Shown.shown(kind.ast, document), {
      key: "***",
      list: ["***"],
      name: "a name",
      elsewhere: { deep: ["***"] }
    })
  })

  it("is said of each kind of value that a file may hold", () => {
    const silent = leaves(schema.ast, "").filter(
      ([, type]) => typeof SchemaAST.resolve(type)?.[Shown.shownKey] !== "function"
    )
    assert.deepStrictEqual(
      silent.map(([path]) => path),
      []
    )
    assert.isAbove(leaves(schema.ast, "").length, 60)
  })
})

const leaves = (type: SchemaAST.AST, path: string): ReadonlyArray<readonly [string, SchemaAST.AST]> => {
  if (SchemaAST.isArrays(type)) return type.rest.flatMap((item) => leaves(item, `${path}[]`))
  const inside = Outline.entries(type)
  return inside.length === 0
    ? [[path, type]]
    : inside.flatMap((entry) => leaves(entry.type, `${path}.${entry.open ? `<${entry.name}>` : entry.name}`))
}
