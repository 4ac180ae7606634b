import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ParameterSchema from "../../src/tool/ParameterSchema.ts"

class Named extends Schema.Class<Named>("Named")({ a: Schema.Int }) {}
interface Tree {
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

describe("the schema a model sees", () => {
  it("is closed, inline and without noise", () => {
    assert.deepStrictEqual(
      ParameterSchema.toJsonSchema(
        Schema.Struct({
          path: Schema.String.annotate({ description: "Where." }),
          count: Schema.optionalKey(Schema.Int),
          from: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
          kind: Schema.optionalKey(Schema.Literals(["a", "b"])),
          fallback: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))),
          named: Schema.optionalKey(Named),
          list: Schema.optionalKey(Schema.Array(Schema.Struct({ deep: Schema.NullOr(Schema.String) })))
        })
      ),
      {
        type: "object",
        properties: {
          path: { type: "string", description: "Where." },
          count: { type: "integer" },
          from: { type: "integer", minimum: 1 },
          kind: { type: "string", enum: ["a", "b"] },
          fallback: { type: "boolean" },
          named: {
            type: "object",
            properties: { a: { type: "integer" } },
            required: ["a"],
            additionalProperties: false
          },
          list: {
            type: "array",
            items: {
              type: "object",
              properties: { deep: { anyOf: [{ type: "string" }, { type: "null" }] } },
              required: ["deep"],
              additionalProperties: false
            }
          }
        },
        required: ["path", "from"],
        additionalProperties: false
      }
    )
  })

  it("of no parameters takes none", () => {
    assert.deepStrictEqual(ParameterSchema.toJsonSchema(Schema.Struct({})), {
      type: "object",
      properties: {},
      additionalProperties: false
    })
  })

  it("of parameters inside themselves keeps its definitions", () => {
    const schema = ParameterSchema.toJsonSchema(Schema.Struct({ tree: Tree }))
    assert.include(JSON.stringify(schema), '"$ref":"#/$defs/')
    assert.property(schema, "$defs")
  })
})
