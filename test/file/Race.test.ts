import { spawn } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Folder from "../../layers/file/Folder.ts"
import * as Live from "../../layers/file/Workspace.ts"
import * as FileZoo from "../rigs/FileZoo.ts"
import * as Needs from "../rigs/Needs.ts"

/** Puts a folder and a link that leads out under the same name by turns, as fast as it can, until its input ends. */
const program = `
  const fs = require("node:fs")
  process.chdir(process.argv[1])
  process.stdin.on("end", () => process.exit(0)).resume()
  // Where a try has made something in the meantime, it has to go.
  const put = (name, as) => {
    for (let tries = 0; tries < 1000; tries++) {
      try { return fs.renameSync(name, as) } catch {}
      try { fs.rmSync(as, { recursive: true, force: true }) } catch {}
    }
    throw new Error("cannot swap " + name)
  }
  const swap = () => {
    for (let i = 0; i < 200; i++) {
      for (const name of ["swap", "file"]) {
        put(name, name + ".real"); put(name + ".link", name)
        put(name, name + ".link"); put(name + ".real", name)
      }
      if (i === 0) fs.writeFileSync("swap/secret.txt", "inside")
    }
    setImmediate(swap)
  }
  swap()
  process.stdout.write("ready")
`

const swapping = (zoo: FileZoo.FileZoo) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof spawn>>((resume) => {
      const child = spawn(process.execPath, ["-e", program, zoo.root], { stdio: ["pipe", "pipe", "inherit"] })
      child.stdout.once("data", () => resume(Effect.succeed(child)))
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.stdin?.end()
      })
  )

/** What paths are put together of: all that leads somewhere, and ways of writing that others were fooled by. */
const names = ["swap", "file", "links", "out", "out-file", "top", "loop", "around", "folder", "dangling-out", "real"]
const parts = [
  ...names,
  "secret.txt",
  "file.txt",
  "inside.txt",
  "outside",
  "root",
  "etc/passwd",
  "..",
  "../..",
  ".",
  "",
  "...",
  "..\\..",
  "%2e%2e",
  "..\u2215..",
  "\uff0e\uff0e",
  "~",
  "proc/self/root",
  "new"
]
const Path = Schema.Struct({
  start: Schema.Literals(["", "", "", "/", "./", "//", "../"]),
  parts: Schema.Array(Schema.Literals(parts)).check(Schema.isMinLength(1), Schema.isMaxLength(6))
})

describe(Needs.titled(Needs.linux, "F050 F051 a path, whatever it is and whatever happens meanwhile"), () => {
  it.live.skipIf(Needs.linux.missing)(
    "leads nowhere outside, in 10 000 tries with links that come and go",
    () =>
      Effect.gen(function* () {
        const zoo = yield* FileZoo.make
        FileZoo.addLinks(zoo)
        zoo.put("swap/secret.txt", "inside")
        zoo.put("swap/inside.txt", "inside")
        zoo.link("swap.link", zoo.outside)
        zoo.put("file", "inside")
        zoo.link("file.link", `${zoo.outside}/secret.txt`)
        const { at } = yield* Live.make(Folder.byDescriptor)
        const files = at({ root: zoo.root, allowOutside: false, ownerOnly: true })
        const writing = files.writingAs({ _tag: "Runtime", purpose: "test" })
        const given = yield* Arbitrary.sampleEffect(Arbitrary.schema(Path), { count: 10_000, seed: 20_261_130 })
        const swapper = yield* swapping(zoo)

        const read = { all: 0, got: 0 }
        const isSecret = (bytes: Uint8Array) => new TextDecoder().decode(bytes).includes(FileZoo.secret)
        const tryOne = Effect.fnUntraced(function* (path: string, index: number) {
          read.all++
          const content = yield* Effect.option(files.reading.read(path, { most: 100 }))
          if (content._tag === "Some") {
            read.got++
            assert.isFalse(isSecret(content.value.bytes), path)
          }
          if (index % 10 === 1) {
            const listed = yield* Effect.option(files.reading.list(path, { most: 100 }))
            if (listed._tag === "Some") assert.isFalse(listed.value.place.absolute.startsWith(zoo.outside), path)
          }
          if (index % 20 === 2) {
            yield* Effect.ignore(
              writing.write(`${path}/new.txt`, new TextEncoder().encode("x"), { overwrite: true, most: 10 })
            )
          }
          if (index % 20 === 3) {
            yield* Effect.ignore(writing.remove(`${path}/secret.txt`, { kinds: ["file"], recursive: false }))
            yield* Effect.ignore(writing.makeFolder(`${path}/made`))
          }
        })
        yield* Effect.forEach(given, ({ parts, start }, index) => tryOne(start + parts.join("/"), index), {
          concurrency: 4,
          discard: true
        })
        // The names that are swapped, on their own: what the time between a look and an opening is worth.
        yield* Stream.range(1, 2000).pipe(
          Stream.mapEffect((index) => tryOne(index % 2 === 0 ? "swap/secret.txt" : "file", index), { concurrency: 4 }),
          Stream.runDrain
        )
        assert.isAbove(read.got, 100)
        // It was at it to the end.
        assert.isNull(swapper.exitCode)
        assert.isTrue(FileZoo.isUntouched(zoo))
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
