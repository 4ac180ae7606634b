/** Making directories, and going through them. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"

/**
 * Makes a directory for its owner alone, and those above it that are missing. Step by step, because where a parent exists and
 * still takes no directory (`/proc/1`), Node's recursive way tries the same step for ever.
 */
export const make = (
  path: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const paths = yield* Path.Path
    const parent = paths.dirname(path)
    yield* Effect.catchIf(one(path), isMissing, (error) =>
      parent === path ? Effect.fail(error) : Effect.andThen(make(parent), one(path))
    )
  })

/** A file below a folder. */
export interface Found {
  /** Below the folder, with the separators of the system. */
  readonly name: string
  readonly path: string
  readonly bytes: number
}

/** All files below a folder, which need not be there. Links are not followed: what is behind them is no part of it. */
export const filesBelow = (folder: string) => filesIn(folder, "", Effect.fail)

/** The same, without what is in folders that may not be read; their names go to `unreadable`. */
export const readableBelow = Effect.fnUntraced(function* (folder: string) {
  const unreadable: Array<string> = []
  const found = yield* filesIn(folder, "", (_, name) =>
    Effect.sync((): Array<string> => {
      unreadable.push(name)
      return []
    })
  )
  return { found, unreadable }
})

const filesIn = <E>(
  folder: string,
  below: string,
  refused: (error: PlatformError.PlatformError, name: string) => Effect.Effect<Array<string>, E>
): Effect.Effect<ReadonlyArray<Found>, E, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const here = paths.join(folder, below)
    const names = yield* Effect.catch(files.readDirectory(here), (error) =>
      isMissing(error) ? Effect.succeed<Array<string>>([]) : refused(error, below)
    )
    const found: Array<Found> = []
    for (const name of names) {
      const path = paths.join(here, name)
      if (Option.isSome(yield* Effect.option(files.readLink(path)))) continue
      // It may have gone since the folder was read.
      const info = yield* Effect.option(files.stat(path))
      if (Option.isNone(info)) continue
      if (info.value.type === "Directory") found.push(...(yield* filesIn(folder, paths.join(below, name), refused)))
      if (info.value.type === "File")
        found.push({ name: paths.join(below, name), path, bytes: Number(info.value.size) })
    }
    return found
  })

/** A directory that is there already is as good as made; whether it is one, the next step tells. */
const one = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.catchIf(files.makeDirectory(path, { mode: 0o700 }), isThere, () => Effect.void)
})

const isMissing = (error: PlatformError.PlatformError): boolean => error.reason._tag === "NotFound"
const isThere = (error: PlatformError.PlatformError): boolean => error.reason._tag === "AlreadyExists"
