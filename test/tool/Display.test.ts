import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../../src/tool/Arguments.ts"
import * as Display from "../../src/tool/Display.ts"
import * as Excerpt from "../../src/tool/Excerpt.ts"
import * as Redaction from "../../src/tool/Redaction.ts"

const tool = { name: "some_tool", identifiedBy: [] }
const parameters = Schema.Record(Schema.String, Schema.Json)

/** Puts a canary into every text under a secret's name, at any depth. */
const planted = (value: Schema.Json, secret = false): Schema.Json => {
  if (Array.isArray(value)) return value.map((item) => planted(item, secret))
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, planted(item, secret || Redaction.isSecretKey(key))])
    )
  }
  return secret ? "canary" : value
}

const secretKeys = Schema.Literals([
  "token",
  "access_token",
  "apiKey",
  "API-KEY",
  "api_key",
  "password",
  "Passwd",
  "client_secret",
  "headers",
  "Cookie",
  "env",
  "Authorization",
  "credentials",
  "X-Auth-Token",
  "private key"
])
const withSecrets = Schema.Struct({
  plain: parameters,
  first: secretKeys,
  second: secretKeys,
  value: Schema.Json
})

const assertSafe = (text: string, limit: number, mayBreak: boolean) => {
  assert.isAtMost(text.length, limit)
  assert.isTrue(text.isWellFormed())
  const visible = mayBreak ? text.replaceAll("\n", "") : text
  assert.notMatch(visible, /[\p{C}\p{Zl}\p{Zp}]/u)
  assert.notMatch(visible, /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]/u)
}

