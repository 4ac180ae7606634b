/**
 * Entries as rows of `thread_entries`: the one border where an entry becomes text and text becomes an entry.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type * as Ids from "../../src/Ids.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as WellFormed from "../../src/thread/WellFormed.ts"
import * as Defects from "../storage/Defects.ts"

/** What a query for entries selects. */
export interface Row {
  readonly seq: number
  readonly payload: string
  readonly created_at: number
}

/**
 * Writes entries with the sequence numbers from `first` on, which the caller has allotted in the same transaction. Gives them
 * as they will be read.
 */
export const insert = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  thread: Ids.ThreadId,
  first: number,
  now: number,
  entries: ReadonlyArray<Entry.Entry>
): Effect.fn.Return<ReadonlyArray<Entry.StoredEntry>, SqlError> {
  const written: Array<Entry.StoredEntry> = []
  const rows: Array<Record<string, unknown>> = []
  for (const [index, entry] of entries.entries()) {
    const text = yield* Effect.orDie(encodeEntry(entry))
    const payload = WellFormed.json(text)
    const seq = first + index
    rows.push({
      thread_id: thread,
      seq,
      turn_id: Entry.turnIdOf(entry) ?? null,
      kind: entry._tag,
      payload,
      created_at: now
    })
    written.push(payload === text ? { seq, at: now, entry } : yield* decode(thread, { seq, payload, created_at: now }))
  }
  if (Arr.isArrayNonEmpty(rows)) yield* sql`INSERT INTO thread_entries ${sql.insert(rows)}`
  return written
})

/** Reads a row back. A row that cannot be read is a defect which names the thread and the sequence number. */
export const decode = (thread: Ids.ThreadId, row: Row): Effect.Effect<Entry.StoredEntry> =>
  decodeEntry(row.payload).pipe(
    Effect.map((entry) => ({ seq: row.seq, at: row.created_at, entry })),
    Effect.catch(() => Effect.die(new Defects.UnreadableRow({ table: "thread_entries", key: `${thread} ${row.seq}` })))
  )

const json = Schema.fromJsonString(Entry.Entry)
const decodeEntry = Schema.decodeUnknownEffect(json)
const encodeEntry = Schema.encodeExit(json)
