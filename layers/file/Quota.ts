/**
 * How much agents may keep among the managed files. What the files take is counted by going through them, once and then again
 * only where room runs out: files also come and go without the runtime.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Semaphore from "effect/Semaphore"
import { FileError } from "../../src/file/FileError.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import * as Directories from "../storage/Directories.ts"

export interface Quota {
  /** Bytes that may still come, where as many as `wanted` would be welcome. Never more than there is room for. */
  readonly room: (wanted: number) => Effect.Effect<number>
  /** The bytes that a file at the path counts for: none where it has a limit of its own, or lies elsewhere. */
  readonly countOf: (place: Workspace.Place, bytes: number) => number
  /** So much more counts, or less if it is negative. */
  readonly changed: (bytes: number) => Effect.Effect<void>
  /** Something went, and it is not known how much. */
  readonly removed: Effect.Effect<void>
  readonly refusal: (path: string) => FileError
}

export interface Options {
  /** The folder, absolute. */
  readonly root: string
  /** In bytes. */
  readonly most: number
  /** Whether a file counts, by its path below the root. What has a limit of its own does not. */
  readonly counts: (name: string) => boolean
}

/**
 * How long a count is believed once there is too little room by it, at least and in times of what it took: who has just deleted
 * something tries again at once, and counting must not be all that is done. And how long at all: others write there as well.
 */
const believedMillis = 1000
const believedTimes = 5
const staleMillis = 60 * 60_000

export const make = Effect.fnUntraced(function* ({ counts, most, root }: Options) {
  const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const one = yield* Semaphore.make(1)
  let used = 0
  /** When it was counted, and when something went since then that nobody measured. */
  let countedAt = Number.NEGATIVE_INFINITY
  let isLess = false
  let tookMillis = 0

  const count = Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const { found } = yield* Directories.readableBelow(root)
    used = found.reduce((sum, { bytes, name }) => (counts(name) ? sum + bytes : sum), 0)
    countedAt = yield* Clock.currentTimeMillis
    tookMillis = countedAt - began
    isLess = false
  }).pipe(Effect.provideContext(services))

  const room = Effect.fnUntraced(function* (wanted: number) {
    const age = (yield* Clock.currentTimeMillis) - countedAt
    const isShort = most - used < wanted
    if (age > staleMillis || (isShort && (isLess || age > Math.max(believedMillis, believedTimes * tookMillis))))
      yield* count
    return Math.max(0, most - used)
  }, one.withPermit)

  const quota: Quota = {
    room,
    countOf: ({ relative }, bytes) => (relative !== null && counts(relative) ? bytes : 0),
    changed: (bytes) =>
      Effect.sync(() => {
        used += bytes
      }),
    removed: Effect.sync(() => {
      isLess = true
    }),
    refusal: (path) =>
      new FileError({
        reason: "no_space",
        path,
        detail:
          `The managed files may take ${most} bytes in all, and ${Math.max(0, most - used)} are left. ` +
          "Delete what is not needed, write less, or have [tools.file_storage].max_total_bytes raised."
      })
  }
  return quota
})
