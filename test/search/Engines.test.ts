import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as EnginesLive from "../../layers/search/Engines.ts"
import * as FileSearchLive from "../../layers/search/FileSearch.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as FileZoo from "../rigs/FileZoo.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Searching from "./Searching.ts"

/** Which engine is picked, or why there is none. */
const pick = (grep: Searching.Grep, PATH = "/nowhere") =>
  Effect.gen(function* () {
    const { pick } = yield* EnginesLive.make
    const engine = yield* pick
    const folder = (yield* DataDirectory).file("search")
    return { ...engine, folder, mode: fs.statSync(folder, { throwIfNoEntry: false })?.mode }
  }).pipe(Effect.provide(Searching.layer({ tools: { grep } }, PATH)))

/** A program of this name that says this. */
const script = (zoo: FileZoo.FileZoo, name: string, body: string): string => {
  zoo.put(name, `#!/bin/sh\n${body}\n`, 0o755)
  return path.join(zoo.root, name)
}

const message = (type: string, data: object) => JSON.stringify({ type, data })

const summary = message("summary", { stats: { searches: 1 } })

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "the engine"), () => {
  it.live("is the one that comes with troupe where the machine has none, unpacked where nobody else can write", () =>
    Effect.gen(function* () {
      const { env, folder, mode, name } = yield* pick({})
      assert.deepStrictEqual([name, env["TMPDIR"], (mode ?? 0) & 0o777], ["wasm", folder, 0o700])
      assert.isFalse(fs.existsSync(folder), "it goes with the layer")
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(Needs.ripgrep.missing)(Needs.titled(Needs.ripgrep, "is the machine's where there is one"), () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* pick({}, "/usr/bin:/bin"), { name: "native", path: "/usr/bin/rg" })
      assert.deepInclude(yield* pick({ engine: "wasm" }, "/usr/bin:/bin"), { name: "wasm" })
    }).pipe(Effect.scoped)
  )

  it.live("passes over scripts, relative folders and what is no ripgrep", () =>
    Effect.gen(function* () {
      const zoo = yield* FileZoo.make
      script(zoo, "bin/rg", "echo ripgrep 14.0.0")
      fs.copyFileSync("/bin/true", path.join(zoo.root, "rg"))
      fs.chmodSync(path.join(zoo.root, "rg"), 0o755)
      assert.deepInclude(yield* pick({}, `.:bin:${zoo.root}/bin`), { name: "wasm" })
      assert.deepInclude(yield* pick({}, zoo.root), { name: "wasm" })
      const error = yield* Effect.flip(pick({ engine: "native" }, zoo.root))
      assert.deepInclude(error, { reason: "unavailable" })
      assert.match(error.message, /no ripgrep/)
    }).pipe(Effect.scoped)
  )

  it.live("of a setting is taken as it is given, and must be new enough", () =>
    Effect.gen(function* () {
      const zoo = yield* FileZoo.make
      const rg_path = script(zoo, "own", "echo ripgrep 14.1.0")
      assert.deepInclude(yield* pick({ engine: "native", rg_path }), { path: rg_path, version: 14 })
      const old = yield* Effect.flip(pick({ engine: "native", rg_path: script(zoo, "old", "echo ripgrep 12.1.1") }))
      assert.match(old.message, /version 12/)
      const none = yield* Effect.flip(pick({ engine: "native", rg_path: "/nowhere/rg" }))
      assert.deepInclude(none, { reason: "unavailable" })
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "the memory of a search"), () => {
  it.live("has a bound, whatever the files are", () =>
    Effect.gen(function* () {
      const { root, search } = yield* by(`ulimit -v > bound.txt; echo '${summary}'`)
      yield* search()
      assert.strictEqual(fs.readFileSync(path.join(root, "bound.txt"), "utf8"), "2097152\n")
    }).pipe(Effect.scoped)
  )
})

/** A search by a program that does what the script says after it has said its version. */
const by = Effect.fnUntraced(function* (body: string) {
  const zoo = yield* FileZoo.make
  const rg_path = script(zoo, "../rg.sh", `case "$*" in *--version*) echo ripgrep 15.0.0; exit;; esac\n${body}`)
  const grep = { engine: "native" as const, rg_path: path.join(zoo.root, "../rg.sh") }
  assert.isTrue(fs.existsSync(rg_path))
  const context = yield* Layer.build(Searching.layer({ tools: { file_storage: { root_dir: zoo.root }, grep } }))
  const { reading } = yield* Effect.provideContext(Workspace, context)
  const { search } = yield* Effect.provideContext(FileSearchLive.make, context)
  return { ...zoo, search: (request = {}) => search(reading)({ ...Searching.usual, pattern: "foo", ...request }) }
})

/** What a program says that found this in a file. */
const says = (file: string, ...found: ReadonlyArray<readonly [line: number, offset: number, text: string]>) => {
  const path = { text: file }
  return [
    message("begin", { path }),
    ...found.map(([line_number, absolute_offset, text]) =>
      message("match", { path, lines: { text }, line_number, absolute_offset, submatches: [{ start: 0, end: 1 }] })
    ),
    message("end", { path, binary_offset: null })
  ].join("\n")
}

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "whatever the program says"), () => {
  it.live("nothing is shown that the workspace does not read there", () =>
    Effect.gen(function* () {
      const { link, outside, put, search } = yield* by(`cat "$(dirname "$0")/said"`)
      put("a.txt", "foo\nbar\n")
      put("b.txt", "\ufefffoo\nbar\n")
      link("out", outside)
      put(
        "../said",
        [
          says("./a.txt", [1, 0, "foo\n"]),
          says("./b.txt", [2, 4, "bar\n"]),
          says("./changed.txt", [1, 0, "foo\n"]),
          says("./out/secret.txt", [1, 0, `${FileZoo.secret}\n`]),
          says(`${outside}/secret.txt`, [1, 0, `${FileZoo.secret}\n`]),
          says("../outside/secret.txt", [1, 0, `${FileZoo.secret}\n`]),
          summary,
          ""
        ].join("\n")
      )
      put("changed.txt", "was foo\n")
      const found = yield* search()
      assert.deepStrictEqual(Searching.lines(found), ["a.txt:1:1: foo", "b.txt:2:1: bar"])
      assert.deepStrictEqual(
        found.skipped.map(({ count, reason }) => [reason, count]),
        [["changed", 4]]
      )
    }).pipe(Effect.scoped)
  )

  it.live("lines that are no message are nothing, and one without an end is no burden", () =>
    Effect.gen(function* () {
      const { put, search } = yield* by(
        `echo '{"type":"match"}'; echo what; head -c 3000000 /dev/zero; echo; cat ../said`
      )
      put("a.txt", "foo\n")
      put("../said", `${says("./a.txt", [1, 0, "foo\n"])}\n${summary}\n`)
      assert.deepStrictEqual(Searching.lines(yield* search()), ["a.txt:1:1: foo"])
    }).pipe(Effect.scoped)
  )

  it.live("a program that ends without its summary has failed, and does not show what it complained of", () =>
    Effect.gen(function* () {
      const { search } = yield* by("echo the secret of the house >&2; exit 7")
      const error = yield* Effect.flip(search())
      assert.deepInclude(error, { reason: "failed" })
      assert.match(error.message, /code 7/)
      assert.notMatch(error.message, /secret/)
      const killed = yield* Effect.flip((yield* by("kill -9 $$")).search())
      assert.match(killed.message, /SIGKILL/)
    }).pipe(Effect.scoped)
  )

  it.live("files that may not be read, and those that are too large, are told", () =>
    Effect.gen(function* () {
      const { put, search } = yield* by("cat ../said >&2; cat ../summary")
      put("../summary", `${summary}\n`)
      put(
        "../said",
        [
          "rg: ./a: Permission denied (os error 13)",
          "./b c: IO error for operation on ./b c: Permission denied (os error 13)",
          "rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:1929: ignoring ./big: 2000004 bytes",
          "DEBUG|ignore::walk|walk.rs:1: ignoring ./.x: Ignore(IgnoreMatch(Hidden))",
          ""
        ].join("\n")
      )
      const found = yield* search()
      assert.deepStrictEqual(Searching.left(found), ["too_large: big", "unreadable: a", "unreadable: b c"])
    }).pipe(Effect.scoped)
  )

  it.live("F043 a search that is interrupted ends its program", () =>
    Effect.gen(function* () {
      const { has, root, search } = yield* by(`echo $$ > ../pid; exec sleep 1000`)
      const fiber = yield* Effect.forkChild(search())
      yield* Effect.repeat(
        Effect.sync(() => has("../pid") && fs.readFileSync(path.join(root, "../pid"), "utf8") !== ""),
        { until: (isThere) => isThere, schedule: Schedule.spaced("5 millis") }
      )
      yield* Fiber.interrupt(fiber)
      const pid = Number(fs.readFileSync(path.join(root, "../pid"), "utf8"))
      assert.throws(() => process.kill(pid, 0))
    }).pipe(Effect.scoped)
  )
})
