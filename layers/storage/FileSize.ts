/** How large a file is. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

/** In bytes; undefined where there is no such file, or nobody can tell. */
export const of = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  return yield* files.stat(path).pipe(
    Effect.map(({ size }) => Number(size)),
    Effect.orElseSucceed(() => undefined)
  )
})
