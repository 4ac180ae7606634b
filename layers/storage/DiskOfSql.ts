/** What is wrong with the disk, where that is why SQLite failed. Beside `Unusable`, which clients load too. */
import type { SqlError } from "effect/sql/SqlError"
import type { DiskTrouble } from "../../src/storage/StorageError.ts"
import * as NodeSqlite from "./NodeSqlite.ts"

export const diskOf = (error: SqlError): DiskTrouble | undefined => diskTroubles[NodeSqlite.primaryCode(error) ?? 0]

// SQLite's primary result codes, https://sqlite.org/rescode.html
const diskTroubles: Readonly<Record<number, DiskTrouble>> = { 8: "read-only", 10: "io", 13: "full" }
