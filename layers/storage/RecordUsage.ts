/** What the parts of the database take of it. Reads every page, as long as that takes, and never writes. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { DiskSettings } from "../../src/config/DiskSettings.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { RecordsPart } from "../../src/storage/DiskUsage.ts"
import * as Records from "../../src/storage/Records.ts"
import * as Verify from "./Verify.ts"

/** `null` where there is no database, or none that can be read. */
export const look = Effect.fn("RecordUsage.look")(function* (
  directory: DataDirectory["Service"],
  settings: DiskSettings
) {
  const parts = Effect.flatMap(Verify.recognised(directory), (path) => Verify.opened(path, true, inDatabase(settings)))
  return yield* Effect.orElseSucceed(parts, () => null)
})

const inDatabase = Effect.fnUntraced(function* (settings: DiskSettings) {
  const sql = yield* SqlClient.SqlClient
  // Indexes count with their table; SQLite's own and the free pages belong to none.
  const sizes = yield* sql<{ readonly name: string; readonly bytes: number }>`
    SELECT COALESCE(sqlite_schema.tbl_name, dbstat.name) AS name, SUM(dbstat.pgsize) AS bytes
    FROM dbstat('main', 1) AS dbstat LEFT JOIN sqlite_schema ON sqlite_schema.name = dbstat.name
    GROUP BY 1`
  const tables = yield* sql<{ readonly name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
  const rows = new Map<string, number>()
  for (const { name } of tables) {
    const [row] = yield* sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM ${sql(name)}`
    rows.set(name, row?.count ?? 0)
  }
  const [page] = yield* sql.unsafe<{ readonly page_size: number }>("PRAGMA page_size")
  const [free] = yield* sql.unsafe<{ readonly freelist_count: number }>("PRAGMA freelist_count")

  const parts = Records.records.map((records): RecordsPart => ({
    what: records.what,
    rows: records.tables.reduce((sum, name) => sum + (rows.get(name) ?? 0), 0),
    bytes: sizes.reduce((sum, size) => (Records.of(size.name) === records ? sum + size.bytes : sum), 0),
    limitBytes: records.limit?.(settings) ?? null,
    removed: records.removed(settings)
  }))
  const room: RecordsPart = {
    what: "free pages and SQLite's own",
    rows: 0,
    bytes:
      (page?.page_size ?? 0) * (free?.freelist_count ?? 0) +
      sizes.reduce((sum, size) => (Records.of(size.name) === undefined ? sum + size.bytes : sum), 0),
    limitBytes: null,
    removed: "filled by what is written next"
  }
  return [...parts, room]
})
