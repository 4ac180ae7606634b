/**
 * Registers this process in the database for as long as the scope lives. A row without an end belongs to a process that is
 * running, or that was killed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../../src/Ids.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as NodeProcess from "./NodeProcess.ts"

/** Inserts the row, and notes the end when the scope closes. Needs the migrated schema. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = yield* Ids.makeIncarnationId
  const startedAt = yield* Clock.currentTimeMillis
  const { hostname, pid } = yield* NodeProcess.self
  yield* Effect.acquireRelease(
    sql`INSERT INTO incarnations ${sql.insert({ id, started_at: startedAt, pid, hostname })}`,
    () => noteEnd(sql, id, startedAt)
  )
  return Incarnation.of({ id, startedAt })
})

// A clock that was set back must not keep the end from being noted, hence the later of the two.
const noteEnd = (sql: SqlClient.SqlClient, id: Ids.IncarnationId, startedAt: number): Effect.Effect<void> =>
  Clock.currentTimeMillis.pipe(
    Effect.flatMap((now) => sql`UPDATE incarnations SET ended_at = ${Math.max(now, startedAt)} WHERE id = ${id}`),
    Effect.tapError((error) => Effect.logWarning("The end of this process could not be noted in the database", error)),
    Effect.ignore
  )
