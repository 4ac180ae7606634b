/**
 * The edge to `node:fs` for the one thing that SQLite does not do beside the event loop: flushing its write-ahead log.
 *
 * SQLite holds the log open, by the same name, for as long as the connection lives and never makes a new file of it meanwhile:
 * a log that starts over or is cut is the same file. So it is opened once. Its locks are on other files, so closing this
 * descriptor lets go of none.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as fs from "node:fs"
import * as NodeSqlite from "./NodeSqlite.ts"

export interface LogFile {
  /** Flushes in Node's thread pool what was written up to now, and says then whether it is on the disk. One at a time. */
  readonly flush: (done: (failure: SqlError | undefined) => void) => void
}

/**
 * Stands before each flush of the logs that are opened under it. It is here for tests, which must hold a flush back, or have it
 * fail: it goes on with `flush`, or says itself how it ended.
 */
export const Flushes = Context.Reference<((flush: LogFile["flush"]) => LogFile["flush"]) | undefined>(
  "troupe/storage/Flushes",
  { defaultValue: () => undefined }
)

/** Opens the log of the database at `filename`, which must be in use. */
export const open = (filename: string): Effect.Effect<LogFile, SqlError, Scope.Scope> =>
  Effect.flatMap(Flushes, (around) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.callback<number, SqlError>((resume) => {
          fs.open(`${filename}-wal`, "r+", (error, descriptor) =>
            resume(error === null ? Effect.succeed(descriptor) : Effect.fail(NodeSqlite.unflushed(error)))
          )
        }),
        (descriptor) => Effect.callback<void>((resume) => fs.close(descriptor, () => resume(Effect.void)))
      ),
      (descriptor) => {
        const flush: LogFile["flush"] = (done) =>
          fs.fdatasync(descriptor, (error) => done(error === null ? undefined : NodeSqlite.unflushed(error)))
        return { flush: around === undefined ? flush : around(flush) }
      }
    )
  )
