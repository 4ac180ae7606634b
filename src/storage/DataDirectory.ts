/**
 * The directory that holds everything this installation keeps: the database, spilled results, the access token, the endpoint.
 */
import * as Context from "effect/Context"

/** The folder of managed files, in a data directory as in a backup of it. */
export const filesFolder = "files"

/** The file that the lock on a data directory is on. */
export const lockName = "lock.db"

/** Where the files are. `file("troupe.db")` is a path inside `path`; the file need not exist. */
export class DataDirectory extends Context.Service<
  DataDirectory,
  {
    readonly path: string
    readonly file: (name: string) => string
  }
>()("troupe/storage/DataDirectory") {}
