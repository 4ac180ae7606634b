/** Questions whether a call may run, with their answers, and the yeses that hold for more than one call. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  // `about` is the JSON of the question without what the other columns say. A change is made from one revision to the next.
  yield* sql`CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads (id),
    turn_id TEXT NOT NULL REFERENCES turns (id),
    call_id TEXT NOT NULL,
    effect TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'used', 'denied', 'expired', 'nobody-to-ask', 'cancelled')),
    revision ${int} NOT NULL,
    about TEXT NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX approvals_call ON approvals (call_id, id)`
  yield* sql`CREATE INDEX approvals_open ON approvals (thread_id, id) WHERE state IN ('waiting', 'approved')`

  // A grant lasts until it is taken back.
  yield* sql`CREATE TABLE approval_grants (
    id TEXT NOT NULL PRIMARY KEY,
    effect TEXT NOT NULL,
    turn_id TEXT,
    about TEXT NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX approval_grants_effect ON approval_grants (effect, id)`
  yield* sql`CREATE INDEX approval_grants_turn ON approval_grants (turn_id) WHERE turn_id IS NOT NULL`
})
