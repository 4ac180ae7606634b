/**
 * The store of one installation: `troupe.db` in the data directory, at this release's schema, with this process registered.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Settings } from "../../src/config/Settings.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import type { MigrationFailed, SchemaTooNew } from "../../src/storage/StorageError.ts"
import { DatabaseUnusable } from "../../src/storage/StorageError.ts"
import { StorageHealth, type Failing } from "../../src/storage/StorageHealth.ts"
import * as StorageMetrics from "../../src/storage/StorageMetrics.ts"
import * as Check from "./Check.ts"
import * as Defects from "./Defects.ts"
import * as IncarnationLive from "./Incarnation.ts"
import * as Installation from "./Installation.ts"
import * as Lost from "./Lost.ts"
import * as Migrations from "./Migrations.ts"
import * as NodeSqlite from "./NodeSqlite.ts"
import * as PrivateFile from "./PrivateFile.ts"
import * as Recognised from "./Recognised.ts"
import * as SqliteClient from "./SqliteClient.ts"

/** What the store gives. */
export type Services = SqlClient.SqlClient | SqliteClient.SqliteClient | Incarnation | StorageHealth

/** What opening it can fail with. */
export type OpenError = DatabaseUnusable | SchemaTooNew | MigrationFailed

/** The name of the database in the data directory. */
export const fileName = "troupe.db"

/** The store in the data directory. Whoever provides the directory decides whether it is locked; a daemon locks it. */
export const layer: Layer.Layer<Services, OpenError, DataDirectory | Settings | FileSystem.FileSystem> = Layer.unwrap(
  Effect.gen(function* () {
    const { storage } = yield* Settings
    const directory = yield* DataDirectory
    const filename = directory.file(fileName)
    yield* refuseOtherKinds(filename)
    yield* Lost.refuse(directory, fileName)
    yield* closeToOthers(directory)
    yield* PrivateFile.prepare(filename)
    return open({ filename, synchronous: storage.synchronous, busyTimeout: storage.busy_timeout_seconds }).pipe(
      Layer.tap(() => Lost.mark(filename))
    )
  })
)

/** The database and its copies hold everything, whoever may look into the directory: earlier releases made them readable. */
const closeToOthers = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const files = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(files.readDirectory(directory.path), () => [])
  const own = names.filter((name) => name === fileName || name.startsWith(`${fileName}.`))
  yield* Effect.forEach(own, (name) => PrivateFile.close(directory.file(name)), { discard: true })
})

/** A store in memory, empty and migrated: for tests. Each use of the layer is a store of its own. */
export const layerMemory: Layer.Layer<Services> = Layer.fresh(Layer.orDie(open({ filename: ":memory:" })))

function open(options: SqliteClient.Options): Layer.Layer<Services, OpenError> {
  const unusable = (error: SqlError) => toUnusable(options.filename, error)
  return Layer.effectContext(
    Effect.gen(function* () {
      const { health, observer } = yield* observe
      const client = yield* Effect.mapError(SqliteClient.make({ ...options, observer }), unusable)
      yield* Effect.provideContext(Recognised.refuseForeign(options.filename), client).pipe(
        Effect.catchTag("SqlError", (error) => Effect.fail(unusable(error)))
      )
      yield* Effect.provideContext(Migrations.run(options.filename), client)
      yield* Effect.provideContext(lookAfterCrash(options.filename), client).pipe(
        Effect.catchTag("SqlError", (error) => Effect.fail(unusable(error)))
      )
      const incarnation = yield* IncarnationLive.make.pipe(Effect.provideContext(client), Effect.mapError(unusable))
      return client.pipe(Context.add(Incarnation, incarnation), Context.add(StorageHealth, health))
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** A larger file than this is not read at the start: it would keep everybody waiting. `troupe verify` reads any. */
const quickBytes = 64 * 1024 * 1024

/** After a life that did not end in order, the file is looked through before anything is built on it. */
const lookAfterCrash = Effect.fnUntraced(function* (path: string) {
  const sql = yield* SqlClient.SqlClient
  const last = yield* Installation.lastIncarnation
  if (last === undefined || last.endedAt !== null) return
  const [size] = yield* sql.unsafe<{ readonly bytes: number }>(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size"
  )
  if (size === undefined || size.bytes > quickBytes) return
  const [problem] = yield* Check.quick
  if (problem !== undefined) return yield* new DatabaseUnusable({ path, reason: "corrupted", detail: problem })
})

/** How the store is, from how its statements end. */
const observe = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const latch = yield* Latch.make(false)
  const metrics = yield* Effect.context<never>()
  let failing: Failing | null = null
  const observer: SqliteClient.Observer = {
    failed: (error) => {
      const trouble = Defects.unavailable(error)
      if (trouble === undefined) return
      failing = { reason: trouble.reason, since: failing?.since ?? clock.currentTimeMillisUnsafe() }
      StorageMetrics.failing.updateUnsafe(1, metrics)
      latch.openUnsafe()
    },
    written: () => {
      if (failing === null) return
      failing = null
      StorageMetrics.failing.updateUnsafe(0, metrics)
      latch.closeUnsafe()
    }
  }
  return { observer, health: StorageHealth.of({ failing: Effect.sync(() => failing), awaitFailing: latch.await }) }
})

// SQLite's own words for a directory in the file's place are "unable to open database file".
const refuseOtherKinds = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.option(files.stat(path))
  if (info._tag === "Some" && info.value.type !== "File") {
    const detail = `it is a ${info.value.type.toLowerCase()} and not a file`
    return yield* new DatabaseUnusable({ path, reason: "not-a-file", detail })
  }
})

/** What a failure to open it means for a person. */
export const toUnusable = (path: string, error: SqlError): DatabaseUnusable => {
  const code = NodeSqlite.primaryCode(error)
  const reason = code === undefined ? undefined : reasons[code]
  return new DatabaseUnusable({ path, reason: reason ?? "other", detail: error.message })
}

// SQLite's primary result codes, https://sqlite.org/rescode.html
const reasons: Readonly<Record<number, DatabaseUnusable["reason"]>> = {
  5: "busy",
  8: "read-only",
  11: "corrupted",
  14: "no-access",
  26: "not-a-database"
}
