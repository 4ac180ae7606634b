/** Notes as rows: the one border where a note becomes a row and its words, and a row becomes a note. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../../src/Ids.ts"
import * as Note from "../../src/memory/Note.ts"
import * as Words from "../../src/memory/Words.ts"
import * as Defects from "../storage/Defects.ts"
import * as Overwriting from "../storage/Overwriting.ts"

/** What a query for whole notes selects. */
export interface Row {
  readonly row: number
  readonly id: string
  readonly title: string
  readonly data: string
  readonly category: string
  readonly metadata: string
  readonly source: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly created_by: string
  readonly updated_by: string
}

/** The row numbers that an owner has, from `first` to `last`. */
export const rangeOf = (owner: number) => ({ first: owner * width, last: owner * width + width - 1 })

/** The row of an owner's note with this number. */
export const rowOf = (owner: number, number: number): number => owner * width + number

const width = 2 ** 32

const NoteRow = Schema.Struct({
  id: Ids.NoteId,
  title: Schema.String,
  data: Schema.String,
  category: Schema.String,
  metadata: Schema.fromJsonString(Note.Metadata),
  source: Schema.NullOr(Schema.String),
  created_at: Schema.Int,
  updated_at: Schema.Int,
  expires_at: Schema.NullOr(Schema.Int),
  created_by: Schema.fromJsonString(Note.Origin),
  updated_by: Schema.fromJsonString(Note.Origin)
})
const decodeRow = Schema.decodeUnknownEffect(NoteRow)
const decodeOrigin = Schema.decodeUnknownEffect(Schema.fromJsonString(Note.Origin))

/** Reads a row back. One that cannot be read is a defect that names its id. */
export const decode = (ownerId: string, row: Row): Effect.Effect<Note.Note> =>
  decodeRow(row).pipe(
    Effect.map((note) => ({
      id: note.id,
      ownerId,
      title: note.title,
      data: note.data,
      category: note.category,
      metadata: note.metadata,
      source: note.source,
      createdAt: note.created_at,
      updatedAt: note.updated_at,
      expiresAt: note.expires_at,
      createdBy: note.created_by,
      updatedBy: note.updated_by
    })),
    Effect.catch(() => Effect.die(new Defects.UnreadableRow({ table: "notes", key: row.id })))
  )

/** Reads who did something. */
export const decodeBy = (id: string, text: string): Effect.Effect<Note.Origin> =>
  Effect.catch(decodeOrigin(text), () => Effect.die(new Defects.UnreadableRow({ table: "note_tombstones", key: id })))

/** Writes a note that is not there, and its words. */
export const insert = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  at: { readonly row: number; readonly owner: number },
  note: Note.Note
) {
  yield* sql`INSERT INTO notes ${sql.insert({
    ...at,
    id: note.id,
    title: note.title,
    title_key: Words.titleKey(note.title),
    data: note.data,
    category: note.category,
    metadata: JSON.stringify(note.metadata),
    source: note.source,
    created_at: note.createdAt,
    updated_at: note.updatedAt,
    expires_at: note.expiresAt,
    created_call: note.createdBy.callId,
    created_by: JSON.stringify(note.createdBy),
    updated_by: JSON.stringify(note.updatedBy)
  })}`
  yield* sql`INSERT INTO note_words ${sql.insert({ rowid: at.row, title: indexed(note.title), data: indexed(note.data) })}`
})

/** Writes what of a note has become different. */
export const replace = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, row: number, note: Note.Note) {
  yield* sql`UPDATE notes SET ${sql.update({
    data: note.data,
    category: note.category,
    metadata: JSON.stringify(note.metadata),
    source: note.source,
    updated_at: note.updatedAt,
    expires_at: note.expiresAt,
    updated_by: JSON.stringify(note.updatedBy)
  })} WHERE row = ${row}`
  yield* sql`UPDATE note_words SET data = ${indexed(note.data)} WHERE rowid = ${row}`
})

/** What is left of a note: its row and its words are gone. `by` is null for one that has expired. */
export const bury = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  note: Pick<Row, "row" | "id" | "created_at">,
  owner: number,
  at: number,
  by: Note.Origin | null
) {
  yield* sql`INSERT INTO note_tombstones ${sql.insert({
    id: note.id,
    owner,
    created_at: note.created_at,
    deleted_at: at,
    deleted_call: by?.callId ?? null,
    deleted_by: by === null ? null : JSON.stringify(by)
  })}`
  yield* sql`DELETE FROM note_words WHERE rowid = ${note.row}`
  yield* sql`DELETE FROM notes WHERE row = ${note.row}`
})

/**
 * One transaction over notes and their words, after which nothing of what was there before is in the file. The index is written
 * out within it: by itself it would be with the commit, which is too late for that.
 */
export const transaction = <A, E, R>(sql: SqlClient.SqlClient, writes: Effect.Effect<A, E, R>) =>
  Overwriting.transaction(
    sql,
    Effect.tap(writes, () =>
      sql.onDialectOrElse({
        sqlite: () => Effect.asVoid(sql`INSERT INTO note_words (note_words) VALUES ('flush')`),
        orElse: () => Effect.void
      })
    )
  )

const indexed = (text: string): string => Words.words(text).join(" ")
