import { assert, describe, it } from "@effect/vitest"
import type * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ParameterShape from "../../src/model/ParameterShape.ts"
import * as Arguments from "../../src/tool/Arguments.ts"
import * as ParameterSchema from "../../src/tool/ParameterSchema.ts"

const closed = (properties: object, required: ReadonlyArray<string> = []): JsonSchema.JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

const strict = (schema: JsonSchema.JsonSchema) => ParameterShape.shape(schema, "strict")
const text = { type: "string" }

describe("strict parameters", () => {
  const rows: ReadonlyArray<readonly [string, JsonSchema.JsonSchema, unknown]> = [
    [
      "have every property, those that may be left out as null",
      closed({ a: text, b: { type: "integer" } }, ["a"]),
      closed({ a: text, b: { type: ["integer", "null"] } }, ["a", "b"])
    ],
    [
      "have no key but their own, at any depth",
      { type: "object", properties: { a: { type: "object", properties: { b: text } } }, required: ["a"] },
      closed({ a: closed({ b: { type: ["string", "null"] } }, ["b"]) }, ["a"])
    ],
    [
      "have no bound that a provider would not know",
      closed({ a: { type: "string", minLength: 1, pattern: "^x", description: "A.", allOf: [{ maxLength: 3 }] } }, [
        "a"
      ]),
      closed({ a: { type: "string", description: "A." } }, ["a"])
    ],
    [
      "keep bounds of numbers and lists",
      closed({ a: { type: "array", items: { type: "number", minimum: 0 }, maxItems: 3, uniqueItems: true } }, ["a"]),
      closed({ a: { type: "array", items: { type: "number", minimum: 0 }, maxItems: 3 } }, ["a"])
    ],
    [
      "may be fixed values, also where they may be left out",
      closed({ a: { type: "string", enum: ["x", "y"] } }),
      closed({ a: { anyOf: [{ type: "string", enum: ["x", "y"] }, { type: "null" }] } }, ["a"])
    ],
    [
      "may be one of several",
      closed({ a: { oneOf: [text, closed({ b: text }, ["b"])] } }, ["a"]),
      closed({ a: { anyOf: [text, closed({ b: text }, ["b"])] } }, ["a"])
    ],
    [
      "are not made null twice",
      closed({ a: { type: ["string", "null"] } }),
      closed({ a: { type: ["string", "null"] } }, ["a"])
    ],
    ["may be none", { type: "object", properties: {}, additionalProperties: false }, closed({})],
    [
      "may refer to definitions",
      { ...closed({ a: { $ref: "#/$defs/A", description: "beside" } }, ["a"]), $defs: { A: closed({ b: text }) } },
      {
        ...closed({ a: { $ref: "#/$defs/A" } }, ["a"]),
        $defs: { A: closed({ b: { type: ["string", "null"] } }, ["b"]) }
      }
    ]
  ]
  for (const [name, schema, expected] of rows) {
    it(name, () => {
      assert.deepStrictEqual<unknown>(strict(schema), { strict: true, schema: expected })
    })
  }

  const nested = (depth: number): JsonSchema.JsonSchema =>
    depth === 0 ? text : closed({ a: nested(depth - 1) }, ["a"])
  const impossible: Record<string, JsonSchema.JsonSchema> = {
    "keys of the model's choice": closed({ a: { type: "object", additionalProperties: text } }),
    "an object of anything": closed({ a: { type: "object" } }),
    "anything at all": closed({ a: {} }),
    "a list of anything": closed({ a: { type: "array" } }),
    "several conditions at once": closed({ a: { type: "object", allOf: [closed({ b: text }), closed({ c: text })] } }),
    "what must not be": closed({ a: { type: "string", not: { const: "x" } } }),
    "more depth than is allowed": nested(12),
    "more properties than are allowed": closed(
      Object.fromEntries(Array.from({ length: 5001 }, (_, n) => [`p${n}`, text]))
    )
  }
  for (const [name, schema] of Object.entries(impossible)) {
    it(`are not claimed for ${name}`, () => {
      assert.isFalse(strict(schema).strict)
    })
  }

  it("take what a model must write for a parameter that it leaves out", () => {
    const parameters = Schema.Struct({
      text: Schema.String,
      times: Schema.optionalKey(Schema.Int),
      inner: Schema.optionalKey(Schema.Struct({ deep: Schema.optionalKey(Schema.Boolean) }))
    })
    assert.isTrue(strict(ParameterSchema.toJsonSchema(parameters)).strict)
    const written = Result.getOrThrow(Arguments.read('{"text":"a","times":null,"inner":{"deep":null}}'))
    const decoded = Schema.decodeUnknownSync(parameters)(Arguments.dropNulls(parameters.ast, written))
    assert.deepStrictEqual(decoded, { text: "a", inner: {} })
  })
})

describe("relaxed parameters", () => {
  it("are open, and nothing that may be null is required", () => {
    const schema = closed({ a: text, b: { anyOf: [text, { type: "null" }] }, c: closed({ d: text }, ["d"]) }, [
      "a",
      "b",
      "c"
    ])
    assert.deepStrictEqual<unknown>(ParameterShape.shape(schema, "relaxed"), {
      strict: false,
      schema: {
        type: "object",
        properties: {
          a: text,
          b: { anyOf: [text, { type: "null" }] },
          c: { type: "object", properties: { d: text }, required: ["d"] }
        },
        required: ["a", "c"]
      }
    })
  })

  it("keep what keys of the model's choice must be", () => {
    const schema = { type: "object", additionalProperties: text }
    assert.deepStrictEqual<unknown>(ParameterShape.shape(schema, "relaxed").schema, schema)
  })
})

describe("plain parameters", () => {
  it("are as they are, but for a reference with neighbours and the name of the dialect", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...closed({ a: { $ref: "#/$defs/A", description: "beside" }, $ref: text }, ["a"]),
      $defs: { A: { type: "string", minLength: 1 } }
    }
    assert.deepStrictEqual<unknown>(ParameterShape.shape(schema, "plain"), {
      strict: false,
      schema: {
        ...closed({ a: { $ref: "#/$defs/A" }, $ref: text }, ["a"]),
        $defs: { A: { type: "string", minLength: 1 } }
      }
    })
  })
})
