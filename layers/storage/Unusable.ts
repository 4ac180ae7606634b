/** Failures to work with the data directory, in words for a person: what the system says, and what can be done about it. */
import type * as PlatformError from "effect/PlatformError"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import { DataDirectoryUnusable, diskUnusable } from "../../src/storage/StorageError.ts"

/** Of the file system. `what` says what could not be done, where the reason alone does not tell. */
export const directory =
  (path: string, what?: string) =>
  (error: PlatformError.PlatformError): DataDirectoryUnusable => {
    const why = FileTrouble.why(error)
    const reason = what === undefined ? why : `${what} (${why})`
    const trouble = FileTrouble.ofDisk(error)
    return trouble === undefined ? new DataDirectoryUnusable({ path, reason }) : diskUnusable(path, trouble, reason)
  }
