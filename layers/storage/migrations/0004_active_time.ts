/** How long a turn has worked, over all lives of the process, so that its time limit holds across restarts. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  yield* sql`ALTER TABLE turns ADD COLUMN active_millis ${int} NOT NULL DEFAULT 0 CHECK (active_millis >= 0)`
})
