/**
 * Notes, the index of their words, and what stays of those that are gone. An owner's notes have row numbers of their own range,
 * so that a search in the index reads nobody else's.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  yield* sql`CREATE TABLE note_owners (
    number ${int} NOT NULL PRIMARY KEY CHECK (number BETWEEN 1 AND 2000000),
    owner TEXT NOT NULL UNIQUE,
    next ${int} NOT NULL DEFAULT 1 CHECK (next BETWEEN 1 AND 4294967295)
  ) ${strict}`

  yield* sql`CREATE TABLE notes (
    row ${int} NOT NULL PRIMARY KEY,
    owner ${int} NOT NULL REFERENCES note_owners (number),
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    data TEXT NOT NULL,
    category TEXT NOT NULL,
    metadata TEXT NOT NULL,
    source TEXT,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL CHECK (updated_at >= created_at),
    expires_at ${int},
    created_call TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    UNIQUE (owner, title_key)
  ) ${strict}`
  yield* sql`CREATE INDEX notes_changed ON notes (owner, updated_at, row, expires_at, category, source)`
  yield* sql`CREATE INDEX notes_expiring ON notes (expires_at) WHERE expires_at IS NOT NULL`

  yield* sql`CREATE TABLE note_tombstones (
    id TEXT NOT NULL PRIMARY KEY,
    owner ${int} NOT NULL REFERENCES note_owners (number),
    created_at ${int} NOT NULL,
    deleted_at ${int} NOT NULL,
    deleted_call TEXT,
    deleted_by TEXT,
    CHECK ((deleted_call IS NULL) = (deleted_by IS NULL))
  ) ${strict}`
  yield* sql`CREATE INDEX note_tombstones_deleted ON note_tombstones (deleted_at)`

  yield* sql.onDialectOrElse({ sqlite: () => index(sql), orElse: () => Effect.void })
})

/**
 * The words come in as `src/memory/Words.ts` splits them: all that is left to do is to split at spaces, which the tokenizer `ascii`
 * does whatever release of Unicode SQLite knows. Without `secure-delete` a word stays in the index until its segment is merged.
 */
const index = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`CREATE VIRTUAL TABLE note_words USING fts5(title, data, tokenize = 'ascii', prefix = '2 3')`
  yield* sql`INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1)`
})
