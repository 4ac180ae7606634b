/** Files that came with messages, each content once. `used_at` is when a message last came with it. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })
  const binary = sql.onDialectOrElse({ sqlite: () => sql.literal("BLOB"), orElse: () => sql.literal("BYTEA") })

  yield* sql`CREATE TABLE attachments (
    sha256 TEXT NOT NULL PRIMARY KEY,
    bytes ${int} NOT NULL CHECK (bytes > 0),
    used_at ${int} NOT NULL,
    content ${binary} NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX attachments_used ON attachments (used_at, sha256, bytes)`
})
