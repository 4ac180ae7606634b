import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as ToolPattern from "../../src/config/ToolPattern.ts"

/** Small alphabets make matches likely, and whole sets as pieces make sets likely. */
const pieces = [
  "a",
  "b",
  "_",
  "*",
  "?",
  "[ab]",
  "[!a]",
  "[]b]",
  "[!]a]",
  "[a-c]",
  "[a-",
  "[!",
  "[",
  "]",
  "!",
  "-"
] as const
const Pattern = Schema.Array(Schema.Literals(pieces)).check(Schema.isMaxLength(6))
const Name = Schema.Array(Schema.Literals(["a", "b", "c", "_", "-", "]", "!", "["])).check(Schema.isMaxLength(6))

/** The same notation read by recursion over text, and matched by trying every split: slow, and obviously right. */
const oracle = (pattern: string, name: string): boolean => {
  if (pattern === "") return name === ""
  const first = pattern.charAt(0)
  const rest = pattern.slice(1)
  if (first === "*") return oracle(rest, name) || (name !== "" && oracle(pattern, name.slice(1)))
  const set = first === "[" ? /^\[(?:(!)|(?!!))((?:\]|[^\]])[^\]]*)\]/.exec(pattern) : null
  if (set !== null) {
    const accepted = name !== "" && inSet(set[2] ?? "", name.charAt(0)) !== (set[1] === "!")
    return accepted && oracle(pattern.slice(set[0].length), name.slice(1))
  }
  return name !== "" && (first === "?" || first === name.charAt(0)) && oracle(rest, name.slice(1))
}

const inSet = (members: string, character: string): boolean => {
  if (members === "") return false
  return members.length >= 3 && members.charAt(1) === "-"
    ? (members.charAt(0) <= character && character <= members.charAt(2)) || inSet(members.slice(3), character)
    : members.charAt(0) === character || inSet(members.slice(1), character)
}

describe("ToolPattern", () => {
  const cases: ReadonlyArray<readonly [pattern: string, name: string, matches: boolean]> = [
    ["memory_*", "memory_get", true],
    ["memory_*", "memory_", true],
    ["memory_*", "Memory_get", false],
    ["memory_*", "my_memory_get", false],
    ["*", "", true],
    ["", "", true],
    ["", "a", false],
    ["?", "", false],
    ["wai?", "wait", true],
    ["wai?", "waits", false],
    ["[mw]ait", "wait", true],
    ["[!m]ait", "wait", true],
    ["[!w]ait", "wait", false],
    ["[a-f]*", "bash", true],
    ["[a-f]*", "grep", false],
    ["[z-a]", "m", false],
    ["[]]", "]", true],
    ["[!]]", "]", false],
    ["[!]]", "a", true],
    ["[a-]", "-", true],
    ["[abc", "[abc", true],
    ["[!]", "[!]", true],
    ["[!]", "!", false],
    ["mcp.*", "mcpx", false],
    ["a?c", "a😀c", true]
  ]
  it.each(cases)("%s on %s: %s", (pattern, name, expected) => {
    assert.strictEqual(ToolPattern.matches([pattern], name), expected)
  })

  it("matches when any pattern does, and nothing without patterns", () => {
    assert.isTrue(ToolPattern.matches(["x", "w*"], "wait"))
    assert.isFalse(ToolPattern.matches([], "wait"))
  })

  it.prop(
    "agrees with the oracle",
    { pattern: Pattern, name: Name },
    ({ name, pattern }) => {
      const [written, text] = [pattern.join(""), name.join("")]
      assert.strictEqual(ToolPattern.matches([written], text), oracle(written, text))
    },
    { arbitrary: { runs: 2000 } }
  )

  it.prop("a name without special characters matches itself and nothing else", [Name, Name], ([left, right]) => {
    const [a, b] = [left, right].map((name) => name.filter((character) => character !== "[").join(""))
    assert.strictEqual(ToolPattern.matches([a ?? ""], b ?? ""), a === b)
  })

  it("does not go back exponentially", () => {
    // Trying every split of this one would outlive the universe.
    const matches = ToolPattern.compile(["*a".repeat(100) + "b"])
    assert.isFalse(matches("a".repeat(5000)))
  })
})