describe("what people see of a call", () => {
  it.prop(
    "is bounded, well-formed and made of visible characters",
    { any: parameters, name: Schema.String },
    ({ any, name }) => {
      assertSafe(Display.line({ name, identifiedBy: [] }, any), 160, false)
      assertSafe(Display.line({ name, identifiedBy: Object.keys(any) }, any), 160, false)
      assertSafe(Display.question(any), 3000, true)
      assertSafe(Display.failedLine(Display.line(tool, any), name), 160, false)
      assertSafe(Display.error(name), 160, false)
      assertSafe(Display.written(JSON.stringify(any)), 160, false)
      assertSafe(Display.written(name), 160, false)
      assertSafe(Display.name(name), 200, false)
    }
  )

  it.prop(
    "stays so for long and hostile texts",
    { text: Schema.String, times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3000 })) },
    ({ text, times }) => {
      const long = `\u202e${text}😀\n`.repeat(times)
      assertSafe(Display.line(tool, { [long]: long }), 160, false)
      assertSafe(Display.written(JSON.stringify({ [long]: long })), 160, false)
      assertSafe(Display.question({ [long]: long, list: [long, { [long]: long }], more: long }), 3000, true)
    }
  )

  it.prop(
    "never holds a value under a secret's name",
    { case: withSecrets },
    ({ case: { first, plain, second, value } }) => {
      const given = planted({
        ...plain,
        [first]: value,
        nested: { [second]: { deep: [value] }, list: [{ [first]: value }] },
        [second]: "plain"
      })
      const isObject = (json: Schema.Json): json is JsonObject =>
        typeof json === "object" && json !== null && !Array.isArray(json)
      assert.isTrue(isObject(given))
      const shown = isObject(given)
        ? [Display.line(tool, given), Display.written(JSON.stringify(given)), Display.question(given)]
        : []
      for (const text of shown) assert.notInclude(text, "canary")
      if (isObject(given)) assert.notInclude(Display.withoutSecretsOf(given)("it was canary, the canary"), "canary")
    }
  )

  it("shows nothing behind the name of a secret in arguments that cannot be read, however it is written", () => {
    for (const name of [
      "token",
      "private key",
      "Pass-Word",
      "api.key",
      "A P I _ K E Y",
      "\uff34\uff2f\uff2b\uff25\uff2e"
    ]) {
      assert.notInclude(Display.written(`{"a": 1, "${name}": "canary", `), "canary", name)
    }
    assert.include(Display.written('{"a": 1, "word": "seen", '), "seen")
  })

  it("shows arguments as they were written like those that were read", () => {
    const given = { path: "a b", deep: { x: 1 }, list: [1, 2], none: null }
    assert.strictEqual(
      `\`t\` ${Display.written(JSON.stringify(given))}`,
      Display.line({ name: "t", identifiedBy: [] }, given)
    )
    assert.strictEqual(Display.written("```json\n{'a': True}\n```"), "a=true")
    assert.strictEqual(Display.written('{"a": 1, "b": [1,'), '{"a": 1, "b": [1,')
    assert.strictEqual(Display.written('{"token": "canary'), '{"token ***')
    assert.strictEqual(Display.written(""), "")
  })

  it("masks secrets in addresses, and by guess in progress lines", () => {
    const url = "https://me:canary@x.test/a?q=1&token=canary&%61pi_key=canary#f"
    for (const text of [Display.line(tool, { url }), Display.question({ url })]) {
      assert.notInclude(text, "canary")
      assert.include(text, "q=1")
    }
    for (const command of [
      "curl -H 'Authorization: Bearer canary' x",
      "run --token canary",
      "API_KEY=canary run",
      'password: "canary canary"',
      "secret = canary"
    ]) {
      assert.notInclude(Display.line(tool, { command }), "canary", command)
      assert.notInclude(Display.error(command), "canary", command)
      // A person who decides sees what will run.
      assert.include(Display.question({ command }), "canary", command)
    }
    assert.include(Display.line(tool, { text: "the token is here, a password for you" }), "is here")
  })

  it("names what identifies a call, or the first three, and lists and objects by size", () => {
    const given = { a: 1, b: [1, 2], c: { d: 1 }, e: "x\n y", f: null }
    assert.strictEqual(Display.line(tool, given), "`some_tool` a=1 b=list(2) c=object(1)")
    assert.strictEqual(Display.line({ name: "t", identifiedBy: ["e", "f", "none"] }, given), "`t` e=x y")
    assert.strictEqual(Display.line(tool, {}), "`some_tool`")
    assert.include(Display.line(tool, { a: "x".repeat(500) }), `a=${"x".repeat(99)}…`)
  })

  it("puts the short before the long in a question, indents, drops the empty and counts what it leaves out", () => {
    assert.strictEqual(
      Display.question({
        body: "line one\nline two is long",
        to: "a@b.c",
        empty: "  ",
        none: null,
        nothing: [],
        void: {},
        options: { deep: { on: true }, list: [1, "x"] }
      }),
      "to: a@b.c\nbody: line one\\nline two is long\noptions:\n  deep:\n    on: true\n  list:\n    -: 1\n    -: x"
    )
    assert.strictEqual(Display.question({}), "(no arguments)")
    assert.strictEqual(Display.question({ a: null, b: { c: "" } }), "(no arguments)")
    const long = Display.question({ to: "a@b.c", body: "x".repeat(50_000) })
    assert.isTrue(long.startsWith("to: a@b.c\nbody: xxx"))
    assert.match(long, /… \(49\d+ more characters\)$/)
    assert.isAtMost(
      Display.question({ a: "x".repeat(5000), b: "y".repeat(5000), c: "z".repeat(5000), d: "w".repeat(900) }).length,
      3000
    )
  })
})

describe("an excerpt", () => {
  it.prop(
    "keeps start and end, within its limit, and cuts between characters",
    {
      text: Schema.String,
      times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 }))
    },
    ({ limit, text, times }) => {
      const long = `${text}😀`.repeat(times).toWellFormed()
      const cut = Excerpt.startAndEnd(long, limit)
      assert.isTrue(cut.isWellFormed())
      assert.isAtMost(cut.length, Math.max(limit, 0))
      if (long.length <= limit) assert.strictEqual(cut, long)
    }
  )

  it("says how much is missing", () => {
    const cut = Excerpt.startAndEnd(`${"a".repeat(500)}${"b".repeat(500)}`, 200)
    const [, missing] = /\[… (\d+) characters left out …\]/.exec(cut) ?? []
    const [start, end] = cut.split(/\n\[.*\]\n/)
    assert.strictEqual((start?.length ?? 0) + (end?.length ?? 0) + Number(missing), 1000)
    assert.match(cut, /^a+\n.*\nb+$/)
  })
})
