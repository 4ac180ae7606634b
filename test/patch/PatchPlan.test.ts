import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import { patch, plan, update } from "./Helpers.ts"

const planned = (...given: Parameters<typeof plan>) => Result.getOrThrow(plan(...given))
const failed = (...given: Parameters<typeof plan>) => {
  const result = plan(...given)
  return Result.isFailure(result) ? result.failure : assert.fail("it was planned")
}
const letters = (made: PatchPlan.Plan) => made.changes.map(({ letter, path }) => `${letter ?? "-"} ${path}`)
const decode = (content: Uint8Array | undefined) =>
  content === undefined ? undefined : new TextDecoder().decode(content)

describe("where a hunk belongs", () => {
  it("is behind the hunk before, each once", () => {
    const text = "a\nx\nb\nx\nc\n"
    assert.strictEqual(update(text, ["@@", " a", "-x", "+1", "@@", "-x", "+2"]), "a\n1\nb\n2\nc\n")
    assert.deepStrictEqual(update(text, ["@@", " b", "@@", " a"]), { reason: "hunk_not_found", line: 5, hunk: 2 })
  })

  it("F153 is refused with the count and the lines when the old lines are there more than once", () => {
    const error = failed(patch("*** Update File: f", "@@", "-x", "+y"), { f: "x\nb\nx\nx\n" })
    assert.strictEqual(error.code, "apply_patch:ambiguous_hunk")
    assert.include(error.message, "3 times: on lines 1, 3, 4")
    assert.include(error.message, 'Line 3 of the patch, hunk 1, "f"')
    // Overlapping.
    assert.include(
      failed(patch("*** Update File: f", "@@", "-x", "-x", "+y"), { f: "x\nx\nx\n" }).message,
      "2 times: on lines 1, 2"
    )
    const many = failed(patch("*** Update File: f", "@@", "-x"), { f: "x\n".repeat(100) })
    assert.include(many.message, "more than 10 times")
  })

  it("F153 is refused when they are not there, with the place that is nearest and none of the content", () => {
    const error = failed(patch("*** Update File: f", "@@", " one", " secret", "-three"), {
      f: "zero\none\nsecret\nfour\n"
    })
    assert.strictEqual(error.code, "apply_patch:hunk_not_found")
    assert.include(
      error.message,
      "From line 2 of the file on 2 of them agree; line 6 of the patch is the first that does not"
    )
    assert.notInclude(error.message, "secret")
  })

  it("F153 is found when only white space or signs differ, where that is one place, and told of", () => {
    const cases = [
      ["  a  \n", "-  a", "trailing_whitespace"],
      ["\ta\n", "-a", "whitespace"],
      ["say \u201chi\u201d \u2013 it\u2019s\u00a0on\u2026\n", '-say "hi" - it\'s on...', "typography"]
    ] as const
    for (const [line, old, ignored] of cases) {
      const made = planned(patch("*** Update File: f", "@@", old, "+new"), { f: `top\n${line}end\n` })
      assert.strictEqual(decode(made.changes[0]?.after), "top\nnew\nend\n")
      assert.deepStrictEqual(made.fuzzy, [{ path: "f", hunk: 1, line: 2, ignored }])
      assert.deepStrictEqual(update(`top\n${line}mid\n${line}`, ["@@", old]), {
        reason: "ambiguous_hunk",
        line: 3,
        hunk: 1
      })
    }
    // What is the same exactly goes before what is alike.
    assert.strictEqual(update("a \na\n", ["@@", "-a", "+b"]), "a \nb\n")
  })

  it("keeps lines that stay as the file has them, also where the patch has them otherwise", () => {
    assert.strictEqual(update("\ta \nb\n", ["@@", " a", "-b", "+c"]), "\ta \nc\n")
  })

  it("is the first place below a line that is named, which must be there once", () => {
    const text = "def a():\n  x\n  y\ndef b():\n  x\n  x\n"
    assert.strictEqual(update(text, ["@@ def b():", "-  x", "+  z"]), "def a():\n  x\n  y\ndef b():\n  z\n  x\n")
    assert.strictEqual(
      update(text, ["@@ def b():", " def b():", "-  x", "+  z"]),
      "def a():\n  x\n  y\ndef b():\n  z\n  x\n"
    )
    assert.deepStrictEqual(update(text, ["@@   x", "-  x"]), { reason: "ambiguous_hunk", line: 3, hunk: 1 })
    assert.deepStrictEqual(update(text, ["@@ def c():", "-  x"]), { reason: "hunk_not_found", line: 3, hunk: 1 })
  })

  it("is below the last of several named lines", () => {
    const text = "class A\n  run\n    x\nclass B\n  run\n    x\n"
    assert.strictEqual(update(text, ["@@ class B", "@@   run", "-    x"]), "class A\n  run\n    x\nclass B\n  run\n")
  })

  it("is within three lines of the stated one: that one first, then a single other", () => {
    const text = "a\nx\nb\nx\nc\nd\ne\nf\ng\nx\n"
    assert.strictEqual(update(text, ["@@ -4,1 +4,1 @@", "-x", "+y"]), "a\nx\nb\ny\nc\nd\ne\nf\ng\nx\n")
    assert.strictEqual(update(text, ["@@ -8 +8 @@ any", "-x", "+y"]), "a\nx\nb\nx\nc\nd\ne\nf\ng\ny\n")
    assert.deepStrictEqual(update(text, ["@@ -3 +3 @@", "-x"]), { reason: "ambiguous_hunk", line: 3, hunk: 1 })
    assert.deepStrictEqual(update(text, ["@@ -5 +5 @@", "-a"]), { reason: "hunk_not_found", line: 3, hunk: 1 })
  })

  it("is the end of the file where the patch says so", () => {
    assert.strictEqual(update("x\na\nx\n", ["@@", "-x", "+y", "*** End of File"]), "x\na\ny\n")
    assert.strictEqual(update("x\na\n", ["@@", "+y", "*** End of File"]), "x\na\ny\n")
    assert.deepStrictEqual(update("x\na\n", ["@@", "-x", "*** End of File"]), {
      reason: "hunk_not_found",
      line: 3,
      hunk: 1
    })
  })

  it("is where the hunk before ended, or the header says, for lines that only come", () => {
    assert.strictEqual(update("a\nb\nc\n", ["@@ b", "+x"]), "a\nb\nx\nc\n")
    assert.strictEqual(update("a\nb\nc\n", ["@@", " a", "@@", "+x"]), "a\nx\nb\nc\n")
    assert.strictEqual(update("a\nb\nc\n", ["@@ -2,0 +3 @@", "+x"]), "a\nb\nx\nc\n")
    assert.strictEqual(update("a\nb\nc\n", ["@@ -2 +2,2 @@", "+x"]), "a\nx\nb\nc\n")
    assert.strictEqual(update("", ["@@", "+x"]), "x\n")
    assert.deepStrictEqual(update("a\nb\n", ["@@", " b", "@@ -1,0 +1 @@", "+x"]), {
      reason: "hunk_not_found",
      line: 5,
      hunk: 2
    })
  })

  it("does without a blank line at its end that the file does not have", () => {
    const made = planned(patch("*** Update File: f", "@@", "-a", "+b", " "), { f: "a\nc\n" })
    assert.strictEqual(decode(made.changes[0]?.after), "b\nc\n")
    assert.strictEqual(made.fuzzy[0]?.ignored, "trailing_blank_line")
  })
})

