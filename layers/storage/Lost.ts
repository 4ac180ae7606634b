/**
 * A database that was here and is not any more. SQLite makes a new one where there is none, without a word, and that would hide
 * the loss: so a mark beside the file says that there was one, and without the file it keeps the daemon from starting.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { DatabaseUnusable } from "../../src/storage/StorageError.ts"
import * as FileSize from "./FileSize.ts"

/** Its being there says that the database was in use. */
const markOf = (path: string): string => `${path}.used`

/** Where a copy is saved of a database whose file went away. The names sort by their stamps. */
export const savedAs = (path: string, stamp: string): string => `${path}.saved-${stamp}`

/** Where that copy is while it is made: a process that ends meanwhile leaves half of one, which is none. */
export const savingAs = (path: string): string => `${path}.saving`

/** Notes that there is a database at this path from now on. */
export const mark = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const text = "There is a database in this directory: without troupe.db, or with an empty one, it is lost.\n"
  yield* Effect.ignore(files.writeFileString(markOf(path), text, { mode: 0o600 }))
})

/** Fails where a new database would take the place of one that was there, and says what can be done about it. */
export const refuse = Effect.fnUntraced(function* (directory: DataDirectory["Service"], name: string) {
  const path = directory.file(name)
  const own = yield* FileSize.of(path)
  if (own !== undefined && own > 0) return
  const words = own === undefined ? "it is not there" : "it is empty"
  const log = `${path}-wal`
  const hasLog = ((yield* FileSize.of(log)) ?? 0) > 0
  if (!hasLog && (yield* FileSize.of(markOf(path))) === undefined) return
  const detail = hasLog ? `${words}, but its log ${log} is` : `${words}, and there was a database here before`
  // Over another database than its own, a log would be played all the same.
  const aside = hasLog ? `mv ${quoted(log)} ${quoted(`${log}.old`)} && ` : ""
  const saved = yield* newestSaved(directory, name)
  const goOn =
    saved === undefined
      ? "Put the file back, or restore a backup with `troupe restore`"
      : `To go on with what a daemon saved of it: ${aside}mv ${quoted(saved)} ${quoted(path)}`
  const remedy = `${goOn}. To begin anew: ${aside}rm -f ${quoted(markOf(path))}`
  return yield* new DatabaseUnusable({ path, reason: "emptied", detail, remedy })
})

const newestSaved = Effect.fnUntraced(function* (directory: DataDirectory["Service"], name: string) {
  const files = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(files.readDirectory(directory.path), () => [])
  const saved = names.filter((one) => one.startsWith(savedAs(name, "")) && !/-(wal|shm|journal)$/.test(one)).toSorted()
  const newest = saved.at(-1)
  return newest === undefined ? undefined : directory.file(newest)
})

/** As a shell reads it: one word, whatever is in it. */
const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`
