/**
 * Backups: a directory with one snapshot of the database, the files that belong to it, and a manifest that says what must be
 * in it. The access token, the log and the settings are not part of it.
 */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"

/** The name of the manifest in a backup. */
export const manifestName = "manifest.json"

/** The name of the snapshot in a backup. */
export const snapshotName = "troupe.db"

/** A file of a backup; `path` is relative to it, with slashes. */
export const BackupFile = Schema.Struct({ path: Schema.String, bytes: Schema.Int, sha256: Schema.String })
export type BackupFile = typeof BackupFile.Type

/** How many rows each table has. */
export const TableCounts = Schema.Record(Schema.String, Schema.Int)
export type TableCounts = typeof TableCounts.Type

export const Manifest = Schema.Struct({
  format: Schema.Literal(1),
  /** Version of the program that made it. */
  version: Schema.String,
  /** When the snapshot was made, unix ms. */
  createdAt: Schema.Int,
  /** Null for a database from before there were installations. */
  installation: Schema.NullOr(Ids.InstallationId),
  /** The process that ran then, or the last one before. */
  incarnation: Schema.NullOr(Ids.IncarnationId),
  schemaVersion: Schema.Int,
  tables: TableCounts,
  files: Schema.Array(BackupFile)
})
export type Manifest = typeof Manifest.Type

/** A backup, or the place for one, cannot be read or written. `reason` is a sentence without the path. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}.`
  }
}

/** What was looked at is damaged, or not what its manifest says. Nothing was changed. */
export class BackupDamaged extends Schema.TaggedError<BackupDamaged>()("BackupDamaged", {
  path: Schema.String,
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.path} is damaged:\n${this.problems.map((problem) => `  ${problem}`).join("\n")}\nNothing was changed.`
  }
}

/** What a look at a database has shown. `problems` is empty when it is sound. */
export interface Checked {
  readonly schemaVersion: number
  readonly tables: TableCounts
  readonly problems: ReadonlyArray<string>
}

/** What a restore did, or would do. */
export interface RestoreReport {
  readonly manifest: Manifest
  /** What the new installation holds back. */
  readonly held: { readonly threads: number; readonly replies: number }
  /** Where the database that was there before is now; null when there was none, or nothing was done. */
  readonly replaced: string | null
}