describe("F111 what is not changed stays byte for byte", () => {
  const change = ["@@", " a", "-b", "+B1", "+B2"]

  it("with the endings of its neighbours for what is new", () => {
    assert.strictEqual(update("a\r\nb\r\nc\r\n", change), "a\r\nB1\r\nB2\r\nc\r\n")
    assert.strictEqual(update("a\nb\r\nc\n", change), "a\nB1\r\nB2\r\nc\n")
    assert.strictEqual(update("a\r\nb\nc\r\n", ["@@ a", "+x"]), "a\r\nx\r\nb\nc\r\n")
    assert.strictEqual(update("a\r\nb\nc\n", ["@@", "-a", "-b", "+1", "+2"]), "1\r\n2\nc\n")
    assert.strictEqual(update("a\rb\nc\n", ["@@", "-c", "+d"]), "a\rb\nd\n")
  })

  it("with lines of a patch that end as on Windows in a file that does not", () => {
    assert.strictEqual(update("a\nb\n", ["@@\r", " a\r", "-b\r", "+c\r"]), "a\nc\n")
  })

  it("with the mark and the encoding of the file", () => {
    assert.strictEqual(update("\ufeffa\r\nb\r\n", change), "\ufeffa\r\nB1\r\nB2\r\n")
    const utf16 = Buffer.from("\ufeffa\nb\n", "utf16le")
    const made = planned(patch("*** Update File: f", ...change), { f: utf16 })
    assert.deepStrictEqual(Buffer.from(made.changes[0]?.after ?? []), Buffer.from("\ufeffa\nB1\nB2\n", "utf16le"))
    const swapped = planned(patch("*** Update File: f", ...change), {
      f: Buffer.from("\ufeffa\nb\n", "utf16le").swap16()
    })
    assert.deepStrictEqual(
      Buffer.from(swapped.changes[0]?.after ?? []).swap16(),
      Buffer.from("\ufeffa\nB1\nB2\n", "utf16le")
    )
  })

  it("with or without a line break at the end", () => {
    assert.strictEqual(update("x\na\nb", ["@@", "-x", "+y"]), "y\na\nb")
    assert.strictEqual(update("a\nb", change), "a\nB1\nB2")
    assert.strictEqual(update("a\r\nb", ["@@", "-b", "+b", "+c"]), "a\r\nb\r\nc")
    assert.strictEqual(update("a\nb\n", ["@@", "-b", "+c", "\\ No newline at end of file"]), "a\nc\n")
    const otherwise = { preserveTrailingNewline: false }
    assert.strictEqual(update("x\nb", ["@@", "-x", "+y"], otherwise), "y\nb")
    assert.strictEqual(update("x\nb", ["@@", "-b", "+c"], otherwise), "x\nc\n")
  })

  it("and what is no text in UTF-8 is refused, with what it seems to be", () => {
    const error = failed(patch("*** Update File: f", "@@", "-a"), { f: Buffer.from("caf\u00e9 au lait\n", "latin1") })
    assert.strictEqual(error.code, "apply_patch:not_text")
    assert.include(error.message, "Latin-1")
    assert.strictEqual(
      failed(patch("*** Update File: f", "@@", "-a"), { f: "a\nb\0b and much more\n" }).reason,
      "not_text"
    )
  })
})

