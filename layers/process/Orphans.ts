/**
 * The children of a daemon that was killed. They carry its mark, and since the directory is locked by this process, whoever
 * carries the directory's mark and not this life's has no daemon any more.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Marker from "../../src/process/Marker.ts"
import * as ProcessMetrics from "../../src/process/ProcessMetrics.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as ProcFs from "./ProcFs.ts"

/** Whose children this process starts. A directory is known by its place on its disk: its name may change, or be one of many. */
export const owner = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const { path } = yield* DataDirectory
  const { id } = yield* Incarnation
  const directory = yield* files.stat(path).pipe(
    Effect.map(({ dev, ino }) => `${dev}.${Option.getOrElse(ino, () => 0n)}`),
    // It is there, since this process has locked it; should it not be readable, its name will do.
    Effect.orElseSucceed(() => path.replaceAll("/", "."))
  )
  return { directory, incarnation: id } satisfies Marker.Owner
})

/** How often, and with which pause, it is looked whether they are gone. */
const looks = 200
const pause = "10 millis"

/** Kills them: whoever waited for them is gone. */
export const end = Effect.fn("Orphans.end")(function* (owner: Marker.Owner) {
  const seen = new Set<number>()
  for (let look = 0; look < looks; look++) {
    const found = ProcFs.members({ mark: Marker.ofDirectory(owner), except: Marker.ofIncarnation(owner) })
    if (found.length === 0) break
    for (const pid of found) {
      ProcFs.signal(pid, "SIGKILL")
      seen.add(pid)
    }
    yield* Effect.sleep(pause)
  }
  if (seen.size === 0) return
  yield* Metric.update(ProcessMetrics.orphans, seen.size)
  yield* Effect.logWarning("Processes that a killed daemon had started were still running and have been ended", {
    count: seen.size
  })
})
