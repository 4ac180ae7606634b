/** Writes after which what was deleted or replaced is not in the file any more, also not where nothing is. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/**
 * One transaction whose deleted, replaced and moved rows SQLite overwrites with zeros. It is not so for all writes, since large
 * contents that come to the end of their time would then be written once more.
 */
export const transaction = <A, E, R>(sql: SqlClient.SqlClient, writes: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    sql.onDialectOrElse({
      sqlite: (): Effect.Effect<A, E | SqlError, R> =>
        Effect.acquireUseRelease(
          // SQLite sets it while it prepares the statement: a prepared one that is kept would do nothing.
          sql.unsafe("PRAGMA secure_delete = ON").unprepared,
          () => writes,
          () => Effect.ignore(sql.unsafe("PRAGMA secure_delete = OFF").unprepared)
        ),
      orElse: () => writes
    })
  )

/**
 * Folds the write-ahead log, which holds rows as they were, into the file and empties it. Where another process reads it at that
 * moment, `storage/Care` does that later.
 */
export const emptyLog = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    sqlite: () => Effect.ignore(sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")),
    orElse: () => Effect.void
  })
