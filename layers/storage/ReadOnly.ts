/** How a database is read where nothing may be written: SQLite wants to write beside one that has a write-ahead log. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { SqlError } from "effect/sql/SqlError"
import { pathToFileURL } from "node:url"
import { DatabaseUnusable } from "../../src/storage/StorageError.ts"
import * as Database from "./Database.ts"
import * as FileSize from "./FileSize.ts"
import * as NodeSqlite from "./NodeSqlite.ts"

/**
 * What to open for reading the database at this path: the path, or, where nothing can be written beside it and nobody uses it,
 * its address as a file that does not change. One that cannot be opened is told apart from one that is damaged, which opens or says so later.
 */
export const nameOf = Effect.fn("ReadOnly.nameOf")(function* (
  path: string
): Effect.fn.Return<string, DatabaseUnusable, FileSystem.FileSystem> {
  const plain = yield* tried(path)
  if (plain === undefined || damage.has(NodeSqlite.primaryCode(plain) ?? 0)) return path
  const unusable = Database.toUnusable(path, plain)
  if (NodeSqlite.primaryCode(plain) !== cannotOpen || (yield* FileSize.of(`${path}-shm`)) !== undefined)
    return yield* unusable
  const unchanging = `${pathToFileURL(path).href}?immutable=1`
  if ((yield* tried(unchanging)) !== undefined) return yield* unusable
  if (((yield* FileSize.of(`${path}-wal`)) ?? 0) === 0) return unchanging
  // Without its log it would be an older state, or half of one.
  const detail = `its log ${path}-wal cannot be read where nothing can be written beside it`
  const remedy = "Copy the data directory to a place that can be written, and give that one with --data-dir."
  return yield* new DatabaseUnusable({ path, reason: "no-access", detail, remedy })
})

const tried = (filename: string): Effect.Effect<SqlError | undefined> =>
  Effect.scoped(
    Effect.flatMap(NodeSqlite.open({ filename, readonly: true, statementCacheSize: 1 }), ({ query }) =>
      query("PRAGMA schema_version", [], { shape: "values", safeIntegers: false, cache: false })
    )
  ).pipe(Effect.match({ onSuccess: () => undefined, onFailure: (error) => error }))

// SQLite's primary result codes, https://sqlite.org/rescode.html
const cannotOpen = 14
const damage: ReadonlySet<number> = new Set([10, 11, 26])
