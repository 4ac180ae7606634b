/** What turns changed outside of their threads, with the contents of files as they were before, so that it can be undone. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })
  const binary = sql.onDialectOrElse({ sqlite: () => sql.literal("BLOB"), orElse: () => sql.literal("BYTEA") })
  const serial = sql.onDialectOrElse({
    sqlite: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT"),
    orElse: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
  })

  // `what` is the JSON of the side effect without what the other columns say.
  yield* sql`CREATE TABLE side_effects (
    ord ${serial},
    thread_id TEXT NOT NULL REFERENCES threads (id),
    turn_id TEXT NOT NULL REFERENCES turns (id),
    call_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('FilesChanged', 'CallMade')),
    what TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'made', 'failed', 'undone')),
    began_at ${int} NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX side_effects_turn ON side_effects (turn_id, ord)`
  yield* sql`CREATE INDEX side_effects_undoable ON side_effects (thread_id, ord) WHERE kind = 'FilesChanged' AND state <> 'undone'`
  yield* sql`CREATE INDEX side_effects_age ON side_effects (began_at)`

  yield* sql`CREATE TABLE kept_contents (
    sha256 TEXT NOT NULL PRIMARY KEY,
    bytes ${int} NOT NULL,
    used_at ${int} NOT NULL,
    content ${binary} NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX kept_contents_used ON kept_contents (used_at, sha256, bytes)`
})
