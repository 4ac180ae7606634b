/** Finding notes: SQL over the notes and the index of their words. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import * as Ids from "../../src/Ids.ts"
import * as MemoryMetrics from "../../src/memory/MemoryMetrics.ts"
import type * as Note from "../../src/memory/Note.ts"
import { mostRanked, mostScanned, pageBytes } from "../../src/memory/Notes.ts"
import type { Notes, Page, Selection, Title } from "../../src/memory/Notes.ts"
import * as Words from "../../src/memory/Words.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import * as Defects from "../storage/Defects.ts"
import * as NoteRows from "./NoteRows.ts"

/** How much more a word in the title says than one in the text. */
const titleWeight = 10

type Repository = Notes["Service"]

export const make = (sql: SqlClient.SqlClient): Pick<Repository, "search" | "titles"> => ({
  search: Effect.fn("Notes.search")(function* (ownerId, { text, ...selection }) {
    const began = yield* Monotonic.millis
    const found = yield* read(sql, ownerId, selection, text)
    const items = yield* wholes(sql, ownerId, found.items)
    yield* Metric.update(MemoryMetrics.searchSeconds, ((yield* Monotonic.millis) - began) / 1000)
    return { ...found, items }
  }, Defects.orDefect),
  titles: Effect.fn("Notes.titles")(function* (ownerId: string, selection: Selection) {
    const found = yield* list(sql, ownerId, selection)
    return { ...found, items: yield* titles(sql, found.items) }
  }, Defects.orDefect)
})

/** Whether a note is still there. */
export const alive = (sql: SqlClient.SqlClient, now: number): Statement.Fragment =>
  sql`(expires_at IS NULL OR expires_at > ${now})`

/** The owner's number; undefined for one who never had a note. */
export const knownOwner = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ownerId: string) {
  const [row] = yield* sql<{ readonly number: number }>`SELECT number FROM note_owners WHERE owner = ${ownerId}`
  return row?.number
})

/** The notes of an owner. Looking at each whether it has expired would take several times as long. */
export const count = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, owner: number, now: number) {
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT (SELECT COUNT(*) FROM notes WHERE owner = ${owner})
      - (SELECT COUNT(*) FROM notes WHERE expires_at <= ${now} AND owner = ${owner}) AS count`
  return row?.count ?? 0
})

/** Notes of all owners, those that have expired included. */
export const countAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM notes`
  return row?.count ?? 0
})

// ---------------------------------------------------------------------------------------------------------------------
// Which notes

/** A note that was found: how large it is is known before it is read. */
interface Found {
  readonly row: number
  readonly bytes: number
  readonly total: number
}

const nothing: Page<number> = { items: [], total: 0, more: false, next: null }

const list = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ownerId: string, selection: Selection) {
  const owner = yield* knownOwner(sql, ownerId)
  if (owner === undefined) return nothing
  const chosen = choose(sql, owner, selection, yield* Clock.currentTimeMillis)
  return yield* pageOf(selection, Infinity, (part) => newest(sql, chosen, part, titleSize(sql)))
})

const read = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  ownerId: string,
  selection: Selection,
  text: string | undefined
): Effect.fn.Return<Page<number>, SqlError> {
  const owner = yield* knownOwner(sql, ownerId)
  if (owner === undefined) return nothing
  const chosen = choose(sql, owner, selection, yield* Clock.currentTimeMillis)
  const { where } = chosen
  const sought = text === undefined ? "" : Words.oneLine(text)
  if (sought === "") return yield* pageOf(selection, Infinity, (part) => newest(sql, chosen, part, size(sql)))
  const terms = Words.query(sought)
  for (const expression of [matchOf(terms.all, " AND "), matchOf(terms.some, " OR ")]) {
    if (expression === "") continue
    const page = yield* pageOf(selection, mostRanked, (part) => ranked(sql, { owner, where, expression }, part))
    if (page.total > 0) return page
  }
  return yield* pageOf(selection, Infinity, (part) => containing(sql, where, sought, part))
})

/** Which notes of an owner are meant: as a condition, and how many they are. */
interface Chosen {
  readonly where: Statement.Fragment
  readonly all: Effect.Effect<number, SqlError>
}

const choose = (sql: SqlClient.SqlClient, owner: number, selection: Selection, now: number): Chosen => {
  const narrower = [
    ...(selection.category === undefined ? [] : [sql`category = ${selection.category}`]),
    ...(selection.source === undefined ? [] : [sql`source = ${selection.source}`]),
    ...(selection.updatedAfter === undefined ? [] : [sql`updated_at >= ${selection.updatedAfter}`]),
    ...(selection.updatedBefore === undefined ? [] : [sql`updated_at <= ${selection.updatedBefore}`])
  ]
  const where = sql.and([sql`owner = ${owner}`, alive(sql, now), ...narrower])
  const counted = sql<{ readonly total: number }>`SELECT COUNT(*) AS total FROM notes WHERE ${where}`
  const all = narrower.length === 0 ? count(sql, owner, now) : Effect.map(counted, ([row]) => row?.total ?? 0)
  return { where, all }
}

/** In FTS5's language. The words hold nothing but letters, marks and digits, so that none of it is read as an operator. */
const matchOf = (terms: ReadonlyArray<Words.Term>, operator: string): string =>
  terms.map(({ prefix, words }) => `"${words.join(" ")}"${prefix ? " *" : ""}`).join(operator)

