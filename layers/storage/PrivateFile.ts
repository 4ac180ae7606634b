/** Small files in the data directory that only their owner may read. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { DataDirectoryUnusable } from "../../src/storage/StorageError.ts"
import * as NodeProcess from "./NodeProcess.ts"

/** Written aside and renamed, so that a reader sees all of it or the one before, and never with a wider mode. */
export const write = Effect.fnUntraced(function* (
  path: string,
  text: string
): Effect.fn.Return<void, PlatformError.PlatformError, FileSystem.FileSystem> {
  const files = yield* FileSystem.FileSystem
  const { pid } = yield* NodeProcess.self
  const aside = `${path}.${pid}.new`
  // A file left over from a process of the same id would keep its own mode.
  yield* files.remove(aside, { force: true })
  yield* Effect.andThen(files.writeFileString(aside, text, { mode: 0o600 }), files.rename(aside, path)).pipe(
    Effect.onError(() => Effect.ignore(files.remove(aside, { force: true })))
  )
})

/**
 * Makes sure that a file which SQLite is to open is there and closed to others: SQLite would make it readable for all, and makes
 * the files beside it as open as it is. One that cannot be made shows when it is opened.
 *
 * It opens no file that is there: closing a second descriptor would drop the locks that this process has on it.
 */
export const prepare = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.ignore(files.writeFile(path, new Uint8Array(), { flag: "wx", mode: 0o600 }))
  for (const end of ["", "-wal", "-shm", "-journal"]) yield* close(`${path}${end}`)
})

/** Takes from everybody but the owner what they may do with a file. What cannot be changed, or is not there, stays as it is. */
export const close = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.option(files.stat(path))
  if (info._tag === "None" || info.value.type !== "File" || (info.value.mode & 0o077) === 0) return
  yield* Effect.ignore(files.chmod(path, info.value.mode & 0o700))
})

/** Fails where something that is no file has the name of one in the data directory: the system's own words are none for a person. */
export const refuseOtherKinds = Effect.fnUntraced(function* (directory: DataDirectory["Service"], name: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.option(files.stat(directory.file(name)))
  if (info._tag === "None" || info.value.type === "File") return
  return yield* new DataDirectoryUnusable({
    path: directory.path,
    reason: `${name} in it is a ${info.value.type.toLowerCase()} and not a file`,
    remedy: `Move ${name} away: a new one is made.`
  })
})
