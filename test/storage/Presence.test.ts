import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { PlatformError } from "effect/PlatformError"
import * as SqlClient from "effect/sql/SqlClient"
import { join } from "node:path"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as Database from "../../layers/storage/Database.ts"
import * as DataDirectoryLive from "../../layers/storage/DataDirectory.ts"
import * as Presence from "../../layers/storage/Presence.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import * as EnvironmentLive from "../../layers/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { HeldLock } from "../../src/storage/HeldLock.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"
import { message } from "../laws/Messages.ts"

const store = (path: string) =>
  Layer.fresh(JournalLive.layer.pipe(Layer.provideMerge(Database.layer))).pipe(
    Layer.provide(Layer.succeed(DataDirectory, { path, file: (name) => join(path, name) })),
    Layer.provide(Layer.orDie(Settings.layer()))
  )

const inPlace = <A, E, R>(use: (path: string, files: FileSystem.FileSystem) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.flatMap(files.makeTempDirectoryScoped(), (path) => use(path, files))
  ).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const messagesIn = (filename: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT COUNT(*) AS count FROM inbox`).pipe(
    Effect.provide(SqliteClient.layer({ filename, readonly: true }))
  )

const losses: ReadonlyArray<
  readonly [string, (files: FileSystem.FileSystem, database: string) => Effect.Effect<unknown, PlatformError>]
> = [
  ["is deleted", (files, database) => files.remove(database)],
  [
    "is deleted with its log",
    (files, database) => Effect.forEach(["", "-wal", "-shm"], (end) => files.remove(`${database}${end}`))
  ],
  ["is moved away", (files, database) => files.rename(database, `${database}.elsewhere`)],
  [
    "is replaced by another file",
    (files, database) =>
      Effect.andThen(files.copyFile(database, `${database}.other`), files.rename(`${database}.other`, database))
  ],
  [
    "is replaced by an empty file",
    (files, database) => Effect.andThen(files.remove(database), files.writeFileString(database, ""))
  ]
]

describe("a database file under a running process", () => {
  for (const [name, lose] of losses) {
    it.live(`that ${name} takes no more messages, and all that were accepted are saved`, () =>
      inPlace((path, files) =>
        Effect.gen(function* () {
          const { accept } = yield* Journal
          const health = yield* StorageHealth
          const { look } = yield* Presence.make
          yield* accept(message({ externalId: "1" }))
          yield* look
          assert.isNull(yield* health.failing)
          yield* lose(files, join(path, "troupe.db"))
          // In the moment before it is noticed.
          yield* accept(message({ externalId: "2" }))
          yield* look
          assert.strictEqual((yield* health.failing)?.reason, "moved")
          const error = yield* Effect.flip(accept(message({ externalId: "3" })))
          assert.strictEqual(error.reason, "moved")
          assert.include(error.message, "deleted, moved or replaced")
          yield* look
          const saved = (yield* files.readDirectory(path)).filter((file) => file.startsWith("troupe.db.saved-"))
          assert.strictEqual(saved.length, 1)
          assert.deepStrictEqual(yield* messagesIn(join(path, saved[0] ?? "")), [{ count: 2 }])
          assert.strictEqual((yield* files.stat(join(path, saved[0] ?? ""))).mode & 0o777, 0o600)
        }).pipe(Effect.provide(store(path)))
      )
    )
  }

  it.live("that is put back takes messages again", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const { accept } = yield* Journal
        const { look } = yield* Presence.make
        const database = join(path, "troupe.db")
        yield* files.rename(database, `${database}.elsewhere`)
        yield* look
        yield* Effect.flip(accept(message({ externalId: "1" })))
        yield* files.rename(`${database}.elsewhere`, database)
        yield* look
        yield* accept(message({ externalId: "1" }))
        assert.isNull(yield* (yield* StorageHealth).failing)
      }).pipe(Effect.provide(store(path)))
    )
  )
})

describe("a lock under a running process", () => {
  it.live("that another process took ends the writing here for good", () =>
    inPlace((path) =>
      Effect.gen(function* () {
        const { accept } = yield* Journal
        let mine = true
        const look = Effect.sync(() => mine)
        const presence = yield* Presence.make.pipe(Effect.provideService(HeldLock, { look }))
        yield* presence.look
        yield* accept(message({ externalId: "1" }))
        mine = false
        yield* presence.look
        assert.strictEqual((yield* Effect.flip(accept(message({ externalId: "2" })))).reason, "moved")
        // The other one may have worked on what this one has in memory.
        mine = true
        yield* presence.look
        assert.strictEqual((yield* Effect.flip(accept(message({ externalId: "2" })))).reason, "moved")
        assert.isNotNull(yield* (yield* StorageHealth).failing)
      }).pipe(Effect.provide(store(path)))
    )
  )
})

describe("a database that is not there at the start", () => {
  const started = (path: string) => Effect.flip(Effect.provide(Effect.void, store(path)))

  it.live("is not made anew over an empty file or a log that is left, and is where nothing was before", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const database = join(path, "troupe.db")
        // A first start that came no further than this.
        yield* files.writeFileString(database, "")
        yield* Effect.provide(Effect.void, store(path))
        yield* files.writeFileString(database, "")
        const empty = yield* started(path)
        assert.strictEqual(empty._tag, "DatabaseUnusable")
        assert.include(empty.message, "it is empty, and there was a database here before")
        assert.include(empty.message, "restore a backup")
        assert.strictEqual(Number((yield* files.stat(database)).size), 0)
        yield* files.remove(database)
        yield* files.writeFileString(`${database}-wal`, "the last messages")
        assert.include((yield* started(path)).message, "it is not there, but its log")
        yield* files.remove(`${database}-wal`)
        // Now the mark alone says that there was one.
        const gone = yield* started(path)
        assert.strictEqual(gone._tag, "DatabaseUnusable")
        assert.include(gone.message, "it is not there, and there was a database here before")
        assert.include(gone.message, `To begin anew: rm -f '${database}.used'`)
        assert.isFalse(yield* files.exists(database))
        yield* files.remove(`${database}.used`)
        yield* Effect.provide(Effect.void, store(path))
      })
    )
  )

  it.live("is saved whole or not at all: a copy that came to nothing is not taken for one", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const database = join(path, "troupe.db")
        const failing = FileSystem.FileSystem.of({
          ...files,
          rename: (from, to) =>
            from.startsWith(database)
              ? files.stat(join(path, "no such file")).pipe(Effect.asVoid)
              : files.rename(from, to)
        })
        yield* Effect.gen(function* () {
          const { look } = yield* Effect.provideService(Presence.make, FileSystem.FileSystem, failing)
          yield* (yield* Journal).accept(message({ externalId: "1" }))
          for (const end of ["", "-wal", "-shm"]) yield* files.remove(`${database}${end}`)
          yield* look
        }).pipe(Effect.provide(store(path)))
        assert.deepStrictEqual(yield* files.readDirectory(path), ["troupe.db.used"])
        assert.include((yield* started(path)).message, "Put the file back, or restore a backup")
      })
    )
  )

  it.live("is not made anew beside what was saved of it, whose newest copy is named and can be put in its place", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const database = join(path, "troupe.db")
        yield* Effect.gen(function* () {
          const { look } = yield* Presence.make
          yield* (yield* Journal).accept(message({ externalId: "1" }))
          for (const end of ["", "-wal", "-shm"]) yield* files.remove(`${database}${end}`)
          yield* look
        }).pipe(Effect.provide(store(path)))
        const saved = (yield* files.readDirectory(path)).find((file) => file.startsWith("troupe.db.saved-"))
        yield* files.writeFileString(`${database}.saved-2001-01-01T00-00-00-000Z`, "older")
        const gone = yield* started(path)
        assert.strictEqual(gone._tag, "DatabaseUnusable")
        const remedy = `To go on with what a daemon saved of it: mv '${join(path, saved ?? "")}' '${database}'.`
        assert.include(gone.message, remedy)
        assert.include(gone.message, `To begin anew: rm -f '${database}.used'`)
        yield* files.writeFileString(database, "")
        assert.include((yield* started(path)).message, remedy)
        // The log of the lost one would be played over the copy.
        yield* files.remove(database)
        yield* files.writeFileString(`${database}-wal`, "the last messages")
        assert.include((yield* started(path)).message, `mv '${database}-wal' '${database}-wal.old'`)
        yield* files.remove(`${database}-wal`)
        yield* files.rename(join(path, saved ?? ""), database)
        yield* Effect.provide(Effect.void, store(path))
        assert.deepStrictEqual(yield* messagesIn(database), [{ count: 1 }])
      })
    )
  )
})

describe("a lock that is none", () => {
  const locked = (path: string) =>
    Effect.provide(
      Effect.void,
      DataDirectoryLive.layerLocked.pipe(
        Layer.provide([Layer.orDie(Settings.layer({ storage: { data_dir: path } })), EnvironmentLive.layer])
      )
    )

  it.live("is named, with what to do about it", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        yield* files.writeFileString(join(path, "lock.db"), "")
        yield* locked(path)
        yield* files.writeFileString(join(path, "lock.db"), "garbage".repeat(1000))
        const garbage = yield* Effect.flip(locked(path))
        assert.strictEqual(garbage._tag, "DataDirectoryUnusable")
        assert.include(garbage.message, "lock.db in it is no lock of Troupe. Move lock.db away")
        yield* files.remove(join(path, "lock.db"))
        yield* files.makeDirectory(join(path, "lock.db"))
        const directory = yield* Effect.flip(locked(path))
        assert.include(directory.message, "lock.db in it is a directory and not a file. Move lock.db away")
      })
    )
  )
})
