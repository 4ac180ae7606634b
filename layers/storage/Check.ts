/** Whether a database is sound: SQLite's own checks, and the rules of ours that can be read off the rows. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { Checked } from "../../src/storage/Backup.ts"
import * as Migrations from "./Migrations.ts"

/** How many problems are reported at most. */
const most = 20

/** Reads the whole database. It takes as long as the file is large and blocks this process meanwhile: not for a daemon. */
export const full = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const integrity = yield* sql.unsafe<{ readonly integrity_check: string }>(`PRAGMA integrity_check(${most})`)
  const problems = integrity.map((row) => row.integrity_check).filter((words) => words !== "ok")
  // On a damaged file the rest would only say the same in other words.
  if (problems.length > 0) return { schemaVersion: 0, tables: {}, problems } satisfies Checked
  const foreign = yield* sql.unsafe<{ readonly table: string; readonly parent: string }>("PRAGMA foreign_key_check")
  for (const { parent, table } of foreign.slice(0, most))
    problems.push(`a row of ${table} names a row that ${parent} lacks`)

  const names = yield* sql<{ readonly name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
  const tables: Record<string, number> = {}
  for (const { name } of names) {
    const [row] = yield* sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM ${sql(name)}`
    tables[name] = row?.count ?? 0
  }
  if ("thread_entries" in tables) problems.push(...(yield* gaps))
  return { schemaVersion: yield* Migrations.version, tables, problems } satisfies Checked
}).pipe(Effect.withSpan("storage.check"))

const gaps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: string }>`
    SELECT threads.id AS id FROM threads LEFT JOIN thread_entries ON thread_entries.thread_id = threads.id
    GROUP BY threads.id
    HAVING COUNT(thread_entries.seq) <> threads.next_seq - 1 OR COALESCE(MAX(thread_entries.seq), 0) <> threads.next_seq - 1
    LIMIT ${most}`
  return rows.map(({ id }) => `the log of the thread ${id} has gaps`)
})

/** SQLite's quicker check, without comparing indexes with their tables. Gives what it found first. */
export const quick = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly quick_check: string }>("PRAGMA quick_check(1)")
  return rows.map((row) => row.quick_check).filter((words) => words !== "ok")
})
