import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as Database from "../../layers/storage/Database.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import { Settings } from "../../src/config/Settings.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Processes from "./fixtures/Processes.ts"

/** The store in a directory, as a fresh process would open it. */
const inDirectory = (path: string) =>
  Layer.fresh(Database.layer).pipe(
    Layer.provide([
      Settings.layer(),
      Layer.effect(
        DataDirectory,
        Effect.map(Path.Path, (paths) => DataDirectory.of({ path, file: (name) => paths.join(path, name) }))
      )
    ])
  )

const rows = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id, started_at, ended_at, pid FROM incarnations`)

describe("the store", () => {
  it.effect("keeps its rows, and notes when each process began and ended", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const store = inDirectory(yield* files.makeTempDirectoryScoped())
      yield* TestClock.setTime(5_000)
      const first = yield* Effect.gen(function* () {
        const incarnation = yield* Incarnation
        const { id, startedAt } = incarnation
        assert.strictEqual(startedAt, 5_000)
        assert.deepStrictEqual(yield* rows, [{ id, started_at: 5_000, ended_at: null, pid: process.pid }])
        yield* TestClock.adjust("2 seconds")
        return incarnation
      }).pipe(Effect.provide(store))

      const [second, known] = yield* Effect.all([Incarnation, rows]).pipe(Effect.provide(store))
      assert.notStrictEqual(second.id, first.id)
      assert.deepStrictEqual(known, [
        { id: first.id, started_at: 5_000, ended_at: 7_000, pid: process.pid },
        { id: second.id, started_at: 7_000, ended_at: null, pid: process.pid }
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("in memory is a new one at each use", () =>
    Effect.gen(function* () {
      const use = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT * FROM channel_cursors`, [])
        yield* sql`INSERT INTO channel_cursors VALUES ('web', '1', 1)`
        return (yield* Incarnation).id
      })
      const ids = [yield* Effect.provide(use, Database.layerMemory), yield* Effect.provide(use, Database.layerMemory)]
      assert.notStrictEqual(ids[0], ids[1])
    })
  )

  const failure = (path: string) => Effect.flip(Effect.scoped(Effect.asVoid(Layer.build(inDirectory(path)))))

  it.effect("says what is wrong with a file it cannot use, and leaves the file alone", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* files.makeTempDirectoryScoped()
      const prepare = (name: string) => Effect.as(files.makeDirectory(`${root}/${name}`), `${root}/${name}`)

      const text = yield* prepare("text")
      const content = "This is a note and no database. ".repeat(100)
      yield* files.writeFileString(`${text}/troupe.db`, content)
      const notDatabase = yield* failure(text)
      assert.deepInclude(notDatabase, { _tag: "DatabaseUnusable", reason: "not-a-database" })
      assert.include(notDatabase.message, `${text}/troupe.db`)
      assert.include(notDatabase.message, "Move the file away")
      assert.strictEqual(yield* files.readFileString(`${text}/troupe.db`), content)

      const folder = yield* prepare("folder")
      yield* files.makeDirectory(`${folder}/troupe.db`)
      assert.deepInclude(yield* failure(folder), { _tag: "DatabaseUnusable", reason: "not-a-file" })

      const broken = yield* prepare("broken")
      yield* Effect.provide(Effect.void, inDirectory(broken))
      const bytes = yield* files.readFile(`${broken}/troupe.db`)
      bytes.fill(0x5a, 100, 4096)
      yield* files.writeFile(`${broken}/troupe.db`, bytes)
      assert.deepInclude(yield* failure(broken), { _tag: "DatabaseUnusable", reason: "corrupted" })

      const missing = yield* failure(`${root}/missing`)
      assert.deepInclude(missing, { _tag: "DatabaseUnusable", reason: "no-access" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("looks through the file after a life that did not end in order, and refuses a damaged one", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO channel_cursors VALUES ('web', ${"x".repeat(20_000)}, 1)`
        ),
        inDirectory(path)
      )
      const bytes = yield* files.readFile(`${path}/troupe.db`)
      // An overflow page that leads nowhere.
      const page = bytes.lastIndexOf(0x78) - 4000
      bytes.fill(0xff, page - (page % 4096), page - (page % 4096) + 4)
      yield* files.writeFile(`${path}/troupe.db`, bytes)
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE incarnations SET ended_at = NULL`),
        SqliteClient.layer({ filename: `${path}/troupe.db` })
      )
      assert.deepInclude(yield* failure(path), { _tag: "DatabaseUnusable", reason: "corrupted" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("refuses a newer schema and changes nothing in the file", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      const filename = `${path}/troupe.db`
      yield* Effect.provide(Effect.void, inDirectory(path))
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`INSERT INTO schema_migrations (migration_id, name) VALUES (9000, 'future')`
      ).pipe(Effect.provide(SqliteClient.layer({ filename })))
      const before = yield* files.readFile(filename)
      const error = yield* failure(path)
      assert.deepInclude(error, { _tag: "SchemaTooNew", found: 9000 })
      assert.deepStrictEqual(yield* files.readFile(filename), before)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("says so when it may not write", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      yield* Effect.provide(Effect.void, inDirectory(path))
      yield* files.chmod(`${path}/troupe.db`, 0o444)
      yield* files.chmod(path, 0o555)
      const child = yield* Processes.start("openDatabase.ts", path, "database")
      assert.match(yield* child.line, /^DatabaseUnusable: .*troupe\.db.*(writable|permissions)/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
