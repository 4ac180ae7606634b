/**
 * What can go wrong with the store: before it is open (the data directory, the database file, its schema), and later, when the
 * disk no longer takes what is written. Other failures of single statements are Effect's `SqlError`.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"

/** Another daemon holds the data directory. `pid` and `since` (unix ms) are absent when it has not written them yet. */
export class DataDirectoryInUse extends Schema.TaggedError<DataDirectoryInUse>()("DataDirectoryInUse", {
  path: Schema.String,
  pid: Schema.UndefinedOr(Schema.Int),
  since: Schema.UndefinedOr(Schema.Int)
}) {
  override get message(): string {
    const holder = this.pid === undefined ? "another process" : `process ${this.pid}`
    const since = this.since === undefined ? "" : ` (since ${isoTime(this.since)})`
    return (
      `The data directory ${this.path} is in use by ${holder}${since}. ` +
      "Stop that daemon, or give this one another directory with [storage].data_dir or TROUPE_DATA_DIR."
    )
  }
}

/** The data directory cannot be found, created or written. `reason` is a sentence without the path. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  path: Schema.String,
  reason: Schema.String,
  /** What to do, if that is not to choose another directory. */
  remedy: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return (
      `The data directory ${this.path} cannot be used: ${this.reason}. ` +
      (this.remedy ?? "Set [storage].data_dir or TROUPE_DATA_DIR to a directory this user can write.")
    )
  }
}

/** What can be wrong with a disk, whoever writes to it. */
export type DiskTrouble = "full" | "read-only" | "io"

/** The disk of the data directory does not take what is to be written into it. `words` say so, if more of it is known. */
export const diskUnusable = (
  path: string,
  trouble: DiskTrouble,
  words = ofDisk[trouble].reason
): DataDirectoryUnusable => new DataDirectoryUnusable({ path, reason: words, remedy: ofDisk[trouble].remedy })

/** In words for a person. */
export const describeDisk = (trouble: DiskTrouble): string => ofDisk[trouble].reason

const ofDisk: Record<DiskTrouble, { readonly reason: string; readonly remedy: string }> = {
  full: { reason: "the disk is full", remedy: "Free some space on it." },
  "read-only": {
    reason: "the file system is read-only",
    remedy: "Make it writable, or set [storage].data_dir or TROUPE_DATA_DIR to a directory this user can write."
  },
  io: { reason: "the disk reports errors", remedy: "Look into the system's log." }
}

/** The database file cannot be opened, or holds something else than a database. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  path: Schema.String,
  reason: Schema.Literals([
    "not-a-database",
    "corrupted",
    "not-a-file",
    "emptied",
    "read-only",
    "no-access",
    "busy",
    "other"
  ]),
  detail: Schema.String,
  /** What to do, if more can be said of it than the reason alone tells. */
  remedy: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `The database file ${this.path} cannot be opened: ${this.detail}. ${this.remedy ?? remedies[this.reason]}`
  }
}

/** The database was written by a newer release: `found` is its schema version, `supported` the newest this release knows. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  path: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  override get message(): string {
    return (
      `The database ${this.path} has schema version ${this.found}, and this release knows up to ${this.supported}. ` +
      "Nothing was changed. Install the newer release again, or restore a backup made before the upgrade."
    )
  }
}

/** A migration failed. The database is as it was before. `migration` is its number and name, or absent before the first. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  path: Schema.String,
  migration: Schema.UndefinedOr(Schema.String),
  detail: Schema.String
}) {
  override get message(): string {
    const which = this.migration === undefined ? "The migrations" : `The migration ${this.migration}`
    return `${which} of the database ${this.path} failed: ${this.detail}. The database is as it was before.`
  }
}

/** Why the store cannot do its work for now. */
export const StorageTrouble = Schema.Literals(["full", "read-only", "io", "busy", "moved", "unflushed"])
export type StorageTrouble = typeof StorageTrouble.Type

/**
 * The store cannot do its work for now: the disk is full (`full`), may not be written (`read-only`) or fails (`io`), the
 * database file is not where it was opened (`moved`), or another process held the database for longer than `[storage].busy_timeout_seconds` (`busy`). Nothing of the operation was
 * kept, and it can be tried again. Or what was written could not be flushed to the disk (`unflushed`): whether the operation was kept is
 * then not known, and the store does nothing more until it is opened again. A typed error of accepting messages; elsewhere a defect, which actors and services wait out.
 */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  reason: StorageTrouble
}) {
  override get message(): string {
    const outcome =
      this.reason === "unflushed" ? "Whether this was written is not known." : "Nothing was written; try again."
    return `The store cannot be used now: ${explain(this.reason)} ${outcome}`
  }
}

/** What the trouble is and what to do, in words for a person. */
export const explain = (reason: StorageTrouble): string => troubles[reason]

export const isStorageUnavailable = Schema.is(StorageUnavailable)

/** The trouble with the store that a failure comes from, if it comes from one. */
export const unavailableIn = (cause: Cause.Cause<unknown>): StorageUnavailable | undefined => {
  for (const reason of cause.reasons) {
    const found = reason._tag === "Die" ? reason.defect : reason._tag === "Fail" ? reason.error : undefined
    if (isStorageUnavailable(found)) return found
  }
  return undefined
}

const troubles: Record<StorageTrouble, string> = {
  full: "the disk is full. Free some space on the disk of the data directory.",
  "read-only": "the disk may not be written. Make the data directory writable for this user.",
  io: "the disk reports errors. Look into the system's log, and take a backup if you can.",
  busy: "another process holds the database. End that one if it goes on.",
  moved:
    "its file, or the lock beside it, was deleted, moved or replaced under the daemon. Stop the daemon, put back the file, or the copy that its log names, and start it again.",
  unflushed:
    "the disk did not take what was written to it. Look into the system's log, and start the daemon again when the disk is sound."
}

const remedies: Record<DatabaseUnusable["reason"], string> = {
  "not-a-database": "Move the file away (a new one is then made) or restore a backup.",
  corrupted: "Keep a copy of it for recovery, and restore a backup.",
  "not-a-file": "Move what is at this path away.",
  emptied: "Put the file back or restore a backup.",
  "read-only": "Make the file and its directory writable for this user.",
  "no-access": "Make the file readable and writable for this user.",
  busy: "Another process holds it; end that one or try again.",
  other: "Check the disk and the file's permissions."
}

const isoTime = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
