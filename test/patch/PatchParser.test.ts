import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as PatchParser from "../../src/patch/PatchParser.ts"
import { patch } from "./Helpers.ts"

const sections = (text: string) => Result.getOrThrow(PatchParser.parse(text))
const failure = (text: string) => {
  const parsed = PatchParser.parse(text)
  assert.isTrue(Result.isFailure(parsed), text)
  return Result.isFailure(parsed) ? parsed.failure : assert.fail()
}

const whole = patch(
  "*** Add File: dir/new.txt",
  "+one",
  "+",
  "*** Delete File: old.txt",
  "*** Update File: a.ts",
  "*** Move to: b.ts",
  "@@ class A",
  "@@   run()",
  " same",
  "-old",
  "+new",
  "*** End of File"
)

describe("a patch", () => {
  it("is sections of three kinds, with the lines of the text they begin on", () => {
    const context = { kind: "context", text: "same", line: 10 } as const
    assert.deepStrictEqual(sections(whole), [
      { _tag: "Add", line: 2, path: "dir/new.txt", lines: ["one", ""] },
      { _tag: "Delete", line: 5, path: "old.txt" },
      {
        _tag: "Update",
        line: 6,
        path: "a.ts",
        moveTo: "b.ts",
        hunks: [
          {
            line: 8,
            anchors: ["class A", "  run()"],
            lines: [context, { kind: "removed", text: "old", line: 11 }, { kind: "added", text: "new", line: 12 }],
            endOfFile: true
          }
        ]
      }
    ])
  })

  it("may be wrapped in a here-document, have blank lines around it, and lines that end as on Windows", () => {
    for (const word of ["<<EOF", "<<'EOF'", '<<"EOF"', "apply_patch <<'EOF'", "cat <<EOF"]) {
      const shifted = sections(`\n${word}\n${whole}\nEOF\n\n`)
      assert.deepStrictEqual(
        shifted.map(({ line }) => line),
        [4, 7, 8],
        word
      )
    }
    assert.deepStrictEqual(sections(whole.replaceAll("\n", "\r\n")), sections(whole))
  })

  it("has headers of three kinds", () => {
    const header = (line: string) => {
      const [section] = sections(patch("*** Update File: f", line, "-x"))
      const hunk = section?._tag === "Update" ? section.hunks[0] : undefined
      return { anchors: hunk?.anchors, range: hunk?.range }
    }
    assert.deepStrictEqual(header("@@"), { anchors: [], range: undefined })
    assert.deepStrictEqual(header("@@ "), { anchors: [], range: undefined })
    assert.deepStrictEqual(header("@@ def f():"), { anchors: ["def f():"], range: undefined })
    assert.deepStrictEqual(header("@@ -3,2 +4,5 @@"), { anchors: [], range: { start: 3, count: 2 } })
    assert.deepStrictEqual(header("@@ -3 +4 @@ class A"), { anchors: [], range: { start: 3, count: 1 } })
  })

  it("has hunks that blank lines part, and the first of which may do without a header", () => {
    const [section] = sections(patch("*** Update File: f", "-a", "", "@@", "-b", "", "", "*** Delete File: g"))
    const hunks = section?._tag === "Update" ? section.hunks : []
    assert.deepStrictEqual(
      hunks.map(({ lines }) => lines.map(({ text }) => text)),
      [["a"], ["b"]]
    )
  })

  it("is rejected when nothing is in it", () => {
    for (const text of ["", " \n", patch(), patch("", " ")])
      assert.strictEqual(failure(text).reason, "empty_patch", text)
  })

  it("names the line, the hunk and the file of what is wrong", () => {
    const cases: ReadonlyArray<readonly [text: string, line: number, hunk?: number]> = [
      ["hello", 1],
      ["*** Begin Patch\n*** Add File: f\n+a", 3],
      ["*** Begin Patch", 1],
      [patch("garbage"), 2],
      [patch("*** Rename File: f"), 2],
      [patch("*** Add File:"), 2],
      [patch("*** Add File: f", "+a", "b"), 4],
      [patch("*** Update File: f"), 2],
      [patch("*** Update File: f", "*** Move to: "), 3],
      [patch("*** Update File: f", "@@", "-a", "+b", "@@"), 6, 2],
      [patch("*** Update File: f", "@@", "*a"), 4, 1],
      [patch("*** Update File: f", "@@x", "-a"), 3, 1],
      [patch("*** Update File: f", "@@ -1 +1 @@", "@@ x", "-a"), 4, 1],
      [patch("*** Delete File: f", "-a"), 3],
      [`${patch("*** Delete File: f")}\nmore`, 4]
    ]
    for (const [text, line, hunk] of cases) {
      const error = failure(text)
      assert.deepStrictEqual([error.code, error.line, error.hunk], ["apply_patch:invalid_patch", line, hunk], text)
      assert.include(error.message, `ine ${line} of the patch`)
    }
  })
})
