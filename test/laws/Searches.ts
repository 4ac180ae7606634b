/** What every engine must find in files, and what none may. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as FileSearch from "../../src/search/FileSearch.ts"
import * as FileZoo from "../rigs/FileZoo.ts"
import type { FileZoo as Zoo } from "../rigs/FileZoo.ts"
import * as Searching from "../search/Searching.ts"

interface Case {
  readonly title: string
  readonly files: (zoo: Zoo) => void
  readonly request: Partial<FileSearch.Request>
  readonly lines: ReadonlyArray<string>
  readonly left?: ReadonlyArray<string>
  readonly scanned?: number
}

const put =
  (files: Readonly<Record<string, string | Uint8Array>>) =>
  (zoo: Zoo): void =>
    Object.entries(files).forEach(([name, content]) => zoo.put(name, content))

const utf16 = (text: string) => Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(text, "utf16le")])

const ignored = put({
  ".gitignore": "build/\n*.log\n/only-here\n",
  "build/a.txt": "foo\n",
  "x.log": "foo\n",
  "only-here": "foo\n",
  "sub/only-here": "foo\n",
  "sub/build/a.txt": "foo\n",
  "sub/deep/y.log": "foo\n",
  "sub/deep/a.txt": "foo\n",
  "sub/.ignore": "private\n",
  "sub/deep/private/a.txt": "foo\n",
  ".git/config": "foo\n"
})

const cases: ReadonlyArray<Case> = [
  {
    title: "lines by path and number, with the column in characters",
    files: put({ "b.txt": "a\nécole foo\n", "a/c.txt": "foo\nfood foo\nfo\n", "a.txt": "none\n" }),
    request: { pattern: "fo{2}" },
    lines: ["a/c.txt:1:1: foo", "a/c.txt:2:1: food foo", "b.txt:2:7: école foo"],
    scanned: 3
  },
  { title: "an empty folder", files: () => undefined, request: { pattern: "a" }, lines: [], scanned: 0 },
  {
    title: "words as they stand",
    files: put({ "a.txt": "a.c(\nabc(\n" }),
    request: { pattern: "a.c(", fixed: true },
    lines: ["a.txt:1:1: a.c("]
  },
  {
    title: "capital and small letters, beyond ASCII too",
    files: put({ "a.txt": "ÉCOLE\nécole\necole\n" }),
    request: { pattern: "école", ignoreCase: true },
    lines: ["a.txt:1:1: ÉCOLE", "a.txt:2:1: école"]
  },
  {
    title: "classes and boundaries of Unicode",
    files: put({ "a.txt": "naïve\n日本語\n" }),
    request: { pattern: "^\\w+$" },
    lines: ["a.txt:1:1: naïve", "a.txt:2:1: 日本語"]
  },
  ...["--files", "-v", "-e", "--"].map((pattern) => ({
    title: `a pattern that looks like the option ${pattern}`,
    files: put({ "a.txt": `x\n${pattern}\n` }),
    request: { pattern, fixed: true },
    lines: [`a.txt:2:1: ${pattern}`]
  })),
  {
    title: "names of every kind",
    files: put({ "-e": "foo\n", "a b/c'd\".txt": "foo\n", "été.txt": "foo\n", "{x}": "foo\n", "new\nline": "foo\n" }),
    request: { pattern: "foo" },
    lines: ["-e:1:1: foo", "a b/c'd\".txt:1:1: foo", "new\nline:1:1: foo", "{x}:1:1: foo", "été.txt:1:1: foo"]
  },
  {
    title: "no hidden files",
    files: put({ ".env": "foo\n", ".a/b.txt": "foo\n", "a.txt": "foo\n" }),
    request: { pattern: "foo" },
    lines: ["a.txt:1:1: foo"]
  },
  {
    title: "hidden files when they are asked for",
    files: put({ ".env": "foo\n", ".a/b.txt": "foo\n", "a.txt": "foo\n", ".git/config": "foo\n" }),
    request: { pattern: "foo", hidden: true },
    lines: [".a/b.txt:1:1: foo", ".env:1:1: foo", "a.txt:1:1: foo"]
  },
  {
    title: "a hidden file that is named",
    files: put({ ".env": "foo\n" }),
    request: { pattern: "foo", path: ".env" },
    lines: [".env:1:1: foo"]
  },
  {
    title: "not what ignore files leave out",
    files: ignored,
    request: { pattern: "foo", hidden: true },
    lines: ["sub/deep/a.txt:1:1: foo", "sub/only-here:1:1: foo"]
  },
  {
    title: "not what the ignore files above the folder leave out",
    files: ignored,
    request: { pattern: "foo", path: "sub/deep" },
    lines: ["sub/deep/a.txt:1:1: foo"]
  },
  {
    title: "ignored files when they are asked for",
    files: ignored,
    request: { pattern: "foo", path: "sub", ignored: true },
    lines: [
      "sub/build/a.txt:1:1: foo",
      "sub/deep/a.txt:1:1: foo",
      "sub/deep/private/a.txt:1:1: foo",
      "sub/deep/y.log:1:1: foo",
      "sub/only-here:1:1: foo"
    ]
  },
  {
    title: "what ignore files outside would leave out",
    files: (zoo) => {
      fs.writeFileSync(path.join(zoo.root, "../.gitignore"), "*\n")
      fs.mkdirSync(path.join(zoo.root, "../.git"))
      zoo.put("a.txt", "foo\n")
    },
    request: { pattern: "foo" },
    lines: ["a.txt:1:1: foo"]
  },
  {
    title: "what an ignore file would leave out that is a link, a pipe or a folder",
    files: (zoo) => {
      fs.writeFileSync(path.join(zoo.outside, "rules"), "*.txt\n")
      zoo.put("rules", "*.txt\n")
      zoo.put("a/b.txt", "foo\n")
      zoo.put("c/d.txt", "foo\n")
      zoo.put("e/f.txt", "foo\n")
      for (const name of [".gitignore", ".ignore", ".rgignore"]) {
        spawnSync("mkfifo", [path.join(zoo.root, name), path.join(zoo.root, "a", name)])
        zoo.link(`c/${name}`, "../../outside/rules")
        zoo.link(`d/${name}`, "../rules")
        zoo.folder(`e/${name}`)
      }
      zoo.put("d/g.txt", "foo\n")
    },
    request: { pattern: "foo" },
    lines: ["a/b.txt:1:1: foo", "c/d.txt:1:1: foo", "d/g.txt:1:1: foo", "e/f.txt:1:1: foo"]
  },
  {
    title: "the same in the folders above",
    files: (zoo) => {
      fs.writeFileSync(path.join(zoo.outside, "rules"), "*.txt\n")
      zoo.put("a/b/c.txt", "foo\n")
      spawnSync("mkfifo", [path.join(zoo.root, ".ignore")])
      zoo.link(".gitignore", "../outside/rules")
      zoo.link("a/.gitignore", "../../outside/rules")
    },
    request: { pattern: "foo", path: "a/b" },
    lines: ["a/b/c.txt:1:1: foo"]
  },
  {
    title: "not what the rules of ignore files leave out, whatever folder they are in and however they are written",
    files: put({
      ".gitignore":
        "\ufeff*.tmp\r\n# no rule\n\n  \n/top.txt\ndeep/*.md\n**/any.txt\n\\#odd\n\\!odd\nspace\\ \ntail.txt   \nbad[\n",
      "sub[1]/.gitignore": "/top.txt\nx/y.txt\n!keep.tmp\nonly/\nall/**\n",
      "sub[1]/.ignore": "!again.tmp\nmine.txt\n",
      "sub[1]/.rgignore": "!mine.txt\n",
      ...Object.fromEntries(
        [
          ..."a.tmp top.txt deep/a.md sub/deep/a.md z/any.txt #odd !odd tail.txt".split(" "),
          "space ",
          ..."top.txt x/y.txt z/x/y.txt keep.tmp again.tmp mine.txt only/a.txt z/only all/a all.txt a.tmp"
            .split(" ")
            .map((name) => `sub[1]/${name}`),
          "sub1/mine.txt"
        ].map((name) => [name, "foo\n"])
      )
    }),
    request: { pattern: "foo" },
    lines: [
      "sub/deep/a.md",
      "sub1/mine.txt",
      "sub[1]/again.tmp",
      "sub[1]/all.txt",
      "sub[1]/keep.tmp",
      "sub[1]/mine.txt",
      "sub[1]/z/only",
      "sub[1]/z/x/y.txt"
    ].map((name) => `${name}:1:1: foo`)
  },
  {
    title: "rules of folders above, each from its own folder",
    files: put({
      "a/.gitignore": "/b/no.txt\n/c.txt\n",
      "a/b/no.txt": "foo\n",
      "a/b/c.txt": "foo\n",
      "c.txt": "foo\n"
    }),
    request: { pattern: "foo", path: "a/b" },
    lines: ["a/b/c.txt:1:1: foo"]
  },
  {
    title: "one folder alone",
    files: put({ "a/b/c.txt": "foo\n", "a/d.txt": "foo\n", "e.txt": "foo\n" }),
    request: { pattern: "foo", path: "./a/b/..", recursive: false },
    lines: ["a/d.txt:1:1: foo"],
    scanned: 1
  },
  {
    title: "one file",
    files: put({ "a/d.txt": "x\nfoo", "a/e.txt": "foo\n" }),
    request: { pattern: "foo", path: "a/d.txt" },
    lines: ["a/d.txt:2:1: foo"],
    scanned: 1
  },
  {
    title: "a folder that a link inside leads to",
    files: (zoo) => {
      zoo.put("real/a.txt", "foo\n")
      zoo.link("link", "real")
    },
    request: { pattern: "foo", path: "link" },
    lines: ["real/a.txt:1:1: foo"]
  },
  {
    title: "larger files are left out, and told",
    files: put({ "a.txt": "foo\n", "b.txt": `foo\n${"x".repeat(2000)}\n` }),
    request: { pattern: "foo", maxFileBytes: 1000 },
    lines: ["a.txt:1:1: foo"],
    left: ["too_large: b.txt"],
    scanned: 1
  },
  {
    title: "a larger file that is named",
    files: put({ "b.txt": `foo\n${"x".repeat(2000)}\n` }),
    request: { pattern: "foo", path: "b.txt", maxFileBytes: 1000 },
    lines: [],
    left: ["too_large: b.txt"]
  },
  {
    title: "binary files with a match are told, others are nothing",
    files: put({ "a.bin": "foo\n\0\0\n", "b.bin": "\0\0\nfoo\n", "c.bin": "\0\0\n", "d.txt": "foo\n" }),
    request: { pattern: "foo" },
    lines: ["d.txt:1:1: foo"],
    left: ["not_text: a.bin", "not_text: b.bin"],
    scanned: 4
  },
  {
    title: "text that is no UTF-8 is told",
    files: put({ "a.txt": Buffer.from("caf\u00e9 foo\n", "latin1"), "b.txt": "foo\n" }),
    request: { pattern: "foo" },
    lines: ["b.txt:1:1: foo"],
    left: ["not_text: a.txt"]
  },
  {
    title: "marks of encodings",
    files: put({ "a.txt": "\ufefffoo\nx foo\n", "b.txt": utf16("é\nüber foo\nfoo\n") }),
    request: { pattern: "foo" },
    lines: ["a.txt:1:1: foo", "a.txt:2:3: x foo", "b.txt:2:6: über foo", "b.txt:3:1: foo"]
  },
  {
    title: "line ends of Windows",
    files: put({ "a.txt": "foo\r\nbar foo\r\n" }),
    request: { pattern: "foo$", before: 1 },
    lines: ["a.txt:1:1: foo", "a.txt:2:5: bar foo"]
  },
  {
    title: "the part of a long line around the match",
    files: put({ "a.txt": `${"é".repeat(5000)}foo${"\u{1F600}".repeat(5000)}\n` }),
    request: { pattern: "foo" },
    lines: [`a.txt:1:5001: ${"é".repeat(100)}foo${"\u{1F600}".repeat(148)}`]
  },
  {
    title: "F042 a line that is too long to be looked at is told",
    files: put({ "a.txt": `${"y".repeat(600_000)} foo\n`, "b.txt": "foo\n" }),
    request: { pattern: "foo" },
    lines: ["b.txt:1:1: foo"],
    left: ["long_line: a.txt"]
  }
]

