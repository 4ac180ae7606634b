/**
 * Whose database this is. An installation begins with an empty database, or as a copy that was restored from a backup of
 * another one; in its life processes come and go, one incarnation each.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Held from "../../src/conversation/Held.ts"
import * as Ids from "../../src/Ids.ts"

/** The condition on `installations` that only the row in force meets: it is the one that no other was restored from. */
const inForce = (sql: SqlClient.SqlClient) =>
  sql.literal("id NOT IN (SELECT restored_from FROM installations WHERE restored_from IS NOT NULL)")

/** The installation in force. */
const current = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: Ids.InstallationId }>`SELECT id FROM installations WHERE ${inForce(sql)}`
  return row?.id ?? null
})

/** The process that was registered last, and when it ended (unix ms): null while it runs, or when it was killed. */
export const lastIncarnation = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: Ids.IncarnationId; readonly endedAt: number | null }>`
    SELECT id, ended_at AS "endedAt" FROM incarnations ORDER BY id DESC LIMIT 1`
  return row
})

/** What a copy of this database is told apart by. `tables` are those it has: installations are younger than the first schema. */
export const owner = Effect.fnUntraced(function* (tables: Readonly<Record<string, unknown>>) {
  return {
    installation: "installations" in tables ? yield* current : null,
    incarnation: (yield* lastIncarnation)?.id ?? null
  }
})

/** Makes the database that of an installation of its own, restored from what it was a backup of. */
export const beginAsCopy = Effect.fnUntraced(function* (snapshot: {
  readonly createdAt: number
  readonly incarnation: Ids.IncarnationId | null
}) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO installations ${sql.insert({
    id: yield* Ids.makeInstallationId,
    created_at: yield* Clock.currentTimeMillis,
    restored_from: yield* current,
    snapshot_at: snapshot.createdAt,
    snapshot_incarnation: snapshot.incarnation
  })}`
})

/** Where this installation comes from; null when it is no restored copy. */
export const restored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Held.Restored & { readonly from: Ids.InstallationId | null }>`
    SELECT id AS installation, restored_from AS "from", snapshot_incarnation AS incarnation,
      snapshot_at AS "snapshotAt", created_at AS "restoredAt"
    FROM installations WHERE ${inForce(sql)}`
  return row === undefined || row.from === null ? null : row
})

/** Notes that what a restored copy held back was decided about. */
export const noteReleased = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* sql`UPDATE installations SET released_at = ${now}
    WHERE ${inForce(sql)} AND restored_from IS NOT NULL AND released_at IS NULL`
})
