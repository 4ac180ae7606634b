import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Arguments from "../../src/tool/Arguments.ts"

const read = (text: string) => Result.getOrUndefined(Arguments.read(text))
const problem = (text: string) =>
  Result.match(Arguments.read(text), { onFailure: (words) => words, onSuccess: () => "" })

describe("arguments", () => {
  it("are read with a fence, in Python's way, without the last braces, and from nothing", () => {
    const meant = { a: { b: "c" } }
    for (const text of [
      '{"a": {"b": "c"}}',
      ' \n {"a": {"b": "c"}} ',
      '```json\n{"a": {"b": "c"}}\n```',
      '```\n{"a": {"b": "c"}}```',
      "```python\n{'a': {'b': 'c'}}\n```",
      "{'a': {'b': 'c'}}",
      '{"a": {"b": "c"',
      "{'a': {'b': 'c'}",
      '```json\n{"a": {"b": "c"'
    ]) {
      assert.deepStrictEqual(read(text), meant, text)
    }
    for (const text of ["", "  ", "{}", "```json\n\n```"]) assert.deepStrictEqual(read(text), {}, text)
  })

  it("that are no object are refused by their kind", () => {
    for (const [text, kind] of [
      ["[1]", "a list"],
      ['"{}"', "a string"],
      ["1", "a number"],
      ["null", "null"],
      ["true", "a boolean"]
    ] as const) {
      assert.include(problem(text), `not ${kind}`)
    }
    assert.include(problem("x".repeat(Arguments.maxLength + 1)), "characters long")
  })

  it("that are refused are shown in at most 220 characters, without secrets", () => {
    const words = problem(`{"path": "/tmp", "api_key": "canary", "content": "${"x".repeat(1000)}`)
    assert.notInclude(words, "canary")
    assert.include(words, "/tmp")
    assert.isAtMost(problem("😀".repeat(500)).split("Written was: ")[1]?.length ?? 999, 220)
    assert.isTrue(problem("😀".repeat(500)).isWellFormed())
  })

  it.prop("of any text are read or refused, and never more", { text: Schema.String }, ({ text }) => {
    for (const written of [text, `{${text}`, `{"a": ${text}`, `\`\`\`\n${text}\n\`\`\``]) {
      const words = problem(written)
      assert.isTrue(words.isWellFormed())
      assert.isAtMost(words.length, 400)
    }
  })
})

describe("nulls", () => {
  const schema = Schema.Struct({
    needed: Schema.NullOr(Schema.String),
    left: Schema.optionalKey(Schema.String),
    cleared: Schema.optionalKey(Schema.NullOr(Schema.String)),
    any: Schema.optionalKey(Schema.Json),
    fallback: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(3))),
    inside: Schema.optionalKey(Schema.Struct({ left: Schema.optionalKey(Schema.Int) })),
    list: Schema.optionalKey(Schema.Array(Schema.Struct({ left: Schema.optionalKey(Schema.Int) })))
  })
  const drop = (value: Arguments.JsonObject) => Arguments.dropNulls(Schema.toCodecJson(schema).ast, value)

  it("stand for optional parameters left out, and stay where they are a value", () => {
    assert.deepStrictEqual(
      drop({
        needed: null,
        left: null,
        cleared: null,
        any: null,
        fallback: null,
        inside: { left: null },
        list: [{ left: null }],
        other: null
      }),
      { needed: null, cleared: null, any: null, inside: {}, list: [{}], other: null }
    )
  })
})