/** Patterns that take other engines for ever, and what they match in `a…a!` and in `a…a`. */
const hostile = ["(a+)+$", "^(a|a)*$", "^(a*)*$", "^(a|aa)+$", "(.*)*a$", "(a?){30}a{30}$"]

const refused = [
  "(a",
  "[z-a]",
  "a{2",
  "(?=a)",
  "(a)\\1",
  "a\nb",
  "a\\nb",
  "",
  "a\0",
  "\ud800",
  "((a{100}){100}){100}",
  "a".repeat(5000)
]

/** `counts`: whether the engine tells how many files it looked through. */
export const laws = (name: string, engine: "native" | "wasm", counts: boolean) => {
  const start = (options: Parameters<typeof Searching.start>[1] = {}) => Searching.start({ engine }, options)

  describe(`searches by ${name}`, () => {
    for (const { files, left = [], lines, request, scanned, title } of cases) {
      it.live(title, () =>
        Effect.gen(function* () {
          const zoo = yield* start()
          files(zoo)
          const found = yield* zoo.search(request)
          assert.deepStrictEqual(Searching.lines(found), lines)
          assert.deepStrictEqual(Searching.left(found), left)
          assert.isUndefined(found.stopped)
          if (scanned !== undefined) assert.strictEqual(found.scanned, counts ? scanned : undefined)
        })
      )
    }

    it.live("shows the lines around a match, those that match as well, and none twice", () =>
      Effect.gen(function* () {
        const { put, search } = yield* start()
        put("a.txt", "1\n2 foo\n3\n4 foo\n5\n6\n7\n8 foo")
        const { matches } = yield* search({ pattern: "foo", before: 2, after: 1 })
        assert.deepStrictEqual(
          matches.map(({ after, before, line }) => [line, before, after]),
          [
            [2, ["1"], ["3"]],
            [4, ["2 foo", "3"], ["5"]],
            [8, ["6", "7"], []]
          ]
        )
      })
    )

    it.live("F108 stops at the most matches, in one file and over many, and says so", () =>
      Effect.gen(function* () {
        const { put, search } = yield* start()
        put("one.txt", "foo\n".repeat(20_000))
        const one = yield* search({ pattern: "foo", path: "one.txt", maxMatches: 3, after: 1 })
        assert.deepStrictEqual(
          one.matches.map(({ after, line }) => [line, after]),
          [
            [1, ["foo"]],
            [2, ["foo"]],
            [3, ["foo"]]
          ]
        )
        assert.deepStrictEqual([one.stopped, one.scanned], ["matches", undefined])
        for (let at = 0; at < 300; at++) put(`many/${at}.txt`, "foo\nfoo\n")
        const many = yield* search({ pattern: "foo", path: "many", maxMatches: 25 })
        assert.deepStrictEqual([many.matches.length, many.stopped], [25, "matches"])
        const exact = yield* search({ pattern: "foo", path: "many", maxMatches: 600 })
        assert.deepStrictEqual(
          [exact.matches.length, exact.stopped, exact.scanned],
          [600, undefined, counts ? 300 : undefined]
        )
      })
    )

    it.live("F106 stops when there is more text than one answer holds", () =>
      Effect.gen(function* () {
        const { put, search } = yield* start()
        for (let at = 0; at < 20; at++) put(`${at}.txt`, `foo ${"x".repeat(380)}\n`.repeat(40))
        const found = yield* search({ pattern: "foo", maxMatches: 1000 })
        assert.strictEqual(found.stopped, "text")
        assert.isBelow(
          found.matches.reduce((sum, { text }) => sum + text.length, 0),
          80_000
        )
        assert.isAbove(found.matches.length, 100)
      })
    )

    it.live("F109 no pattern takes longer than in proportion to the text", () =>
      Effect.gen(function* () {
        const { put, search } = yield* start()
        const long = "a".repeat(100_000)
        put("no.txt", `${long}!\n`)
        put("yes.txt", `${long}\n`)
        for (const pattern of hostile) {
          const found = yield* search({ pattern })
          assert.deepStrictEqual(
            found.matches.map(({ place }) => place.relative),
            ["yes.txt"],
            pattern
          )
        }
        assert.deepStrictEqual(Searching.lines(yield* search({ pattern: "(.*)*x" })), [])
      })
    )

    it.live("F109 refuses what is no pattern, and names it", () =>
      Effect.gen(function* () {
        const { put, search } = yield* start()
        put("a.txt", "foo\n")
        for (const pattern of refused) {
          const error = yield* Effect.flip(search({ pattern }))
          assert.deepInclude(error, { _tag: "SearchError", reason: "invalid_pattern" }, JSON.stringify(pattern))
          assert.match(error.message, /^pattern: .+\./)
        }
        assert.match((yield* Effect.flip(search({ pattern: "(a" }))).message, /unclosed group/)
      })
    )

    it.live("finds outside what the ignore files there leave in", () =>
      Effect.gen(function* () {
        const zoo = yield* Searching.start({ engine }, { allowOutside: true })
        zoo.put("../outside/.gitignore", "/a.txt\n")
        zoo.put("../outside/b/.ignore", "/d.txt\n")
        for (const name of ["a.txt", "b/a.txt", "b/c.txt", "b/d.txt", "d.txt"]) zoo.put(`../outside/${name}`, "foo\n")
        assert.deepStrictEqual(
          Searching.lines(yield* zoo.search({ pattern: "foo", path: zoo.outside })),
          ["b/a.txt", "b/c.txt", "d.txt"].map((name) => `${zoo.outside}/${name}:1:1: foo`)
        )
      }).pipe(Effect.scoped)
    )

    it.live("follows no link, opens no device and no pipe, and leaves nothing outside touched", () =>
      Effect.gen(function* () {
        const zoo = yield* start()
        FileZoo.addLinks(zoo)
        spawnSync("mkfifo", [path.join(zoo.root, "pipe.txt"), path.join(zoo.root, "real/pipe")])
        const found = yield* zoo.search({ pattern: ".", hidden: true, ignored: true })
        assert.deepStrictEqual(Searching.lines(found), ["real/file.txt:1:1: inside"])
        for (const [asked, reason] of [
          ["links/out", "outside_root"],
          ["links/top", "outside_root"],
          ["../outside", "outside_root"],
          ["nowhere", "file_not_found"],
          ["pipe.txt", "special_file"],
          ["", "invalid_path"]
        ] as const) {
          assert.deepInclude(yield* Effect.flip(zoo.search({ pattern: ".", path: asked })), { reason }, asked)
        }
        assert.isTrue(FileZoo.isUntouched(zoo))
      })
    )

    it.live("searches outside of the root where the settings allow it", () =>
      Effect.gen(function* () {
        const { outside, search } = yield* start({ allowOutside: true })
        const found = yield* search({ pattern: "what", path: outside })
        assert.deepStrictEqual(Searching.lines(found), [`${path.join(outside, "secret.txt")}:1:1: ${FileZoo.secret}`])
      })
    )
  })
}
