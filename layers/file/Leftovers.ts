/** What writes that were cut off have left beside the files they were to become: it goes when the process begins. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
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

const remove = (root: Walk.Root, path: string, began: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { folder, name, stats } = yield* Walk.find(root, path, { follow: false })
      if (name === undefined || stats?.isFile() !== true || stats.mtimeMs >= began) return
      yield* about(path)(NodeFiles.unlink(folder.at(name)))
    })
  )
