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
import * as Directories from "../storage/Directories.ts"

export interface Quota {
  /** Bytes that may still come, where as many as `wanted` would be welcome. Never more than there is room for. */
  readonly room: (wanted: number) => Effect.Effect<number>
  /** Something of this size came, or went if it is negative. */
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

/** How long a count is believed once there is too little room by it. */
const believedMillis = 10_000

export const make = Effect.fnUntraced(function* ({ counts, most, root }: Options) {
  const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const one = yield* Semaphore.make(1)
  let used = 0
  /** When it was counted; never, before the first time and after something went. */
  let countedAt = Number.NEGATIVE_INFINITY
  let isKnown = false

  const count = Effect.gen(function* () {
    const found = yield* Effect.orElseSucceed(Directories.filesBelow(root), () => [])
    used = found.reduce((sum, { bytes, name }) => (counts(name) ? sum + bytes : sum), 0)
    countedAt = yield* Clock.currentTimeMillis
    isKnown = true
  }).pipe(Effect.provideContext(services))

  const room = Effect.fnUntraced(function* (wanted: number) {
    const isOld = (yield* Clock.currentTimeMillis) - countedAt > believedMillis
    if (!isKnown || (most - used < wanted && isOld)) yield* count
    return Math.max(0, most - used)
  }, one.withPermit)

  const quota: Quota = {
    room,
    changed: (bytes) =>
      Effect.sync(() => {
        used += bytes
      }),
    removed: Effect.sync(() => {
      countedAt = Number.NEGATIVE_INFINITY
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
