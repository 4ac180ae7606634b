/** Whether a database is one of Troupe that this release can work with. Only reads. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseUnusable, SchemaTooNew } from "../../src/storage/StorageError.ts"
import * as Migrations from "./Migrations.ts"

/** Fails where the tables are those of another program: they would be mixed with ours. `path` is only named in errors. */
export const refuseForeign = Effect.fnUntraced(function* (path: string) {
  const tables = yield* names
  if (tables.length === 0 || tables.includes("incarnations")) return
  const detail = "it is a database of another program, or has lost tables of this one"
  return yield* new DatabaseUnusable({ path, reason: "not-a-database", detail })
})

/** The same for one that must be in use already: there is a schema in it, and none that is newer than this release. */
export const check = Effect.fnUntraced(function* (path: string) {
  if ((yield* names).length === 0) {
    return yield* new DatabaseUnusable({ path, reason: "not-a-database", detail: "it holds no tables" })
  }
  yield* refuseForeign(path)
  const found = yield* Migrations.version
  if (found > Migrations.newest) return yield* new SchemaTooNew({ path, found, supported: Migrations.newest })
})

const names = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
  return rows.map(({ name }) => name)
})
