/** Moves a long output of a program into a managed file. The output is in a file of its own until it is known to be long. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as FileChanges from "../../src/file/FileChanges.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import type * as Process from "../../src/process/Process.ts"
import type * as ProcessRunner from "../../src/process/ProcessRunner.ts"
import * as FileName from "../../src/spill/FileName.ts"
import * as Redaction from "../../src/tool/Redaction.ts"

export const make = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const workspace = yield* Workspace

  /** Undefined where there is no place for it: the output stays inline, as much of it as is kept. */
  const open = Effect.fnUntraced(function* (
    { afterChars, maxBytes, previewChars, subdir, tool }: Process.Spill,
    author: FileChanges.Author
  ) {
    const folder = yield* Effect.option(files.makeTempDirectoryScoped({ prefix: "troupe-output-" }))
    if (folder._tag === "None") return undefined
    const path = paths.join(folder.value, "stdout")

    const settle = Effect.fnUntraced(function* (stdout: string, { stdoutFile }: ProcessRunner.Ended) {
      if (stdout.length <= afterChars || stdoutFile === undefined || stdoutFile.failed) return undefined
      const wanted = `${subdir}/${yield* FileName.make(tool, "txt")}`
      const written = workspace
        .writingAs(author)
        .write(wanted, files.stream(path), { overwrite: false, most: maxBytes, expected: "absent" })
      return yield* written.pipe(
        Effect.map(({ bytes, place }): Process.Spilled => ({
          path: place.relative ?? wanted,
          absolutePath: place.absolute,
          bytes,
          preview: Redaction.head(stdout, previewChars)
        })),
        Effect.tapError((error) => Effect.logWarning("A long output stays inline, cut", error.message)),
        Effect.orElseSucceed(() => undefined)
      )
    })
    return { path, maxBytes, settle }
  })
  return { open }
})
