/** Spill into the managed files of the data directory. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import { Settings } from "../../src/config/Settings.ts"
import * as ToolPattern from "../../src/config/ToolPattern.ts"
import * as FileName from "../../src/spill/FileName.ts"
import * as Spill from "../../src/spill/Spill.ts"
import { DataDirectory, filesFolder } from "../../src/storage/DataDirectory.ts"
import * as Redaction from "../../src/tool/Redaction.ts"

/** The tools that can read a file back. Without one of them, moving an output to a file would hide it. */
const readBack: ReadonlySet<string> = new Set(["grep", "code_read", "read_file", "bash"])

export const layer: Layer.Layer<Spill.Spill, never, Settings | DataDirectory | FileSystem.FileSystem | Path.Path> =
  Layer.effect(
    Spill.Spill,
    Effect.gen(function* () {
      const settings = (yield* Settings).tools.tool_output_spill
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const dataDirectory = yield* DataDirectory
      const wanted = FileName.folder(dataDirectory, settings.subdir)
      const excluded = ToolPattern.compile(settings.exclude_tools)

      /** The folder, made if need be. A link that leads out of the managed files is not followed. */
      const folder = Effect.gen(function* () {
        yield* files.makeDirectory(wanted, { recursive: true, mode: 0o700 })
        const root = yield* files.realPath(dataDirectory.file(filesFolder))
        const inside = paths.relative(root, yield* files.realPath(wanted))
        return inside.startsWith("..") || paths.isAbsolute(inside)
          ? yield* new Spill.SpillFailed({ reason: "its folder lies outside the managed files" })
          : wanted
      })

      const write = Effect.fn("Spill.write")(
        function* (options: { readonly tool: string; readonly content: string; readonly extension: "json" | "txt" }) {
          const directory = yield* folder
          const name = yield* FileName.make(options.tool, options.extension)
          const absolutePath = paths.join(directory, name)
          const unfinished = paths.join(directory, FileName.unfinished(name))
          const content = options.content.toWellFormed()
          // Whoever looks sees the whole file or none.
          yield* files.writeFileString(unfinished, content, { flag: "wx", mode: 0o600 }).pipe(
            Effect.andThen(files.rename(unfinished, absolutePath)),
            Effect.onError(() => Effect.ignore(files.remove(unfinished, { force: true })))
          )
          return {
            path: paths.join(settings.subdir, name),
            absolutePath,
            bytes: new TextEncoder().encode(content).byteLength,
            preview: Redaction.head(content, settings.preview_chars)
          }
        },
        Effect.catchTag("PlatformError", (error) => Effect.fail(failed(error)))
      )

      return Spill.Spill.of({
        excluded,
        inlineChars: (maxChars) => Math.max(maxChars, settings.spill_after_chars),
        available: (tools) => settings.enabled && tools.some((tool) => readBack.has(tool)),
        write
      })
    })
  )

/** The kind of failure, without the path. */
const failed = (error: PlatformError.PlatformError): Spill.SpillFailed =>
  new Spill.SpillFailed({ reason: error.reason._tag })
