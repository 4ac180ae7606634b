import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SecretList from "../../src/vault/SecretList.ts"

const read = (text: string) => Result.map(SecretList.parse(text), (secrets) => Object.fromEntries(secrets))

describe("the list of secrets", () => {
  it("is lines of names and values; a value may be a JSON string", () => {
    const text = '# mine\n\n  door : a b:c \nkey.pem: "one\\ntwo "\r\nempty:\n_a-b: "" \n'
    assert.deepStrictEqual(read(text), Result.succeed({ door: "a b:c", "key.pem": "one\ntwo ", empty: "", "_a-b": "" }))
  })

  it("says which line is wrong, and nothing of what stands there", () => {
    const cases: ReadonlyArray<readonly [text: string, line: number, what: RegExp]> = [
      ["a: 1\nhunter2\n", 2, /no colon/],
      [": hunter2", 1, /no name/],
      ["1a: hunter2", 1, /letters, digits/],
      ["a: hunter2\n\na: hunter2", 3, /second time/],
      ['a: "hunter2', 1, /no JSON string/],
      ['a: "hunter2" and more', 1, /no JSON string/]
    ]
    for (const [text, line, what] of cases) {
      const problem = Result.getOrThrow(Result.flip(SecretList.parse(text)))
      assert.strictEqual(problem.line, line, text)
      assert.match(problem.what, what)
      assert.notInclude(problem.what, "hunter2")
    }
  })

  it.effect.prop(
    "is read back as it was written, whatever the values are",
    [Arbitrary.schema(Schema.Array(Schema.String).check(Schema.isMaxLength(5)))],
    ([values]) =>
      Effect.sync(() => {
        const secrets = values.map((value, index) => [`name_${index}`, value.toWellFormed()] as const)
        assert.deepStrictEqual(read(SecretList.format(secrets)), Result.succeed(Object.fromEntries(secrets)))
      })
  )
})
