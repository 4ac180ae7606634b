/** Notes that have come to the end of their time. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as SqlClient from "effect/sql/SqlClient"
import * as MemoryMetrics from "../../src/memory/MemoryMetrics.ts"
import * as Words from "../../src/memory/Words.ts"
import * as Overwriting from "../storage/Overwriting.ts"
import * as IndexTraces from "./IndexTraces.ts"
import * as NoteRows from "./NoteRows.ts"

type Expired = Pick<NoteRows.Row, "row" | "id" | "created_at"> & { readonly owner: number }

/** Removes notes that have expired, inside the caller's transaction. */
export const expire = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  notes: ReadonlyArray<Expired>,
  now: number
) {
  for (const note of notes) yield* NoteRows.bury(sql, note, note.owner, now, null)
  if (notes.length === 0) return
  yield* Metric.modify(MemoryMetrics.notes, -notes.length)
  yield* Metric.update(MemoryMetrics.changesOf("expired"), notes.length)
})

/** After notes were removed or replaced: takes what is left of them out of the index and out of the log. */
export const finish = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  notes: ReadonlyArray<Pick<NoteRows.Row, "title" | "data">>
) {
  yield* IndexTraces.clear(sql, new Set(notes.flatMap(({ data, title }) => Words.words(`${title} ${data}`))))
  yield* Overwriting.emptyLog(sql)
})

/** Removes up to `limit` notes that have expired, of whichever owner, and gives them. */
export const expireSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, limit: number, now: number) {
  const expiring = Effect.gen(function* () {
    const found = yield* sql<Expired & Pick<NoteRows.Row, "title" | "data">>`
      SELECT row, id, owner, created_at, title, data FROM notes WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}`
    yield* expire(sql, found, now)
    return found
  })
  const expired = yield* NoteRows.transaction(sql, expiring)
  if (expired.length > 0) yield* finish(sql, expired)
  return expired
})