interface Part {
  readonly limit: number
  readonly offset: number
}

const size = (sql: SqlClient.SqlClient) =>
  sql.literal("octet_length(title) + octet_length(data) + octet_length(metadata) + COALESCE(octet_length(source), 0)")

const titleSize = (sql: SqlClient.SqlClient) =>
  sql.literal("octet_length(title) + octet_length(category) + COALESCE(octet_length(source), 0)")

const newest = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { all, where }: Chosen,
  part: Part,
  bytes: Statement.Fragment
) {
  const found = yield* sql<{ readonly row: number; readonly bytes: number }>`
    SELECT row, ${bytes} AS bytes FROM notes WHERE ${where}
    ORDER BY updated_at DESC, row DESC LIMIT ${part.limit} OFFSET ${part.offset}`
  return { total: yield* all, found }
})

/** The latest notes with the words, best first. The index is read backwards, and only where the owner's notes are. */
const ranked = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { expression, owner, where }: { owner: number; where: Statement.Fragment; expression: string },
  part: Part
) {
  const { first, last } = NoteRows.rangeOf(owner)
  const weights = sql.literal(`bm25(note_words, ${titleWeight}, 1)`)
  const found = yield* sql<Found>`
    WITH latest AS MATERIALIZED (
      SELECT notes.row, notes.updated_at, ${weights} AS score FROM note_words CROSS JOIN notes ON notes.row = note_words.rowid
      WHERE note_words MATCH ${expression} AND note_words.rowid BETWEEN ${first} AND ${last} AND ${where}
      ORDER BY note_words.rowid DESC LIMIT ${mostRanked}
    ), best AS MATERIALIZED (
      SELECT row, COUNT(*) OVER () AS total, score, updated_at FROM latest
      ORDER BY score, updated_at DESC, row DESC LIMIT ${part.limit} OFFSET ${part.offset}
    )
    SELECT best.row, best.total, ${size(sql)} AS bytes FROM best CROSS JOIN notes ON notes.row = best.row
    ORDER BY best.score, best.updated_at DESC, best.row DESC`
  return { total: found[0]?.total ?? 0, found }
})

/** The latest notes that hold the text as it is; the case of ASCII letters does not matter. */
const containing = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  where: Statement.Fragment,
  text: string,
  part: Part
) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  const found = yield* sql<Found>`
    SELECT row, COUNT(*) OVER () AS total, ${size(sql)} AS bytes FROM (
      SELECT * FROM notes WHERE ${where} ORDER BY updated_at DESC, row DESC LIMIT ${mostScanned}
    ) WHERE title LIKE ${pattern} ESCAPE '\\' OR data LIKE ${pattern} ESCAPE '\\'
    ORDER BY updated_at DESC, row DESC LIMIT ${part.limit} OFFSET ${part.offset}`
  return { total: found[0]?.total ?? 0, found }
})

// ---------------------------------------------------------------------------------------------------------------------
// A page of them

const pageOf = Effect.fnUntraced(function* (
  { limit, offset }: Selection,
  most: number,
  query: (
    part: Part
  ) => Effect.Effect<{ readonly total: number; readonly found: ReadonlyArray<Omit<Found, "total">> }, SqlError>
): Effect.fn.Return<Page<number>, SqlError> {
  const { found, total } = yield* query({ limit, offset })
  // Past the end there is no row that could say how many there are.
  const all = found.length === 0 && offset > 0 ? (yield* query({ limit: 1, offset: 0 })).total : total
  const items = fitting(found)
  const end = offset + items.length
  return { items, total: all, more: all >= most, next: items.length > 0 && end < all ? end : null }
})

/** As many as make a page, and at least one. */
const fitting = (found: ReadonlyArray<Omit<Found, "total">>): ReadonlyArray<number> => {
  let bytes = 0
  const tooMany = found.findIndex((note, index) => {
    bytes += note.bytes
    return index > 0 && bytes > pageBytes
  })
  return (tooMany === -1 ? found : found.slice(0, tooMany)).map(({ row }) => row)
}

/** The notes of these rows, in this order. */
const wholes = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ownerId: string, rows: ReadonlyArray<number>) {
  if (rows.length === 0) return []
  const found = yield* sql<NoteRows.Row>`SELECT * FROM notes WHERE row IN ${sql.in(rows)}`
  return yield* Effect.forEach(
    found.toSorted((one, other) => rows.indexOf(one.row) - rows.indexOf(other.row)),
    (row): Effect.Effect<Note.Note> => NoteRows.decode(ownerId, row)
  )
})

const titles = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, rows: ReadonlyArray<number>) {
  if (rows.length === 0) return []
  const found = yield* sql<Omit<Title, "id"> & { readonly id: string; readonly row: number }>`
    SELECT row, id, title, category, source, updated_at AS "updatedAt" FROM notes WHERE row IN ${sql.in(rows)}`
  return found
    .toSorted((one, other) => rows.indexOf(one.row) - rows.indexOf(other.row))
    .map(({ category, id, source, title, updatedAt }): Title => ({
      id: Ids.NoteId.make(id),
      title,
      category,
      source,
      updatedAt
    }))
})
