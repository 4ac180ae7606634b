/** What an installation has on its disk, by kind. It only looks, so a daemon may run meanwhile. */
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import type { DiskUsage, Kind } from "../../src/storage/DiskUsage.ts"
import { filesFolder } from "../../src/storage/DataDirectory.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Database from "./Database.ts"
import * as Directories from "./Directories.ts"

/** Everything below the data directory, each file under the first kind whose name fits. Links are not followed. */
export const look = Effect.fn("DiskUsage.look")(function* (directory: DataDirectory["Service"]) {
  const paths = yield* Path.Path
  const found = new Map<Kind, { bytes: number; files: number }>()
  for (const { bytes, name } of yield* Directories.filesBelow(directory.path)) {
    const kind = kindOf(name.split(paths.sep))
    const sum = found.get(kind) ?? { bytes: 0, files: 0 }
    found.set(kind, { bytes: sum.bytes + bytes, files: sum.files + 1 })
  }
  const usage = kinds.flatMap((kind) => {
    const sum = found.get(kind)
    return sum === undefined ? [] : [{ kind, ...sum }]
  })
  const bytes = usage.reduce((sum, one) => sum + one.bytes, 0)
  return { path: directory.path, bytes, usage } satisfies DiskUsage
})

const kinds: ReadonlyArray<Kind> = ["database", "log of the database", "copies", "files", "logs", "other"]

const kindOf = ([first = "", ...below]: ReadonlyArray<string>): Kind => {
  if (below.length > 0) return first === filesFolder ? "files" : first === "logs" ? "logs" : kindOfFolder(first)
  if (first === Database.fileName) return "database"
  if (first === `${Database.fileName}-wal` || first === `${Database.fileName}-shm`) return "log of the database"
  return first.startsWith(`${Database.fileName}.`) && first !== `${Database.fileName}.used` ? "copies" : "other"
}

const kindOfFolder = (name: string): Kind => (name.startsWith(`${filesFolder}.replaced-`) ? "copies" : "other")
