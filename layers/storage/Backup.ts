/**
 * Makes backups.
 *
 * The snapshot is taken by whoever asks, in their own process, beside a daemon that runs: SQLite's backup gives the state of
 * one moment whatever is written meanwhile. Verifying reads every page and would stop a daemon's conversations for that long,
 * so a daemon makes none.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as FilePath from "../../src/file/FilePath.ts"
import * as Backup from "../../src/storage/Backup.ts"
import { filesFolder } from "../../src/storage/DataDirectory.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import type { DatabaseUnusable, SchemaTooNew } from "../../src/storage/StorageError.ts"
import { describeDisk } from "../../src/storage/StorageError.ts"
import { failedAs, failure, flush } from "./BackupFiles.ts"
import * as Check from "./Check.ts"
import * as Database from "./Database.ts"
import * as Directories from "./Directories.ts"
import * as Installation from "./Installation.ts"
import * as Leftovers from "./Leftovers.ts"
import * as NodeProcess from "./NodeProcess.ts"
import * as NodeSqlite from "./NodeSqlite.ts"
import * as PrivateFile from "./PrivateFile.ts"
import * as Sha256 from "./Sha256.ts"
import * as DiskOfSql from "./DiskOfSql.ts"
import * as Verify from "./Verify.ts"

export interface Options {
  readonly directory: DataDirectory["Service"]
  /** Where the backup is to be: a directory that is made. */
  readonly destination: string
  /** Replace a backup that is there already. Anything else is never replaced. */
  readonly force: boolean
  /** Version of this program, for the manifest. */
  readonly version: string
}

type Files = FileSystem.FileSystem | Path.Path

/** Makes a backup. All of it is there under its name, verified and on disk, or nothing is. */
export const make = Effect.fn("Backup.make")(function* (
  options: Options
): Effect.fn.Return<
  Backup.Manifest,
  Backup.BackupFailed | Backup.BackupDamaged | DatabaseUnusable | SchemaTooNew,
  Files
> {
  const files = yield* FileSystem.FileSystem
  const destination = yield* resolved(options.destination)
  const failed = failure(destination)
  yield* mustBeOutside(options.directory, destination)
  const replacing = yield* mayWrite(destination, options.force)
  const createdAt = yield* Clock.currentTimeMillis
  const { pid } = yield* NodeProcess.self
  const beside = Leftovers.partial(destination, pid, createdAt)
  yield* failed(Directories.make(beside))
  return yield* fill(options, beside, createdAt).pipe(
    Effect.tap(() =>
      Effect.mapError(
        putInPlace(beside, destination, replacing ? Leftovers.old(destination, createdAt) : undefined),
        (error) => (FileTrouble.isTaken(error) ? isThere(destination) : failedAs(destination, error))
      )
    ),
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.ignore(files.remove(beside, { recursive: true, force: true }))
    ),
    Effect.tap(() => Effect.ignore(Leftovers.sweepBackup(destination)))
  )
})

/** Where a path leads, links in it followed as far as it exists. */
const resolved = (path: string): Effect.Effect<string, never, Files> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const absolute = paths.resolve(path)
    const real = yield* Effect.option(files.realPath(absolute))
    if (real._tag === "Some") return real.value
    const parent = paths.dirname(absolute)
    return parent === absolute ? absolute : paths.join(yield* resolved(parent), paths.basename(absolute))
  })

/** A backup beside what it is a backup of is lost with it, and one among the managed files would hold itself. */
const mustBeOutside = Effect.fnUntraced(function* (directory: DataDirectory["Service"], destination: string) {
  const paths = yield* Path.Path
  const home = yield* resolved(directory.path)
  if (destination !== home && !destination.startsWith(`${home}${paths.sep}`)) return
  const reason = "it is inside the data directory, and would be lost with it; choose a place outside of it"
  return yield* new Backup.BackupFailed({ path: destination, reason })
})

/** The files of a folder that belong into a backup, as relative paths with slashes. */
const managedFiles = Effect.fnUntraced(function* (folder: string) {
  const paths = yield* Path.Path
  const belongs = (name: string) =>
    !FilePath.isUnfinished(paths.basename(name)) && !Leftovers.isStagedFile(paths.basename(name))
  const found = yield* Directories.filesBelow(folder)
  return found.flatMap(({ name }) => (belongs(name) ? [name.split(paths.sep).join("/")] : [])).toSorted()
})

