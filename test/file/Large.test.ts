/** Many files, and a process that ends in the middle of a write. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Folder from "../../layers/file/Folder.ts"
import * as Live from "../../layers/file/Workspace.ts"
import * as FilePattern from "../../src/file/FilePattern.ts"
import * as FileZoo from "../rigs/FileZoo.ts"

const files = Effect.gen(function* () {
  const zoo = yield* FileZoo.make
  const { at } = yield* Live.make(yield* Folder.holding)
  return { zoo, files: at({ root: zoo.root, allowOutside: false, ownerOnly: true }) }
}).pipe(Effect.provide(NodeServices.layer))

describe("F108 a walk through 100 000 files", () => {
  it.live(
    "gives the first of them at once, stops when enough is found, and leaves out what no match can be in",
    () =>
      Effect.gen(function* () {
        const { files: at, zoo } = yield* files
        FileZoo.addMany(zoo, "many", 100_000)
        zoo.folder("many/locked", 0o000)
        zoo.link("many/loop", "..")
        let seen = 0
        const walk = at.reading.walk(".").pipe(Stream.tap(() => Effect.sync(() => void seen++)))
        assert.lengthOf(yield* Stream.runCollect(Stream.take(walk, 10)), 10)
        assert.isAtMost(seen, 300)
        const narrow = yield* Effect.fromResult(FilePattern.make("many/7/file-7*.txt"))
        assert.strictEqual(narrow.prefix, "many/7")
        seen = 0
        const found = yield* at.reading.walk(narrow.prefix, { enter: narrow.enters }).pipe(
          Stream.tap(() => Effect.sync(() => void seen++)),
          Stream.filter(({ below }) => narrow.matches(below)),
          Stream.runCount
        )
        assert.deepStrictEqual([found, seen], [1000, 1000])
        const shallow = yield* Effect.fromResult(FilePattern.make("*/*.txt"))
        seen = 0
        yield* Stream.runDrain(
          Stream.tap(at.reading.walk(".", { enter: shallow.enters }), () => Effect.sync(() => void seen++))
        )
        assert.isAtMost(seen, 105)
      }),
    120_000
  )

  it("F108 does not take long over any pattern", () => {
    const hostile = [
      "*a".repeat(149),
      "**/".repeat(4) + "*a*a*a*a*b",
      "{a,b}".repeat(60),
      "[".repeat(300),
      "?*".repeat(150)
    ]
    const deep = "aaaaaaaaaa/".repeat(200) + "a".repeat(200)
    for (const pattern of hostile) {
      const made = FilePattern.make(pattern)
      if (made._tag === "Failure") continue
      const began = performance.now()
      made.success.matches(deep)
      // A thousand times what it takes on a slow machine.
      assert.isBelow(performance.now() - began, 10_000, pattern)
    }
  })
})

describe("a write", () => {
  const writer = `
    const { dirname, join } = require("node:path")
    import(process.argv[1]).then(({ run }) => run(process.argv[2]))
  `

  it.live(
    "is seen whole or not at all, also when its process is killed",
    () =>
      Effect.gen(function* () {
        const { files: at, zoo } = yield* files
        const one = "1".repeat(3_000_000)
        const two = "2".repeat(3_000_000)
        zoo.put("a.txt", one)
        for (let round = 0; round < 5; round++) {
          yield* killed(zoo.root, writer)
          const content = zoo.text("a.txt")
          assert.isTrue(content === one || content === two)
          const listed = yield* at.reading.list(".", { most: 10 })
          assert.deepStrictEqual(
            listed.entries.map(({ name }) => name),
            ["a.txt"]
          )
        }
      }),
    120_000
  )
})

/** A process that writes over a file again and again, killed while it does. */
const killed = (root: string, program: string) =>
  Effect.callback<void>((resume) => {
    const script = path.join(import.meta.dirname, "fixtures", "writeForEver.ts")
    const child = spawn(process.execPath, ["-e", program, script, root], { stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", () => {
      // It is in the middle of a write when there is a file that is not finished.
      while (!fs.readdirSync(root).some((name) => name.endsWith(".unfinished"))) continue
      child.kill("SIGKILL")
    })
    child.once("exit", () => resume(Effect.void))
  })
