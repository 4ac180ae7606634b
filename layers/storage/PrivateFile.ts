/** Small files in the data directory that only their owner may read. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import * as NodeProcess from "./NodeProcess.ts"

/** Written aside and renamed, so that a reader sees all of it or the one before, and never with a wider mode. */
export const write = Effect.fnUntraced(function* (
  path: string,
  text: string
): Effect.fn.Return<void, PlatformError.PlatformError, FileSystem.FileSystem> {
  const files = yield* FileSystem.FileSystem
  const { pid } = yield* NodeProcess.self
  const aside = `${path}.${pid}.new`
  // A file left over from a process of the same id would keep its own mode.
  yield* files.remove(aside, { force: true })
  yield* Effect.andThen(files.writeFileString(aside, text, { mode: 0o600 }), files.rename(aside, path))
})
