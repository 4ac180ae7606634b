import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import { execFileSync, spawnSync } from "node:child_process"
import { join } from "node:path"
import * as Verify from "../../layers/storage/Verify.ts"
import { message } from "../laws/Messages.ts"
import { atEachStep, life, litter, make, place, receive, restore, test, used } from "./Places.ts"

describe("backup", () => {
  test(
    "F146: a backup made during hundreds of writes is one moment of the database, sound and complete",
    Effect.gen(function* () {
      const at = yield* place
      yield* life(at.directory, ({ journal }) =>
        Effect.gen(function* () {
          for (let index = 0; index < 200; index++) {
            yield* journal.accept(message({ thread: `console:${index % 10}`, text: "x".repeat(2000) }))
          }
          const writing = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(journal.accept(message({ thread: "console:busy" })), Effect.yieldNow)),
            { startImmediately: true }
          )
          const manifest = yield* make(at)
          yield* Fiber.interrupt(writing)
          // Each accepted message is one entry and one row of the inbox: a torn copy would have more of one.
          assert.strictEqual(manifest.tables["inbox"], manifest.tables["thread_entries"])
          assert.isAtLeast(manifest.tables["inbox"] ?? 0, 200)
          assert.deepStrictEqual(yield* Verify.backup(at.backup), manifest)
        })
      )
    })
  )

  test(
    "it is for its owner alone, holds the managed files, and neither the token nor the log nor the lock",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* receive(at)
      for (const name of ["token", "endpoint.json", "lock.db"]) {
        yield* files.writeFileString(at.directory.file(name), "secret")
      }
      yield* files.makeDirectory(at.directory.file("files/outputs"), { recursive: true })
      yield* files.writeFileString(at.directory.file("files/outputs/tool-a.txt"), "output", { mode: 0o644 })
      yield* files.writeFileString(at.directory.file("files/outputs/.troupe-0123456789abcdef.unfinished"), "half")
      yield* files.symlink("/etc/hostname", at.directory.file("files/link"))
      yield* files.symlink(at.root, at.directory.file("files/elsewhere"))
      const manifest = yield* make(at)
      assert.deepStrictEqual(
        manifest.files.map(({ path }) => path),
        ["troupe.db", "files/outputs/tool-a.txt"]
      )
      const names = (yield* files.readDirectory(at.backup, { recursive: true })).toSorted()
      assert.deepStrictEqual(names, [
        "files",
        "files/outputs",
        "files/outputs/tool-a.txt",
        "manifest.json",
        "troupe.db"
      ])
      for (const name of names) {
        const { mode, type } = yield* files.stat(join(at.backup, name))
        assert.strictEqual(mode & 0o777, type === "File" ? 0o600 : 0o700, name)
      }
      assert.deepStrictEqual(yield* files.readDirectory(at.root), ["backup", "data"])
    })
  )

  test(
    "what is there is never overwritten unasked, and what is no backup not at all",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* receive(at)
      yield* make(at)
      const refused = yield* Effect.flip(make(at))
      assert.include(refused.message, "--force")
      yield* receive(at)
      assert.strictEqual((yield* make(at, true)).tables["inbox"], 2)
      const other = { ...at, backup: join(at.root, "photos") }
      yield* files.makeDirectory(other.backup)
      yield* files.writeFileString(join(other.backup, "cat.jpg"), "cat")
      assert.include((yield* Effect.flip(make(other, true))).message, "no backup of Troupe")
      assert.deepStrictEqual(yield* files.readDirectory(other.backup), ["cat.jpg"])
      assert.deepStrictEqual((yield* files.readDirectory(at.root)).toSorted(), ["backup", "data", "photos"])
    })
  )

  test(
    "of two to one new name the slower one says that the name is taken",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      const overtaken = FileSystem.FileSystem.of({
        ...files,
        rename: (from, to) =>
          Effect.andThen(Effect.orDie(make(at)), files.rename(from, to)).pipe(
            Effect.provideService(FileSystem.FileSystem, files),
            Effect.provide(NodeServices.layer)
          )
      })
      const refused = yield* Effect.flip(Effect.provideService(make(at), FileSystem.FileSystem, overtaken))
      assert.strictEqual(
        refused.message,
        `${at.backup}: it exists already; choose another name, or use --force to replace a backup.`
      )
      yield* Verify.backup(at.backup)
      assert.deepStrictEqual(yield* litter(at.root), [])
    })
  )

  for (const [what, damage] of [
    ["a byte in the database", (path: string) => overwrite(join(path, "troupe.db"), 5000)],
    ["a missing file", (path: string) => remove(join(path, "files/tool-a.txt"))],
    ["a database cut short", (path: string) => truncate(join(path, "troupe.db"))]
  ] as const) {
    test(
      `${what} is found, and the backup is not restored`,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const at = yield* used
        yield* make(at)
        yield* damage(at.backup)
        assert.strictEqual((yield* Effect.flip(Verify.backup(at.backup)))._tag, "BackupDamaged")
        const before = yield* files.readFile(at.directory.file("troupe.db"))
        const error = yield* Effect.flip(restore(at))
        assert.strictEqual(error._tag, "BackupDamaged")
        assert.deepStrictEqual(yield* files.readFile(at.directory.file("troupe.db")), before)
      })
    )
  }
})

