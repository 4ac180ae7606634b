/** What an installation has on its disk, by kind. It only looks, so a daemon may run meanwhile. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { DiskSettings } from "../../src/config/DiskSettings.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import * as TemporaryFolders from "../../src/file/TemporaryFolders.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { filesFolder } from "../../src/storage/DataDirectory.ts"
import type { DiskUsage, Kind } from "../../src/storage/DiskUsage.ts"
import * as Database from "./Database.ts"
import * as Directories from "./Directories.ts"
import * as RecordUsage from "./RecordUsage.ts"

/** Everything below the data directory and among the managed files, each file under one kind. Links are not followed. */
export const look = Effect.fn("DiskUsage.look")(function* (
  directory: DataDirectory["Service"],
  settings: DiskSettings
) {
  const paths = yield* Path.Path
  const sums = new Map<Kind, { bytes: number; files: number }>()
  const add = (kind: Kind, bytes: number) => {
    const sum = sums.get(kind) ?? { bytes: 0, files: 0 }
    sums.set(kind, { bytes: sum.bytes + bytes, files: sum.files + 1 })
  }
  // By the rule that retention goes by.
  const isTemporary = TemporaryFolders.isTemporary(settings)
  const kindOfManaged = (parts: ReadonlyArray<string>): Kind =>
    isTemporary(parts.join("/")) ? "temporary files" : "managed files"
  const inside = directory.file(filesFolder)
  const root = yield* real(paths.resolve(ManagedRoot.of(settings, directory)))
  const isElsewhere = root !== (yield* real(inside))
  const inDirectory = yield* Directories.readableBelow(directory.path)
  const unreadable = inDirectory.unreadable.map((name) => paths.join(directory.path, name))
  for (const { bytes, name } of inDirectory.found) {
    const [first = "", ...below] = name.split(paths.sep)
    if (below.length === 0 || first !== filesFolder) add(kindOf(first, below.length > 0), bytes)
    else add(isElsewhere ? "other" : kindOfManaged(below), bytes)
  }
  if (isElsewhere && !isWithin(paths, directory.path, root)) {
    const elsewhere = yield* Directories.readableBelow(root)
    unreadable.push(...elsewhere.unreadable.map((name) => paths.join(root, name)))
    for (const { bytes, name } of elsewhere.found) add(kindOfManaged(name.split(paths.sep)), bytes)
  }
  const usage = kinds.flatMap((kind) => {
    const sum = sums.get(kind)
    return sum === undefined ? [] : [{ kind, ...sum, ...boundOf(kind, settings) }]
  })
  return {
    path: directory.path,
    managedFiles: isElsewhere ? root : null,
    bytes: usage.reduce((sum, one) => sum + one.bytes, 0),
    usage,
    unreadable,
    records: yield* RecordUsage.look(directory, settings)
  } satisfies DiskUsage
})

const kinds: ReadonlyArray<Kind> = [
  "database",
  "log of the database",
  "copies",
  "temporary files",
  "managed files",
  "logs",
  "other"
]

const kindOf = (name: string, isFolder: boolean): Kind => {
  if (isFolder) return name === "logs" ? "logs" : name.startsWith(`${filesFolder}.replaced-`) ? "copies" : "other"
  if (name === Database.fileName) return "database"
  if (name === `${Database.fileName}-wal` || name === `${Database.fileName}-shm`) return "log of the database"
  return name.startsWith(`${Database.fileName}.`) && name !== `${Database.fileName}.used` ? "copies" : "other"
}

const boundOf = (kind: Kind, settings: DiskSettings) => {
  const { logging, retention, storage } = settings
  switch (kind) {
    case "database":
      return { limitBytes: null, removed: "its parts are below, with what its log holds" }
    case "log of the database":
      return { limitBytes: storage.wal_max_bytes, removed: "emptied when idle" }
    case "copies":
      return { limitBytes: null, removed: "never: delete those that you do not need" }
    case "temporary files":
      return { limitBytes: retention.spill_max_bytes, removed: `${retention.spill_days} days after the last change` }
    case "managed files":
      return { limitBytes: ManagedRoot.mostOf(settings) ?? null, removed: "never: they are yours" }
    case "logs":
      return {
        limitBytes: logging.max_files * logging.max_file_bytes,
        removed: `the oldest, beyond ${logging.max_files} files`
      }
    case "other":
      return { limitBytes: null, removed: "never; small files of the runtime" }
  }
}

/** Where a path leads, or the path while nothing is there. */
const real = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.map(
      Effect.option(files.realPath(path)),
      Option.getOrElse(() => path)
    )
  )

const isWithin = (paths: Path.Path, folder: string, path: string): boolean => {
  const relative = paths.relative(folder, path)
  return relative !== "" && relative.split(paths.sep)[0] !== ".." && !paths.isAbsolute(relative)
}
