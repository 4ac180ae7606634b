/** What backups and restores leave behind when they are killed, under names that no other file has. The next run removes it. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { filesFolder } from "../../src/storage/DataDirectory.ts"
import * as Database from "./Database.ts"
import * as Directories from "./Directories.ts"
import * as NodeProcess from "./NodeProcess.ts"

/** A backup that is being made by a process. Times are unix ms. */
export const partial = (destination: string, pid: number, now: number): string => `${destination}.partial-${pid}-${now}`

/** A backup that is being replaced. */
export const old = (destination: string, now: number): string => `${destination}.old-${now}`

const ofBackups = /^\.(?:partial-(\d+)-\d+|old-\d+)$/

/** What stands beside a destination: copies that are being made, by which process, and backups that are being replaced. */
export const ofBackup = Effect.fnUntraced(function* (destination: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const base = paths.basename(destination)
  const names = yield* Effect.orElseSucceed(files.readDirectory(paths.dirname(destination)), () => [])
  return names.flatMap((name) => {
    const found = name.startsWith(`${base}.`) ? ofBackups.exec(name.slice(base.length)) : null
    if (found === null) return []
    return [{ name, pid: found[1] === undefined ? undefined : Number(found[1]) }]
  })
})

/** Removes what earlier runs to this destination left. A copy that a living process makes is not left. */
export const sweepBackup = Effect.fnUntraced(function* (destination: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  for (const { name, pid } of yield* ofBackup(destination)) {
    if (pid !== undefined && (yield* NodeProcess.isAlive(pid))) continue
    yield* files.remove(paths.join(paths.dirname(destination), name), { recursive: true, force: true })
  }
})

/** The database that a restore makes ready. */
export const stagedDatabase = (directory: DataDirectory["Service"], now: number): string =>
  directory.file(`${Database.fileName}.restoring-${now}`)

/** The ends of the names of all files that a database may consist of. */
export const databaseEnds: ReadonlyArray<string> = ["", "-wal", "-shm", "-journal"]

/** A managed file that a restore is about to put in the place of `path`. */
export const stagedFile = Effect.fnUntraced(function* (path: string, now: number) {
  const paths = yield* Path.Path
  return paths.join(paths.dirname(path), `.${paths.basename(path)}.restoring-${now}`)
})

/** Whether a managed file is one of those, by its name without the folder. */
export const isStagedFile = (name: string): boolean => /^\..+\.restoring-\d+$/.test(name)

const isStagedDatabase = (name: string): boolean =>
  name.startsWith(Database.fileName) &&
  /^\.restoring-\d+(-wal|-shm|-journal)?$/.test(name.slice(Database.fileName.length))

/** Removes what an earlier restore left. The directory is held, so there is no other one at work. */
export const sweepRestore = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  for (const name of yield* files.readDirectory(directory.path)) {
    if (isStagedDatabase(name)) yield* files.remove(directory.file(name))
  }
  for (const { path } of yield* Directories.filesBelow(directory.file(filesFolder))) {
    if (isStagedFile(paths.basename(path))) yield* files.remove(path)
  }
})
