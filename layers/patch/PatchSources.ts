/** Reads the files that a patch names, as far as they are there. */
import * as Effect from "effect/Effect"
import { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import { PatchError } from "../../src/patch/PatchError.ts"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"

/** `mode`: the permission bits. */
export interface Source extends PatchPlan.Found {
  readonly mode?: number
}

export type Sources = ReadonlyMap<string, Source>

export const read = Effect.fnUntraced(function* (
  reading: Workspace.Reading,
  paths: ReadonlyArray<string>
): Effect.fn.Return<Sources, PatchError | FileError> {
  if (paths.length > PatchPlan.mostFiles) return yield* tooMany(`${paths.length} files`)
  const sources = new Map<string, Source>()
  let together = 0
  for (const path of paths) {
    const source = yield* readOne(reading, path)
    together += source.bytes?.length ?? 0
    if (together > PatchPlan.mostBytesTogether) return yield* tooMany(`more than ${PatchPlan.mostBytesTogether} bytes`)
    sources.set(path, source)
  }
  return sources
})

const readOne = (reading: Workspace.Reading, path: string): Effect.Effect<Source, PatchError | FileError> =>
  reading.read(path, { most: PatchPlan.mostBytes }).pipe(
    Effect.flatMap(({ bytes, info, truncated }) =>
      truncated ? Effect.fail(tooLarge(path)) : Effect.succeed({ id: info.place.absolute, bytes, mode: info.mode })
    ),
    Effect.catchIf(isAbsent, () =>
      Effect.map(Effect.fromResult(FilePath.parse(path)), ({ absolute, names }) => ({
        id: `${absolute ? "absolute" : "relative"}: ${names.join("/")}`,
        bytes: undefined
      }))
    )
  )

export const isAbsent = (error: PatchError | FileError): error is FileError =>
  error instanceof FileError && (error.reason === "file_not_found" || error.reason === "folder_not_found")

const tooLarge = (path: string) =>
  new PatchError({
    reason: "file_too_large",
    path,
    detail: `Expected a file of at most ${PatchPlan.mostBytes} bytes. Change or delete larger ones in another way.`
  })

const tooMany = (found: string) =>
  new PatchError({
    reason: "too_many_files",
    detail: `Expected at most ${PatchPlan.mostFiles} files of ${PatchPlan.mostBytesTogether} bytes together; found ${found}. Split the patch.`
  })