const fill = Effect.fnUntraced(function* (options: Options, folder: string, createdAt: number) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const failed = failure(folder)
  const snapshot = paths.join(folder, Backup.snapshotName)
  const { checked, owner } = yield* takeSnapshot(options.directory, snapshot)
  if (checked.problems.length > 0) {
    return yield* new Backup.BackupDamaged({ path: options.directory.path, problems: checked.problems })
  }
  const names = [Backup.snapshotName, ...(yield* copyFiles(options.directory, folder))]
  const listed = yield* Effect.forEach(names, (name) => describe(folder, name))
  const manifest: Backup.Manifest = {
    format: 1,
    version: options.version,
    createdAt,
    ...owner,
    schemaVersion: checked.schemaVersion,
    tables: checked.tables,
    files: listed
  }
  const path = paths.join(folder, Backup.manifestName)
  const text = yield* Effect.orDie(Schema.encodeEffect(Verify.ManifestText)(manifest))
  yield* failed(files.writeFileString(path, `${text}\n`, { mode: 0o600 }))
  for (const name of [...names, Backup.manifestName]) yield* failed(flush(paths.join(folder, name)))
  yield* failed(flush(folder))
  return manifest
})

/** Copies one moment of the database, turns the copy into a file that needs no log beside it, and checks it. */
const takeSnapshot = Effect.fnUntraced(function* (directory: DataDirectory["Service"], to: string) {
  const from = directory.file(Database.fileName)
  const unreadable = (error: SqlError) => {
    // Only the copy is written.
    const disk = DiskOfSql.diskOf(error)
    return disk === undefined || disk === "io"
      ? new Backup.BackupFailed({ path: from, reason: error.message })
      : new Backup.BackupFailed({ path: to, reason: describeDisk(disk) })
  }
  const filename = yield* Verify.recognised(directory)
  const copy = Effect.flatMap(NodeSqlite.open({ filename, readonly: true, statementCacheSize: 1 }), (reader) =>
    reader.backup(to)
  )
  const settle = Effect.gen(function* () {
    const checked = yield* Check.full
    // A damaged one is not asked whose it is.
    const owner = checked.problems.length > 0 ? nobodys : yield* Installation.owner(checked.tables)
    return { checked, owner }
  })
  const withoutLog = Effect.flatMap(
    NodeSqlite.open({ filename: to, readonly: false, statementCacheSize: 1 }),
    ({ query }) => query("PRAGMA journal_mode = DELETE", [], { shape: "values", safeIntegers: false, cache: false })
  )
  return yield* PrivateFile.prepare(to).pipe(
    Effect.andThen(Effect.scoped(copy)),
    Effect.andThen(Effect.scoped(withoutLog)),
    Effect.andThen(Verify.opened(to, true, settle)),
    Effect.mapError(unreadable)
  )
})

const nobodys = { installation: null, incarnation: null }

const copyFiles = Effect.fnUntraced(function* (directory: DataDirectory["Service"], folder: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const failed = failure(folder)
  const root = directory.file(filesFolder)
  const copied: Array<string> = []
  for (const name of yield* failed(managedFiles(root))) {
    const to = paths.join(folder, filesFolder, name)
    yield* failed(Directories.make(paths.dirname(to)))
    const isThere = yield* files.copyFile(paths.join(root, name), to).pipe(
      Effect.as(true),
      // It came to the end of its time since the folder was read.
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false)),
      failed
    )
    if (!isThere) continue
    yield* failed(files.chmod(to, 0o600))
    copied.push(`${filesFolder}/${name}`)
  }
  return copied
})

const describe = Effect.fnUntraced(function* (folder: string, name: string) {
  const files = yield* FileSystem.FileSystem
  const path = (yield* Path.Path).join(folder, name)
  const { size } = yield* failure(folder)(files.stat(path))
  return { path: name, bytes: Number(size), sha256: yield* Sha256.ofFile(path) }
})

/** Also said when another backup has taken the name meanwhile. */
const isThere = (path: string) => {
  const reason = "it exists already; choose another name, or use --force to replace a backup"
  return new Backup.BackupFailed({ path, reason })
}

/** Whether something is replaced. Only a backup is, and only when that was asked for. */
const mayWrite = Effect.fnUntraced(function* (destination: string, force: boolean) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* failure(destination)(files.exists(destination)))) return false
  if (!force) return yield* isThere(destination)
  yield* Verify.readManifest(destination)
  return true
})

/**
 * No system call that Node has puts a directory in the place of another. Of the two renames, one that fails is taken back;
 * a process that is killed between them leaves both backups whole, the one before under the name `old`, which `verify` tells.
 */
const putInPlace = Effect.fnUntraced(function* (from: string, to: string, old: string | undefined) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  if (old !== undefined) yield* files.rename(to, old)
  yield* Effect.tapError(files.rename(from, to), () =>
    old === undefined ? Effect.void : Effect.ignore(files.rename(old, to))
  )
  yield* flush(paths.dirname(to))
  if (old !== undefined) yield* files.remove(old, { recursive: true, force: true })
}, Effect.uninterruptible)
