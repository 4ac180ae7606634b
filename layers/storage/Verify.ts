/** Verifies backups and databases. It changes nothing, and reads every page. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Own from "../../src/Own.ts"
import * as Backup from "../../src/storage/Backup.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { DatabaseUnusable, SchemaTooNew } from "../../src/storage/StorageError.ts"
import * as Check from "./Check.ts"
import * as Database from "./Database.ts"
import * as Leftovers from "./Leftovers.ts"
import * as Lost from "./Lost.ts"
import * as ReadOnly from "./ReadOnly.ts"
import * as Recognised from "./Recognised.ts"
import * as Sha256 from "./Sha256.ts"
import * as SqliteClient from "./SqliteClient.ts"

/** Verifies a backup against its manifest: every file's size and hash, and the snapshot as a database. Changes nothing. */
export const backup = Effect.fn("Verify.backup")(function* (
  path: string
): Effect.fn.Return<Backup.Manifest, Backup.BackupFailed | Backup.BackupDamaged, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const source = paths.resolve(path)
  const manifest = yield* readManifest(source)
  const problems: Array<string> = []
  for (const file of manifest.files) {
    const problem = yield* verifyFile(source, file)
    if (problem !== undefined) problems.push(problem)
  }
  if (!manifest.files.some((file) => file.path === Backup.snapshotName)) problems.push("it holds no database")
  if (problems.length === 0) {
    const checked = yield* database(paths.join(source, Backup.snapshotName), true)
    problems.push(...checked.problems, ...differences(manifest, checked))
  }
  return problems.length === 0 ? manifest : yield* new Backup.BackupDamaged({ path: source, problems })
})

/**
 * What to open for reading the database of a data directory. Fails where the daemon would refuse it: where it was lost, is
 * another program's, or newer than this release. Whether it is damaged shows when it is read whole.
 */
export const recognised = Effect.fn("Verify.recognised")(function* (
  directory: DataDirectory["Service"]
): Effect.fn.Return<string, Backup.BackupFailed | DatabaseUnusable | SchemaTooNew, FileSystem.FileSystem> {
  const path = directory.file(Database.fileName)
  const files = yield* FileSystem.FileSystem
  yield* Lost.refuse(directory, Database.fileName)
  if (!(yield* Effect.orElseSucceed(files.exists(path), () => false))) {
    return yield* new Backup.BackupFailed({ path, reason: "there is no database yet" })
  }
  // Opening a pipe waits for somebody to write into it.
  const info = yield* Effect.option(files.stat(path))
  if (Option.isSome(info) && info.value.type === "FIFO") {
    return yield* new Backup.BackupFailed({ path, reason: "it is a pipe and no file" })
  }
  const name = yield* ReadOnly.nameOf(path)
  yield* Effect.catchTag(opened(name, true, Recognised.check(path)), "SqlError", () => Effect.void)
  return name
})

/** Uses a database file for a moment. */
export const opened = <A, E>(
  filename: string,
  readonly: boolean,
  use: Effect.Effect<A, E, SqlClient.SqlClient>
): Effect.Effect<A, E | SqlError> =>
  Effect.scoped(
    Effect.flatMap(SqliteClient.make({ filename, readonly }), (client) => Effect.provideContext(use, client))
  ).pipe(Effect.provide(Reactivity.layer))

/** Checks a database file. Damage that keeps it from being read is a problem like the others. */
export const database = (path: string, readonly: boolean): Effect.Effect<Backup.Checked> =>
  opened(path, readonly, Check.full).pipe(
    Effect.catch((error: SqlError) => Effect.succeed({ schemaVersion: 0, tables: {}, problems: [error.message] }))
  )

/** The manifest as it is written. */
export const ManifestText = Schema.fromJsonString(Backup.Manifest)

/** The manifest of a backup. Fails with what is there instead. */
export const readManifest = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const notOne = new Backup.BackupFailed({
    path: folder,
    reason: `it is no backup of Troupe: it has no ${Backup.manifestName} that this release can read`
  })
  const path = paths.join(folder, Backup.manifestName)
  if (!(yield* Effect.orElseSucceed(files.exists(folder), () => false))) {
    const kept = (yield* Leftovers.ofBackup(folder)).find(({ pid }) => pid === undefined)
    const reason =
      kept === undefined
        ? "there is nothing at this path"
        : `there is nothing at this path; it was being replaced, and the backup before it is ${kept.name} beside it`
    return yield* new Backup.BackupFailed({ path: folder, reason })
  }
  const info = yield* Effect.mapError(files.stat(path), () => notOne)
  if (info.type !== "File" || Number(info.size) > largestManifest) return yield* notOne
  const text = yield* Effect.mapError(files.readFileString(path), () => notOne)
  const manifest = yield* Effect.mapError(Schema.decodeUnknownEffect(ManifestText)(text), () => notOne)
  // A manifest must not lead out of its backup.
  const inside = manifest.files.every(
    (file) => !paths.isAbsolute(file.path) && !file.path.split("/").includes("..") && !file.path.includes("\\")
  )
  return inside ? manifest : yield* notOne
})

/** In bytes. A manifest has a line for each file. */
const largestManifest = 64 * 1024 * 1024

const verifyFile = Effect.fnUntraced(function* (folder: string, file: Backup.BackupFile) {
  const files = yield* FileSystem.FileSystem
  const path = (yield* Path.Path).join(folder, file.path)
  const info = yield* Effect.option(files.stat(path))
  if (Option.isNone(info)) return `${file.path} is missing`
  // What is behind a link may change, and a pipe has no end.
  const isLink = Option.isSome(yield* Effect.option(files.readLink(path)))
  if (isLink || info.value.type !== "File") return `${file.path} is not a file of its own`
  if (Number(info.value.size) !== file.bytes) return `${file.path} has ${info.value.size} bytes and not ${file.bytes}`
  const hash = yield* Sha256.ofFile(path)
  return hash === file.sha256 ? undefined : `${file.path} has another content than when it was backed up`
})

const differences = (manifest: Backup.Manifest, checked: Backup.Checked): ReadonlyArray<string> => [
  ...(manifest.schemaVersion === checked.schemaVersion
    ? []
    : [`the schema has version ${checked.schemaVersion} and not ${manifest.schemaVersion}`]),
  ...Object.entries(manifest.tables).flatMap(([table, count]) => {
    const found = Own.get(checked.tables, table)
    return found === count ? [] : [`${table} has ${found ?? 0} rows and not ${count}`]
  })
]
