/**
 * Restores a backup into a data directory that no daemon holds.
 *
 * The new database is made ready beside the old one (brought to this release's schema, checked, marked as a copy) and takes its
 * place in one rename: at every moment the directory holds one whole database. The old one stays beside it under another name.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Backup from "../../src/storage/Backup.ts"
import { filesFolder } from "../../src/storage/DataDirectory.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { DataDirectoryUnusable, MigrationFailed, SchemaTooNew } from "../../src/storage/StorageError.ts"
import { diskUnusable } from "../../src/storage/StorageError.ts"
import { flush, inDirectory } from "./BackupFiles.ts"
import * as Check from "./Check.ts"
import * as Database from "./Database.ts"
import * as Installation from "./Installation.ts"
import * as Leftovers from "./Leftovers.ts"
import * as Migrations from "./Migrations.ts"
import * as Directories from "./Directories.ts"
import * as PrivateFile from "./PrivateFile.ts"
import * as Sha256 from "./Sha256.ts"
import * as DiskOfSql from "./DiskOfSql.ts"
import * as Verify from "./Verify.ts"

export interface Options {
  readonly source: string
  /** Held by this process: `DataDirectory.layerLocked`. */
  readonly directory: DataDirectory["Service"]
  /** Do everything up to the replacing, and then undo it. */
  readonly dryRun: boolean
}

export const run = Effect.fn("Restore.run")(function* (
  options: Options
): Effect.fn.Return<
  Backup.RestoreReport,
  Backup.BackupFailed | Backup.BackupDamaged | DataDirectoryUnusable | SchemaTooNew | MigrationFailed,
  FileSystem.FileSystem | Path.Path
> {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { directory, dryRun } = options
  const source = paths.resolve(options.source)
  const failed = inDirectory(directory.path)
  const manifest = yield* Verify.backup(source)
  const now = yield* Clock.currentTimeMillis
  yield* Effect.ignore(Leftovers.sweepRestore(directory))
  const staged = Leftovers.stagedDatabase(directory, now)
  const unstage = Effect.forEach(
    Leftovers.databaseEnds,
    (end) => Effect.ignore(files.remove(`${staged}${end}`, { force: true })),
    { discard: true }
  )
  return yield* Effect.gen(function* () {
    yield* failed(files.copyFile(paths.join(source, Backup.snapshotName), staged))
    yield* failed(files.chmod(staged, 0o600))
    const held = yield* makeReady(directory, staged, manifest)
    if (dryRun) return { manifest, held, replaced: null }
    yield* failed(flush(staged))
    yield* failed(restoreFiles(source, directory, manifest, now))
    return { manifest, held, replaced: yield* failed(replace(directory, staged, now)) }
  }).pipe(Effect.ensuring(unstage))
})

/** Brings the copy to this release's schema, marks it, and makes sure that it is sound. */
const makeReady = Effect.fnUntraced(function* (
  directory: DataDirectory["Service"],
  staged: string,
  manifest: Backup.Manifest
) {
  const work = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Migrations.run(staged)
    const held = yield* sql.withTransaction(mark(sql, manifest))
    return { held, ...(yield* Check.full) }
  })
  const { held, problems } = yield* Verify.opened(staged, false, work).pipe(
    Effect.catchTag("SqlError", (error) => {
      const disk = DiskOfSql.diskOf(error)
      return Effect.fail(
        disk === undefined
          ? new Backup.BackupFailed({ path: staged, reason: error.message })
          : diskUnusable(directory.path, disk)
      )
    })
  )
  return problems.length === 0 ? held : yield* new Backup.BackupDamaged({ path: staged, problems })
})

/**
 * From here on it is an installation of its own. What was owed in the snapshot may have been done since, so it is held until a
 * person has decided (`troupe held`).
 */
const mark = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  manifest: Backup.Manifest
): Effect.fn.Return<{ readonly threads: number; readonly replies: number }, SqlError, SqlClient.SqlClient> {
  yield* Installation.beginAsCopy(manifest)
  yield* sql`UPDATE outbox SET held = 1, in_doubt = 1, state = 'pending', sender = NULL
    WHERE state IN ('pending', 'sending')`
  yield* sql`UPDATE threads SET held = 1 WHERE id IN (
    SELECT thread_id FROM inbox WHERE state IN ('accepted', 'running')
    UNION SELECT thread_id FROM turns WHERE state = 'running')`
  const [held] = yield* sql<{ readonly threads: number; readonly replies: number }>`
    SELECT (SELECT COUNT(*) FROM threads WHERE held = 1) AS threads,
      (SELECT COUNT(*) FROM outbox WHERE held = 1) AS replies`
  return held ?? { threads: 0, replies: 0 }
})

/** Adds the files of the backup. One that is there with another content is kept beside the folder. */
const restoreFiles = Effect.fnUntraced(function* (
  source: string,
  directory: DataDirectory["Service"],
  manifest: Backup.Manifest,
  now: number
) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  for (const { path } of manifest.files.filter((file) => file.path.startsWith(`${filesFolder}/`))) {
    const to = directory.file(path)
    const aside = yield* Leftovers.stagedFile(to, now)
    yield* Directories.make(paths.dirname(to))
    yield* files.copyFile(paths.join(source, path), aside)
    yield* files.chmod(aside, 0o600)
    yield* flush(aside)
    if ((yield* files.exists(to)) && !(yield* sameContent(aside, to))) {
      const kept = directory.file(`${filesFolder}.replaced-${now}/${path.slice(filesFolder.length + 1)}`)
      yield* Directories.make(paths.dirname(kept))
      // Under its own name as well until the other takes it: at no moment is there none.
      yield* Effect.catch(files.link(to, kept), () => files.copyFile(to, kept))
      yield* PrivateFile.close(kept)
    }
    yield* files.rename(aside, to)
  }
})

const sameContent = (one: string, other: string) =>
  Effect.all([Sha256.ofFile(one), Sha256.ofFile(other)]).pipe(
    Effect.map(([first, second]) => first === second),
    // One that cannot be read is kept.
    Effect.orElseSucceed(() => false)
  )

/** Puts the new database in the place of the old one; gives where that is now. */
const replace = Effect.fnUntraced(function* (directory: DataDirectory["Service"], staged: string, now: number) {
  const files = yield* FileSystem.FileSystem
  const current = directory.file(Database.fileName)
  const stamp = DateTime.formatIso(DateTime.makeUnsafe(now)).replaceAll(/[:.]/g, "-")
  const kept = `${current}.replaced-${stamp}`
  const exists = yield* files.exists(current)
  // A log that stays would be played over the new file. A sound database takes its own back in; of one that cannot be opened
  // it goes aside with it.
  if (exists) yield* Effect.ignore(Effect.scoped(Effect.asVoid(foldLog(current))))
  for (const end of ["-wal", "-shm"]) {
    if (!(yield* files.exists(`${current}${end}`))) continue
    yield* files.rename(`${current}${end}`, `${kept}${end}`)
    yield* PrivateFile.close(`${kept}${end}`)
  }
  if (exists) {
    yield* Effect.catch(files.link(current, kept), () => files.copyFile(current, kept))
    yield* files.chmod(kept, 0o600)
  }
  yield* files.rename(staged, current)
  yield* flush(directory.path)
  return exists ? kept : null
})

const foldLog = (path: string) => Verify.opened(path, false, Effect.void).pipe(Effect.timeout("1 minute"))
