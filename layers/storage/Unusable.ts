/** Failures to work with the data directory, in words for a person: what the system says, and what can be done about it. */
import type * as PlatformError from "effect/PlatformError"
import type { SqlError } from "effect/sql/SqlError"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import type { DiskTrouble } from "../../src/storage/StorageError.ts"
import { DataDirectoryUnusable, diskUnusable } from "../../src/storage/StorageError.ts"
import * as NodeSqlite from "./NodeSqlite.ts"

/** Of the file system. `what` says what could not be done, where the reason alone does not tell. */
export const directory =
  (path: string, what?: string) =>
  (error: PlatformError.PlatformError): DataDirectoryUnusable => {
    const why = FileTrouble.why(error)
    const reason = what === undefined ? why : `${what} (${why})`
    const trouble = FileTrouble.ofDisk(error)
    return trouble === undefined ? new DataDirectoryUnusable({ path, reason }) : diskUnusable(path, trouble, reason)
  }

/** What is wrong with the disk, where that is why SQLite failed. */
export const diskOf = (error: SqlError): DiskTrouble | undefined => diskTroubles[NodeSqlite.primaryCode(error) ?? 0]

// SQLite's primary result codes, https://sqlite.org/rescode.html
const diskTroubles: Readonly<Record<number, DiskTrouble>> = { 8: "read-only", 10: "io", 13: "full" }
