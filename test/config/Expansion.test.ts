import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Document from "../../src/config/Document.ts"
import * as Expansion from "../../src/config/Expansion.ts"

const environment = new Map([
  ["A", "one"],
  ["B_2", "two"],
  ["EMPTY", ""],
  ["_x", "three"],
  ["REF", "${A}"]
])
const expand = (text: string): unknown => Expansion.expand(text, environment).document

describe("Expansion", () => {
  it.each([
    ["${A}", "one"],
    ["<${A}|${B_2}|${A}>", "<one|two|one>"],
    ["${_x}", "three"],
    ["a${EMPTY}b", "ab"],
    ["$${A}", "${A}"],
    ["$$${A}", "$${A}"],
    ["$${A}${A}", "${A}one"],
    ["$${UNSET}", "${UNSET}"],
    ["${REF}", "${A}"],
    ["$A ${A:-x} ${2A} ${} $A", "$A ${A:-x} ${2A} ${} $A"],
    ["${A} $${A and $${", "one ${A and ${"],
    ["$${secret:A}", "${secret:A}"],
    ["${secret:}", "${secret:}"]
  ])("%s becomes %s", (written, expected) => {
    assert.strictEqual(expand(written), expected)
    assert.deepStrictEqual(Expansion.expand(written, environment).findings, [])
  })

  it("reaches every text, whatever it is nested in, and no key", () => {
    const document = { "${A}": [{ deep: ["${A}", 5, true, 2n] }], plain: "x" }
    assert.deepStrictEqual(Expansion.expand(document, environment).document, {
      "${A}": [{ deep: ["one", 5, true, 2n] }],
      plain: "x"
    })
    assert.deepStrictEqual([...Expansion.variables(document)], ["A"])
  })

  it("reports every reference to an unset variable with its place, and keeps that text as written", () => {
    const document = { a: { list: ["${A}", "${NOPE} ${NOPE} ${ALSO}"] }, b: "${NOPE}" }
    const expanded = Expansion.expand(document, environment)
    assert.deepStrictEqual(
      expanded.findings.map((finding) => [Document.formatPath(finding.path), finding.found.split(",")[0]]),
      [
        ["a.list[1]", "a reference to the environment variable NOPE"],
        ["a.list[1]", "a reference to the environment variable ALSO"],
        ["b", "a reference to the environment variable NOPE"]
      ]
    )
    assert.deepStrictEqual(expanded.document, { a: { list: ["one", document.a.list[1]] }, b: "${NOPE}" })
  })

  it("refuses a reference to a vault, which there is none of, without naming the secret", () => {
    const { findings } = Expansion.expand({ key: "a${secret:DOOR.KEY}b" }, environment)
    assert.deepStrictEqual(
      findings.map(({ found, path }) => [Document.formatPath(path), found]),
      [["key", "a reference to a secret of a vault, and none is unlocked"]]
    )
  })

  it("does not change its input", () => {
    const document = { a: ["${A}"] }
    Expansion.expand(document, environment)
    assert.deepStrictEqual(document, { a: ["${A}"] })
  })

  const Leaf = Schema.Union([
    Schema.Literals(["${A}", "x${B}y", "$${A}", "${A}${B}", "plain"]),
    Schema.String,
    Schema.Finite,
    Schema.Boolean
  ])
  const Tree = Schema.Record(
    Schema.String,
    Schema.Union([Leaf, Schema.Array(Leaf), Schema.Record(Schema.String, Schema.Union([Leaf, Schema.Array(Leaf)]))])
  )

  it.prop(
    "values of variables never change the structure",
    [Tree, Schema.String, Schema.String],
    ([document, a, b]) => {
      const expanded = Expansion.expand(
        document,
        new Map([
          ["A", a],
          ["B", b]
        ])
      ).document
      const kinds = (tree: unknown) => Document.mapValues(tree, (value) => typeof value)
      assert.deepStrictEqual(kinds(expanded), kinds(document))
    }
  )

  it.prop("what a variable holds appears literally", [Schema.String], ([held]) => {
    assert.strictEqual(Expansion.expand("<${A}>", new Map([["A", held]])).document, `<${held}>`)
  })
})
