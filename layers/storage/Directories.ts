/** Making directories. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
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

/** A directory that is there already is as good as made; whether it is one, the next step tells. */
const one = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.catchIf(files.makeDirectory(path, { mode: 0o700 }), isThere, () => Effect.void)
})

const isMissing = (error: PlatformError.PlatformError): boolean => error.reason._tag === "NotFound"
const isThere = (error: PlatformError.PlatformError): boolean => error.reason._tag === "AlreadyExists"