const overwrite = Effect.fnUntraced(function* (path: string, at: number) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* files.readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  yield* files.writeFile(path, bytes)
})
const truncate = (path: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.truncate(path, 8192))
const remove = (path: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.remove(path))

describe("a backup that is killed", () => {
  test(
    "at any step of replacing a backup leaves a whole one, and the next run leaves nothing else",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      const steps = yield* atEachStep((run) =>
        Effect.gen(function* () {
          yield* make(at, yield* files.exists(at.backup))
          yield* receive(at)
          yield* run(make(at, true))
          const verified = yield* Effect.result(Verify.backup(at.backup))
          if (verified._tag === "Success") return
          const old = (yield* files.readDirectory(at.root)).find((name) => name.startsWith("backup.old-"))
          assert.include(verified.failure.message, `the backup before it is ${old} beside it`)
          yield* Verify.backup(join(at.root, old ?? ""))
        })
      )
      assert.isAbove(steps, 10)
      yield* make(at, true)
      const names = (yield* files.readDirectory(at.root)).filter((name) => !name.startsWith("backup.partial-"))
      assert.deepStrictEqual(names.toSorted(), ["backup", "data"])
    }),
    120_000
  )

  test(
    "in a process that is gone leaves nothing after the next backup; what is not its own stays",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      // The id of a process that has ended, and of one that lives.
      const gone = spawnSync(process.execPath, ["--version"]).pid
      const left = [`backup.partial-${gone}-1`, "backup.old-1"]
      const others = [`backup.partial-${process.pid}-1`, "backup.older", "my.backup.old-1", "backup.old-1.txt"]
      for (const name of [...left, ...others]) yield* files.makeDirectory(join(at.root, name))
      yield* make(at)
      assert.deepStrictEqual((yield* files.readDirectory(at.root)).toSorted(), ["backup", "data", ...others].toSorted())
    })
  )
})

describe("the place and the content of a backup", () => {
  test(
    "a place inside the data directory is refused, whatever way leads there",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* files.symlink(at.directory.path, join(at.root, "link"))
      const places = ["data", "data/files/backup", "link", "link/in", "link/not/yet/in"].map((name) =>
        join(at.root, name)
      )
      for (const backup of places) {
        const error = yield* Effect.flip(make({ ...at, backup }))
        assert.include(error.message, "inside the data directory", backup)
      }
    })
  )

  test(
    "a file that is a link, a pipe or a folder, or that leads out, is damage",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* make(at)
      const file = join(at.backup, "files/tool-a.txt")
      const damaged = Effect.map(Effect.flip(Verify.backup(at.backup)), ({ message }) => message)
      yield* files.rename(file, join(at.root, "elsewhere"))
      yield* files.symlink(join(at.root, "elsewhere"), file)
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      yield* files.remove(file)
      execFileSync("mkfifo", [file])
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      yield* files.remove(file)
      yield* files.makeDirectory(file)
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      const manifest = join(at.backup, "manifest.json")
      const text = yield* files.readFileString(manifest)
      for (const path of ["../token", "/etc/passwd", "files/../../x", "files\\\\..\\\\x"]) {
        yield* files.writeFileString(manifest, text.replace("files/tool-a.txt", path))
        assert.include(yield* damaged, "no backup of Troupe", path)
      }
      yield* files.remove(manifest)
      execFileSync("mkfifo", [manifest])
      assert.include(yield* damaged, "no backup of Troupe")
    })
  )
})
