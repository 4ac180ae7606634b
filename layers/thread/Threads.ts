/**
 * Reading threads over SQL.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Defects from "../storage/Defects.ts"
import * as EntryRows from "./EntryRows.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(
    `id, key, agent, title, next_seq - 1 AS entries, history_from AS "historyFrom",
     created_at AS "createdAt", updated_at AS "updatedAt"`
  )

  const one = Effect.fnUntraced(function* (name: string, found: Effect.Effect<ReadonlyArray<Threads.Thread>>) {
    const [thread] = yield* found
    return thread ?? (yield* new Threads.ThreadNotFound({ thread: name }))
  })

  const get = Effect.fn("Threads.get")((id: Ids.ThreadId) =>
    one(id, Defects.orDefect(sql<Threads.Thread>`SELECT ${columns} FROM threads WHERE id = ${id}`))
  )

  const byKey = Effect.fn("Threads.byKey")((key: Threads.ThreadKey) =>
    one(key, Defects.orDefect(sql<Threads.Thread>`SELECT ${columns} FROM threads WHERE key = ${key}`))
  )

  const list = Effect.fn("Threads.list")(function* ({ before, limit }: Parameters<ThreadsShape["list"]>[0]) {
    const size = Math.max(1, limit)
    const older = before === undefined ? sql`` : sql`WHERE (updated_at, id) < (${before.updatedAt}, ${before.id})`
    // One more than asked tells whether there is another page.
    const found = yield* sql<Threads.Thread>`
      SELECT ${columns} FROM threads ${older} ORDER BY updated_at DESC, id DESC LIMIT ${size + 1}`
    const threads = found.slice(0, size)
    const last = threads.at(-1)
    const next = last === undefined || found.length <= size ? null : { updatedAt: last.updatedAt, id: last.id }
    return { threads, next }
  }, Defects.orDefect)

  /** Entries are never changed, so what was measured is what is read. */
  const between = Effect.fnUntraced(function* (id: Ids.ThreadId, first: number, last: number) {
    const rows = yield* sql<EntryRows.Row>`
      SELECT seq, payload, created_at FROM thread_entries
      WHERE thread_id = ${id} AND seq BETWEEN ${first} AND ${last} ORDER BY seq`
    return yield* Effect.forEach(rows, (row): Effect.Effect<Entry.StoredEntry> => EntryRows.decode(id, row))
  })

  const entries = Effect.fn("Threads.entries")(function* (
    id: Ids.ThreadId,
    { from, limit }: { readonly from: number; readonly limit: number }
  ) {
    if (limit <= 0) return { entries: [], next: null }
    // One more than asked tells whether there is another page. The length of a row is known without reading it.
    const sizes = yield* sql<Size>`
      SELECT seq, octet_length(payload) AS bytes FROM thread_entries
      WHERE thread_id = ${id} AND seq >= ${from} ORDER BY seq LIMIT ${limit + 1}`
    const taken = fitting(sizes, limit)
    const [first, last] = [taken.at(0), taken.at(-1)]
    if (first === undefined || last === undefined) return { entries: [], next: null }
    const next = taken.length < sizes.length ? last.seq + 1 : null
    return { entries: yield* between(id, first.seq, last.seq), next }
  }, Defects.orDefect)

  const latest = Effect.fn("Threads.latest")(function* (id: Ids.ThreadId, limit: number) {
    const sizes = yield* sql<Size>`
      SELECT seq, octet_length(payload) AS bytes FROM thread_entries
      WHERE thread_id = ${id} ORDER BY seq DESC LIMIT ${Math.max(0, limit)}`
    const taken = fitting(sizes, limit)
    const [newest, oldest] = [taken.at(0), taken.at(-1)]
    return newest === undefined || oldest === undefined ? [] : yield* between(id, oldest.seq, newest.seq)
  }, Defects.orDefect)

  const receipt = Effect.fn("Threads.receipt")(function* (id: Ids.MessageId) {
    const [row] = yield* sql<ReceiptRow>`
      SELECT thread_id, seq, state, turn_id, error_code, error_message, accepted_at, ended_at
      FROM inbox WHERE id = ${id}`
    return row === undefined ? yield* new Threads.MessageNotFound({ messageId: id }) : receiptOf(id, row)
  }, Defects.orDefect)

  return Threads.Threads.of({ get, byKey, list, entries, latest, receipt })
})

/** Reads the threads in the database of `SqlClient`. */
export const layer: Layer.Layer<Threads.Threads, never, SqlClient.SqlClient> = Layer.effect(Threads.Threads, make)

type ThreadsShape = Threads.Threads["Service"]

interface Size {
  readonly seq: number
  readonly bytes: number
}

/** As many as make a page, and at least one. */
const fitting = (sizes: ReadonlyArray<Size>, limit: number): ReadonlyArray<Size> => {
  let bytes = 0
  const tooMany = sizes.findIndex((size, index) => {
    bytes += size.bytes
    return index >= limit || (index > 0 && bytes > Threads.pageBytes)
  })
  return tooMany === -1 ? sizes : sizes.slice(0, tooMany)
}

interface ReceiptRow {
  readonly thread_id: Ids.ThreadId
  readonly seq: number
  readonly state: Threads.MessageState
  readonly turn_id: Ids.TurnId | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly accepted_at: number
  readonly ended_at: number | null
}

const receiptOf = (messageId: Ids.MessageId, row: ReceiptRow): Threads.MessageReceipt => ({
  messageId,
  threadId: row.thread_id,
  seq: row.seq,
  state: row.state,
  turnId: row.turn_id,
  failure: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
  acceptedAt: row.accepted_at,
  endedAt: row.ended_at
})