describe("files", () => {
  it("are added, replaced, changed, moved and deleted", () => {
    const made = planned(
      patch(
        "*** Add File: new",
        "+1",
        "*** Add File: there",
        "+2",
        "*** Update File: a",
        "@@",
        "-x",
        "+y",
        "*** Update File: from",
        "*** Move to: to",
        "@@",
        "-x",
        "+y",
        "*** Delete File: old"
      ),
      { there: "was\n", a: "x\n", from: "x\n", old: "o\n" }
    )
    assert.deepStrictEqual(letters(made), ["A new", "A there", "M a", "- from", "M to", "D old"])
    assert.deepStrictEqual(made.replaced, ["there"])
    const after = Object.fromEntries(made.changes.map(({ after, path }) => [path, decode(after)]))
    assert.deepStrictEqual(after, { new: "1\n", there: "2\n", a: "y\n", from: undefined, to: "y\n", old: undefined })
  })

  it("are seen by later sections as earlier ones have made them", () => {
    const twice = planned(
      patch(
        "*** Update File: f",
        "@@",
        "-a",
        "+b",
        "*** Update File: f",
        "@@",
        "-b",
        "+c",
        "*** Update File: f",
        "*** Move to: g"
      ),
      { f: "a\n" }
    )
    assert.deepStrictEqual(letters(twice), ["- f", "M g"])
    const gone = planned(patch("*** Update File: f", "*** Move to: g", "*** Delete File: g"), { f: "a\n" })
    assert.deepStrictEqual(letters(gone), ["D f"])
    const fresh = planned(patch("*** Add File: f", "+a", "*** Update File: f", "*** Move to: g", "@@", "-a", "+b"))
    assert.deepStrictEqual(letters(fresh), ["A g"])
    const swapped = planned(patch("*** Delete File: g", "*** Update File: f", "*** Move to: g"), { f: "a\n", g: "b\n" })
    assert.deepStrictEqual(letters(swapped), ["M g", "- f"])
    assert.strictEqual(
      failed(patch("*** Delete File: f", "*** Update File: f", "@@", "-a"), { f: "a\n" }).reason,
      "file_not_found"
    )
  })

  it("are refused where the patch cannot be meant", () => {
    assert.strictEqual(failed(patch("*** Delete File: f")).reason, "file_not_found")
    assert.strictEqual(failed(patch("*** Update File: f", "@@", "-a")).reason, "file_not_found")
    assert.strictEqual(failed(patch("*** Add File: f"), { f: "a\n" }).reason, "empty_content")
    assert.strictEqual(
      failed(patch("*** Update File: f", "*** Move to: g"), { f: "a\n", g: "b\n" }).reason,
      "target_exists"
    )
    assert.strictEqual(failed(patch("*** Update File: f", "@@", " a"), { f: "a\n" }).reason, "no_change")
  })
})

