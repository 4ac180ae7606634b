/** Notes over SQL, with SQLite's full-text index. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Clock from "effect/Clock"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Settings } from "../../src/config/Settings.ts"
import * as Ids from "../../src/Ids.ts"
import * as MemoryMetrics from "../../src/memory/MemoryMetrics.ts"
import type * as Note from "../../src/memory/Note.ts"
import { NoteNotFound, Notes, TitleTaken, TooManyNotes } from "../../src/memory/Notes.ts"
import * as Words from "../../src/memory/Words.ts"
import * as Defects from "../storage/Defects.ts"
import * as Forgetting from "./Forgetting.ts"
import * as NoteRows from "./NoteRows.ts"
import * as NoteSearch from "./NoteSearch.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { max_notes: limit } = (yield* Settings).tools.kv_memory

  const rowOf = Effect.fnUntraced(function* (owner: number | undefined, id: string) {
    if (owner === undefined) return undefined
    const now = yield* Clock.currentTimeMillis
    const [row] = yield* sql<NoteRows.Row>`
      SELECT * FROM notes WHERE id = ${id} AND owner = ${owner} AND ${NoteSearch.alive(sql, now)}`
    return row
  })

  const lost = Effect.fnUntraced(function* (owner: number | undefined, id: string) {
    const found = yield* tombstoneRow(sql, owner, id)
    return yield* new NoteNotFound({ id, deletedAt: found?.deleted_at ?? null })
  })

  const create = Effect.fn("Notes.create")(function* (ownerId: string, draft: Note.Draft, origin: Note.Origin) {
    const now = yield* Clock.currentTimeMillis
    const owner = yield* ownerNumber(sql, ownerId)
    const [again] = yield* sql<NoteRows.Row>`
      SELECT * FROM notes WHERE created_call = ${origin.callId} AND owner = ${owner}`
    if (again !== undefined) return yield* NoteRows.decode(ownerId, again)
    const [same] = yield* sql<NoteRows.Row>`
      SELECT * FROM notes WHERE owner = ${owner} AND title_key = ${Words.titleKey(draft.title)}`
    if (same !== undefined) {
      const note = yield* NoteRows.decode(ownerId, same)
      if (note.expiresAt === null || note.expiresAt > now) return yield* new TitleTaken({ id: note.id })
      yield* Forgetting.expire(sql, [{ ...same, owner }], now)
    }
    if ((yield* NoteSearch.count(sql, owner, now)) >= limit) return yield* new TooManyNotes({ limit })
    const [taken] = yield* sql<{ readonly number: number }>`
      UPDATE note_owners SET next = next + 1 WHERE number = ${owner} RETURNING next - 1 AS number`
    const note: Note.Note = {
      ...draft,
      id: yield* Ids.makeNoteId,
      ownerId,
      createdAt: now,
      updatedAt: now,
      createdBy: origin,
      updatedBy: origin
    }
    yield* NoteRows.insert(sql, { row: NoteRows.rowOf(owner, taken?.number ?? 0), owner }, note)
    yield* Metric.modify(MemoryMetrics.notes, 1)
    yield* Metric.update(MemoryMetrics.changesOf("created"), 1)
    return note
  })

  const update = Effect.fn("Notes.update")(function* (
    ownerId: string,
    id: string,
    change: Note.Change,
    origin: Note.Origin
  ) {
    const owner = yield* NoteSearch.knownOwner(sql, ownerId)
    const row = yield* rowOf(owner, id)
    if (row === undefined) return yield* lost(owner, id)
    const before = yield* NoteRows.decode(ownerId, row)
    const now = Math.max(before.updatedAt, yield* Clock.currentTimeMillis)
    const after: Note.Note = { ...before, ...change, updatedAt: now, updatedBy: origin }
    yield* NoteRows.replace(sql, row.row, after)
    yield* Metric.update(MemoryMetrics.changesOf("updated"), 1)
    return { before: row, after }
  })

  const remove = Effect.fn("Notes.remove")(function* (
    ownerId: string,
    id: string,
    origin: Note.Origin
  ): Effect.fn.Return<Written<undefined>, NoteNotFound | SqlError> {
    const owner = yield* NoteSearch.knownOwner(sql, ownerId)
    const row = yield* rowOf(owner, id)
    if (owner === undefined || row === undefined) {
      const found = yield* tombstoneRow(sql, owner, id)
      return found?.deleted_call === origin.callId ? nothing : yield* lost(owner, id)
    }
    yield* NoteRows.bury(sql, row, owner, yield* Clock.currentTimeMillis, origin)
    yield* Metric.modify(MemoryMetrics.notes, -1)
    yield* Metric.update(MemoryMetrics.changesOf("deleted"), 1)
    return { before: row, after: undefined }
  })

  const get = Effect.fn("Notes.get")(function* (ownerId: string, id: string) {
    const owner = yield* NoteSearch.knownOwner(sql, ownerId)
    const row = yield* rowOf(owner, id)
    return row === undefined ? yield* lost(owner, id) : yield* NoteRows.decode(ownerId, row)
  }, Defects.orDefect)

  const tombstone = Effect.fn("Notes.tombstone")(function* (ownerId: string, id: string) {
    const found = yield* tombstoneRow(sql, yield* NoteSearch.knownOwner(sql, ownerId), id)
    if (found === undefined) return undefined
    const stone: Note.Tombstone = {
      id: Ids.NoteId.make(found.id),
      createdAt: found.created_at,
      deletedAt: found.deleted_at,
      deletedBy: found.deleted_by === null ? null : yield* NoteRows.decodeBy(found.id, found.deleted_by)
    }
    return stone
  }, Defects.orDefect)

  /** What a note said before is not to be found anywhere in the files afterwards. */
  const forgetting = <A, E>(writes: Effect.Effect<Written<A>, E>) =>
    Defects.orDefect(
      Effect.gen(function* () {
        const { after, before } = yield* NoteRows.transaction(sql, writes)
        if (before !== undefined) yield* Forgetting.finish(sql, [before])
        return after
      })
    )

  yield* Metric.update(MemoryMetrics.notes, yield* Defects.orDefect(NoteSearch.countAll(sql)))
  return Notes.of({
    create: (ownerId, draft, origin) => Defects.orDefect(NoteRows.transaction(sql, create(ownerId, draft, origin))),
    update: (ownerId, id, change, origin) => forgetting(update(ownerId, id, change, origin)),
    remove: (ownerId, id, origin) => forgetting(remove(ownerId, id, origin)),
    get,
    tombstone,
    ...NoteSearch.make(sql)
  })
})

/** What a note was, and what came of it. */
interface Written<A> {
  readonly before: NoteRows.Row | undefined
  readonly after: A
}

const nothing: Written<undefined> = { before: undefined, after: undefined }

/** The notes in the database of `SqlClient`. */
export const layer: Layer.Layer<Notes, never, SqlClient.SqlClient | Settings> = Layer.effect(Notes, make)

/** The owner's number, given out now if there is none. */
const ownerNumber = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ownerId: string) {
  const known = yield* NoteSearch.knownOwner(sql, ownerId)
  if (known !== undefined) return known
  const [row] = yield* sql<{ readonly number: number }>`
    INSERT INTO note_owners (number, owner) SELECT COALESCE(MAX(number), 0) + 1, ${ownerId} FROM note_owners
    RETURNING number`
  return row?.number ?? 0
})

interface TombstoneRow {
  readonly id: string
  readonly created_at: number
  readonly deleted_at: number
  readonly deleted_call: string | null
  readonly deleted_by: string | null
}

const tombstoneRow = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, owner: number | undefined, id: string) {
  if (owner === undefined) return undefined
  const [row] = yield* sql<TombstoneRow>`SELECT * FROM note_tombstones WHERE id = ${id} AND owner = ${owner}`
  return row
})
