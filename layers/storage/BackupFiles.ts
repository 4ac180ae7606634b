/** How backups and restores work with files. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import { BackupFailed } from "../../src/storage/Backup.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"

/** Fails of the file system as failures of the backup. */
export const failure =
  (path: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.mapError(effect, (error) => new BackupFailed({ path, reason: reasonOf(error) }))

const reasonOf = (error: PlatformError.PlatformError): string =>
  error.reason._tag === "Unknown" ? `${FileTrouble.why(error)} (${error.message})` : error.message

/** Makes sure that what was written survives a power cut. */
export const flush = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.scoped(Effect.flatMap(files.open(path, { flag: "r" }), (file) => file.sync))
})
