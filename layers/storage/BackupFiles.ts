/** How backups and restores work with files. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import { BackupFailed } from "../../src/storage/Backup.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import * as Unusable from "./Unusable.ts"

/** Fails of the file system as failures of the backup. */
export const failure =
  (path: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.mapError(effect, (error) => failedAs(path, error))

/** The same for the data directory: there, a disk that takes nothing is a trouble of the store. */
export const inDirectory =
  (path: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.mapError(effect, (error) =>
      FileTrouble.ofDisk(error) === undefined ? failedAs(path, error) : Unusable.directory(path)(error)
    )

/** A failure of the file system as one of the backup. Names the file as well, where it is another one. */
export const failedAs = (path: string, error: PlatformError.PlatformError): BackupFailed => {
  const at = error.reason._tag === "BadArgument" ? path : String(error.reason.pathOrDescriptor ?? path)
  const why = FileTrouble.why(error)
  return new BackupFailed({ path, reason: at === path ? why : `${why} (${at})` })
}

/** Makes sure that what was written survives a power cut. */
export const flush = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.scoped(Effect.flatMap(files.open(path, { flag: "r" }), (file) => file.sync))
})
