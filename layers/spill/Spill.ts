/** Spill into the managed files. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import * as ToolPattern from "../../src/config/ToolPattern.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import * as FileName from "../../src/spill/FileName.ts"
import * as Spill from "../../src/spill/Spill.ts"
import * as Redaction from "../../src/tool/Redaction.ts"

/** The tools that can read a file back. Without one of them, moving an output to a file would hide it. */
const readBack: ReadonlySet<string> = new Set(["grep", "code_read", "read_file", "bash"])

export const layer: Layer.Layer<Spill.Spill, never, Settings | Workspace> = Layer.effect(
  Spill.Spill,
  Effect.gen(function* () {
    const settings = (yield* Settings).tools.tool_output_spill
    const files = (yield* Workspace).writingAs({ _tag: "Runtime", purpose: "spill" })
    const excluded = ToolPattern.compile(settings.exclude_tools)

    const write = Effect.fn("Spill.write")(
      function* (options: { readonly tool: string; readonly content: string; readonly extension: "json" | "txt" }) {
        const name = yield* FileName.make(options.tool, options.extension)
        const content = options.content.toWellFormed()
        const bytes = new TextEncoder().encode(content)
        const { place } = yield* files.write(`${settings.subdir}/${name}`, bytes, {
          overwrite: false,
          most: bytes.byteLength
        })
        return {
          path: place.relative ?? place.absolute,
          absolutePath: place.absolute,
          bytes: bytes.byteLength,
          preview: Redaction.head(content, settings.preview_chars)
        }
      },
      // The kind of failure, without the path.
      Effect.mapError(({ reason }) => new Spill.SpillFailed({ reason: reason.replaceAll("_", " ") }))
    )

    return Spill.Spill.of({
      excluded,
      inlineChars: (maxChars) => Math.max(maxChars, settings.spill_after_chars),
      available: (tools) => settings.enabled && tools.some((tool) => readBack.has(tool)),
      write
    })
  })
)
