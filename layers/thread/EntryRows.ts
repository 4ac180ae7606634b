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

/** Writes entries with the sequence numbers from `first` on, which the caller has allotted in the same transaction. */
export const insert = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  thread: Ids.ThreadId,
  first: number,
  now: number,
  entries: ReadonlyArray<Entry.Entry>
): Effect.fn.Return<void, SqlError> {
  const rows: ReadonlyArray<Record<string, unknown>> = yield* Effect.forEach(entries, (entry, index) =>
    Effect.map(encode(entry), (payload) => ({
      thread_id: thread,
      seq: first + index,
      turn_id: Entry.turnIdOf(entry) ?? null,
      kind: entry._tag,
      payload,
      created_at: now
    }))
  )
  if (Arr.isReadonlyArrayNonEmpty(rows)) yield* sql`INSERT INTO thread_entries ${sql.insert(rows)}`
})

/** Reads a row back. A row that cannot be read is a defect which names the thread and the sequence number. */
export const decode = (thread: Ids.ThreadId, row: Row): Effect.Effect<Entry.StoredEntry> =>
  decodeEntry(row.payload).pipe(
    Effect.map((entry) => ({ seq: row.seq, at: row.created_at, entry })),
    Effect.catch(() => Effect.die(new Defects.UnreadableRow({ table: "thread_entries", key: `${thread} ${row.seq}` })))
  )

const json = Schema.fromJsonString(Entry.Entry)
const decodeEntry = Schema.decodeUnknownEffect(json)
const encodeEntry = Schema.encodeEffect(json)

const encode = (entry: Entry.Entry): Effect.Effect<string> =>
  Effect.orDie(Effect.map(encodeEntry(entry), WellFormed.json))
