import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Literal from "../../src/tool/Literal.ts"

const parsed = (text: string, dialect: Literal.Dialect) => Result.getOrUndefined(Literal.parse(text, dialect))

/** A JSON value written as Python would. */
const asPython = (value: Schema.Json): string => {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (typeof value === "string")
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(asPython).join(", ")}]`
  if (typeof value === "number") return String(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${asPython(key)}: ${asPython(item)}`)
    .join(", ")}}`
}

const unsafe = (value: Schema.Json): boolean => {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== "object" || value === null) return false
  return Object.entries(value).some(([key, item]) => key === "__proto__" || unsafe(item))
}

describe("a literal", () => {
  it.prop("in JSON is read as JSON is", { value: Schema.Json }, ({ value }) => {
    const text = JSON.stringify(value)
    if (unsafe(value)) return
    assert.deepStrictEqual(parsed(text, "json"), JSON.parse(text))
    assert.deepStrictEqual(parsed(text, "python"), JSON.parse(text))
  })

  it.prop("in Python says the same", { value: Schema.Json }, ({ value }) => {
    if (unsafe(value)) return
    assert.deepStrictEqual(parsed(asPython(value), "python"), JSON.parse(JSON.stringify(value)))
  })

  it.prop("that JSON refuses is refused", { text: Schema.String }, ({ text }) => {
    const json = Result.try(() => JSON.parse(text))
    const own = Literal.parse(text, "json")
    if (Result.isFailure(json)) assert.isTrue(Result.isFailure(own), text)
  })

  it.prop(
    "that is cut anywhere is refused or loses closing braces only",
    {
      value: Schema.Record(Schema.String, Schema.Json),
      at: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))
    },
    ({ at, value }) => {
      if (unsafe(value)) return
      const text = JSON.stringify(value)
      const cut = text.slice(0, at)
      for (const dialect of ["json", "python"] as const) {
        const read = Literal.parse(cut, dialect)
        if (Result.isFailure(read) || at >= text.length) continue
        // Whatever was understood is the text with braces added, to the letter.
        const closed = Array.from({ length: 80 }, (_, count) => cut + "}".repeat(count)).find((candidate) =>
          Result.isSuccess(Result.try(() => JSON.parse(candidate)))
        )
        assert.isDefined(closed, cut)
        assert.deepStrictEqual(read.success, JSON.parse(closed))
      }
    }
  )

  it("never guesses what a cut text, number or list was", () => {
    for (const text of [
      '{"a": "hel',
      '{"a": 12',
      '{"a": -',
      '{"a": 1.',
      '{"a": [1, 2',
      '{"a": [1, 2]',
      '{"a": tru',
      '{"a"',
      '{"a":',
      "{",
      '{"a": 1,',
      '{"a": "x",',
      '{"a": "\\u12'
    ]) {
      const whole = text === '{"a": [1, 2]'
      assert.strictEqual(Result.isSuccess(Literal.parse(text, "json")), whole, text)
      assert.strictEqual(Result.isSuccess(Literal.parse(text, "python")), whole, text)
    }
    assert.deepStrictEqual(parsed('{"a": {"b": "c"', "json"), { a: { b: "c" } })
    assert.deepStrictEqual(parsed('{"a": {"b": null}', "json"), { a: { b: null } })
  })

  it("takes Python's marks and escapes, and no others", () => {
    assert.deepStrictEqual(
      parsed("{'a': 'it\\'s', \"b\": \"x\\ty\", 'c': [True, None,], 'd': .5, 'e': +3, 'f': '\\d\\x41',}", "python"),
      {
        a: "it's",
        b: "x\ty",
        c: [true, null],
        d: 0.5,
        e: 3,
        f: "\\dA"
      }
    )
    for (const text of [
      "{'a': f'x'}",
      "{'a': (1,)}",
      "{'a': x}",
      "{a: 1}",
      "{'a': 0x10}",
      "{'a': '\\N{DOT}'}",
      "{'a': '\\101'}",
      "{'a': 1_000}"
    ]) {
      assert.isTrue(Result.isFailure(Literal.parse(text, "python")), text)
    }
  })

  it("is refused where it does not say one thing", () => {
    for (const text of [
      '{"a":1,"a":2}',
      '{"__proto__":{}}',
      "[1e999]",
      "[9007199254740993]",
      "[-9007199254740993]",
      "1 2",
      '{"a":1}}',
      ""
    ]) {
      assert.isTrue(Result.isFailure(Literal.parse(text, "json")), text)
    }
  })

  it("is bounded in depth and linear in length", () => {
    for (const open of ["[", '{"a":']) {
      assert.isTrue(Result.isFailure(Literal.parse(open.repeat(100_000), "json")))
    }
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    assert.isTrue(Result.isSuccess(Literal.parse(deep(Literal.maxDepth), "json")))
    assert.isTrue(Result.isFailure(Literal.parse(deep(Literal.maxDepth + 2), "json")))
    for (const filler of ["\\\\", "'", "\\", " ", "0", "a"]) Literal.parse(`"${filler.repeat(500_000)}`, "python")
    assert.isTrue(Result.isSuccess(Literal.parse(JSON.stringify({ a: "x".repeat(1_000_000) }), "json")))
  })
})
