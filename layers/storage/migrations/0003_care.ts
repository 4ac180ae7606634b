/**
 * Restored copies: which installation this database belongs to, and what of a snapshot is held back until a person has said
 * whether it is still owed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../../../src/Ids.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  // The newest row is this installation; the ones before it are those that it was restored from.
  yield* sql`CREATE TABLE installations (
    id TEXT NOT NULL PRIMARY KEY,
    created_at ${int} NOT NULL,
    restored_from TEXT REFERENCES installations (id),
    snapshot_at ${int},
    snapshot_incarnation TEXT,
    released_at ${int},
    CHECK ((restored_from IS NULL) = (snapshot_at IS NULL))
  ) ${strict}`
  yield* sql`INSERT INTO installations ${sql.insert({
    id: yield* Ids.makeInstallationId,
    created_at: yield* Clock.currentTimeMillis
  })}`

  yield* sql`ALTER TABLE threads ADD COLUMN held ${int} NOT NULL DEFAULT 0 CHECK (held IN (0, 1))`
  yield* sql`CREATE INDEX threads_held ON threads (id) WHERE held = 1`
  yield* sql`ALTER TABLE outbox ADD COLUMN held ${int} NOT NULL DEFAULT 0 CHECK (held IN (0, 1))`
  yield* sql`CREATE INDEX outbox_held ON outbox (ord) WHERE held = 1`

  // Removing an incarnation looks for the rows that name it.
  yield* sql`CREATE INDEX outbox_sender ON outbox (sender) WHERE sender IS NOT NULL`
})
