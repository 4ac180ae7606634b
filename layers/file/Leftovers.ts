/**
 * What writes that were cut off have left beside the files they were to become. Below the managed root it goes when the process
 * begins; elsewhere, where others work and all of it cannot be looked through, when something is next written in its folder.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type * as Aside from "./Aside.ts"
import * as NodeFiles from "./NodeFiles.ts"
import { about } from "./Refusals.ts"
import * as Tree from "./Tree.ts"
import * as Walk from "./Walk.ts"

/** The times of files lag behind the clock by some milliseconds: what this process has begun to write must not look older. */
const lag = 1000

/** Removes those that are older than the process's beginning; a root that is not there is not made. */
export const sweep = Effect.fn("Files.sweep")(function* (root: Walk.Root): Effect.fn.Return<void, FileError> {
  const began = (yield* Clock.currentTimeMillis) - lag
  yield* Tree.walk({ ...root, create: Effect.void }, ".", {}, () => true).pipe(
    Stream.filter(({ below }) => FilePath.isUnfinished(below.slice(below.lastIndexOf("/") + 1))),
    Stream.runForEach(({ below }) => Effect.ignore(remove(root, below, began)))
  )
})

/** No write of another process that is at work lasts this long without a byte, in milliseconds. */
const longestQuiet = 10 * 60_000

/** Folders that are remembered. */
const mostKnown = 10_000

/** Takes what is left in the folder of a file that is being written, by the user whose `aside` it is, and older than any write. */
export type Beside = (place: Workspace.Place, aside: Aside.Aside) => Effect.Effect<void>

/** Looks into each folder once, or until nothing young is left in it. */
export const beside = (): Beside => {
  const known = new Set<string>()
  return Effect.fnUntraced(
    function* ({ absolute }, { fd, folder, name: own }) {
      const above = absolute.slice(0, absolute.lastIndexOf("/"))
      if (known.has(above)) return
      const { uid } = yield* NodeFiles.statOf(fd)
      const before = (yield* Clock.currentTimeMillis) - longestQuiet
      const names = (yield* Walk.namesIn(folder)).filter((name) => FilePath.isUnfinished(name) && name !== own)
      let young = false
      for (const name of names) {
        const stats = yield* Walk.statIfThere(folder.at(name))
        if (stats?.isFile() !== true || stats.uid !== uid) continue
        if (stats.mtimeMs < before) yield* NodeFiles.unlink(folder.at(name))
        else young = true
      }
      if (young) return
      if (known.size >= mostKnown) known.clear()
      known.add(above)
    },
    // What cannot be taken away keeps nothing from being written.
    (taken) => Effect.ignore(taken)
  )
}

const remove = (root: Walk.Root, path: string, began: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { folder, name, stats } = yield* Walk.find(root, path, { follow: false })
      if (name === undefined || stats?.isFile() !== true || stats.mtimeMs >= began) return
      yield* about(path)(NodeFiles.unlink(folder.at(name)))
    })
  )