describe("large files", () => {
  const hunks = (count: number, lines: (at: number) => ReadonlyArray<string>) =>
    patch("*** Update File: f", ...Array.from({ length: count }, (_, at) => ["@@", ...lines(at)]).flat())

  it("take a patch of hundreds of hunks", () => {
    const lines = Array.from({ length: 100_000 }, (_, at) => `line ${at}`)
    const made = planned(
      hunks(500, (at) => [` line ${at * 200}`, `-line ${at * 200 + 1}`, "+changed"]),
      { f: lines.join("\n") }
    )
    assert.strictEqual(decode(made.changes[0]?.after)?.split("changed").length, 501)
  })

  it("of lines that repeat are searched in a time that is bounded, or refused", () => {
    const same = "a\n".repeat(100_000)
    assert.strictEqual(
      failed(patch("*** Update File: f", "@@", ...Array.from({ length: 60_000 }, () => "-a")), { f: same }).reason,
      "ambiguous_hunk"
    )
    const almost = `${"a\n".repeat(99_999)}b\n`
    assert.deepStrictEqual(
      update(almost, ["@@", ...Array.from({ length: 60_000 }, () => "-a"), "-b", "+c"]),
      `${"a\n".repeat(39_999)}c\n`
    )
    // Made to be slow: the rarest line is everywhere, and the run differs only at its end.
    const slow = `${"a\nb\n".repeat(50_000)}`
    const pattern = [...Array.from({ length: 20_000 }, () => ["-a", "-b"]).flat(), "-a", "-a"]
    assert.strictEqual(failed(patch("*** Update File: f", "@@", ...pattern), { f: slow }).reason, "too_complex")
  })

  it("beyond the limits are refused", () => {
    assert.strictEqual(
      failed(patch("*** Update File: f", "@@", "-a"), { f: "\n".repeat(PatchPlan.mostLines + 1) }).reason,
      "file_too_large"
    )
    assert.strictEqual(
      failed(patch("*** Update File: f", "@@", "-a"), { f: new Uint8Array(PatchPlan.mostBytes + 1).fill(65) }).reason,
      "file_too_large"
    )
  })
})
