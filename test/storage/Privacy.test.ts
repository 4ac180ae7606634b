/** What is written into the data directory is for its owner alone, also where others can look into the directory. */
import { assert, describe } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { join } from "node:path"
import * as DataDirectoryLive from "../../layers/storage/DataDirectory.ts"
import * as Presence from "../../layers/storage/Presence.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Program from "../cli/Program.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import { life, make, receive, restore, test, used } from "./Places.ts"

/** What others may do something with, of everything below a folder. */
const openToOthers = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const found: Array<string> = []
  for (const name of yield* files.readDirectory(path, { recursive: true })) {
    // What was listed may have gone.
    const info = yield* Effect.option(files.stat(join(path, name)))
    if (info._tag === "Some" && (info.value.mode & 0o077) !== 0) found.push(name)
  }
  return found.toSorted()
})

const opened = Effect.fnUntraced(function* (path: string) {
  yield* (yield* FileSystem.FileSystem).chmod(path, 0o755)
})

describe("in a data directory that others can look into", () => {
  test(
    "a daemon that works has no file that they can read",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* Program.place
      yield* files.makeDirectory(at.data)
      yield* opened(at.data)
      yield* Program.daemon(at)
      assert.strictEqual((yield* Program.run(at, ["chat", "--once", "what is 1+1?"])).code, 0)
      const names = yield* files.readDirectory(at.data)
      assert.includeMembers(names, ["troupe.db", "troupe.db-wal", "troupe.db-shm", "lock.db", "lock.json", "token"])
      assert.deepStrictEqual(yield* openToOthers(at.data), [])
    }),
    120_000
  )

  test(
    "a start closes what earlier ones left open, with its copies, and keeps what the owner may do",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* opened(at.directory.path)
      const ours = ["troupe.db", "troupe.db.saved-1", "troupe.db.replaced-1", "troupe.db.replaced-1-wal", "lock.db"]
      for (const name of ours.slice(1)) yield* files.writeFileString(at.directory.file(name), "")
      for (const name of ours) yield* files.chmod(at.directory.file(name), 0o644)
      yield* files.chmod(at.directory.file("troupe.db.saved-1"), 0o444)
      yield* files.writeFileString(at.directory.file("mine.txt"), "")
      yield* files.chmod(at.directory.file("mine.txt"), 0o644)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const hold = DataDirectoryLive.layerLocked.pipe(
            Layer.provide(Settings.layer({ storage: { data_dir: at.directory.path } })),
            Layer.provide(Environment.layerTable({}))
          )
          yield* Layer.build(Layer.fresh(hold))
          yield* life(at.directory, () => Effect.void)
        })
      )
      assert.deepStrictEqual(
        (yield* openToOthers(at.directory.path)).filter((name) => !name.startsWith("files")),
        ["mine.txt"]
      )
      assert.strictEqual((yield* files.stat(at.directory.file("troupe.db.saved-1"))).mode & 0o777, 0o400)
    })
  )

  test(
    "what is backed up, restored and replaced is closed",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* make(at)
      yield* opened(at.directory.path)
      yield* receive(at)
      for (const name of ["troupe.db", "files/tool-a.txt"]) yield* files.chmod(at.directory.file(name), 0o644)
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "another output")
      yield* files.chmod(join(at.backup, "troupe.db"), 0o644)
      const report = yield* restore(at)
      assert(report.replaced !== null)
      const names = yield* openToOthers(at.directory.path)
      assert.deepStrictEqual(
        names.filter((name) => name !== "files"),
        []
      )
    })
  )

  test(
    "what is saved of a database that went away is closed while it is made",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* opened(at.directory.path)
      const modes: Array<number> = []
      const watched = FileSystem.FileSystem.of({
        ...files,
        rename: (from, to) =>
          Effect.andThen(
            Effect.map(files.stat(from), ({ mode }) => void modes.push(mode & 0o777)),
            files.rename(from, to)
          ),
        // A reader that is there in between sees what the file was made with.
        chmod: (path, mode) =>
          path.endsWith(".saving") ? Effect.die("it was open before it was closed") : files.chmod(path, mode)
      })
      const store = Layer.fresh(DiskRig.store(at.directory.path))
      yield* Effect.gen(function* () {
        const { look } = yield* Presence.make
        yield* files.remove(at.directory.file("troupe.db"))
        yield* Effect.repeat(look, {
          until: () => modes.length > 0,
          schedule: Schedule.recurs(3)
        })
      }).pipe(Effect.provideService(FileSystem.FileSystem, watched), Effect.provide(store))
      assert.deepStrictEqual(modes, [0o600])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
