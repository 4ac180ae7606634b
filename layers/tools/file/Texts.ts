/** Handlers of the tools that read the text of managed files. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { FileError } from "../../../src/file/FileError.ts"
import * as FileText from "../../../src/file/FileText.ts"
import * as LineWindow from "../../../src/file/LineWindow.ts"
import { FsRead } from "../../../src/file/Workspace.ts"
import type { OpenFile } from "../../../src/file/Workspace.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as CodeRead from "../../../src/tools/file/CodeRead.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import * as ReadFile from "../../../src/tools/file/ReadFile.ts"
import * as Offered from "./Offered.ts"

/** Bytes of a file through which lines are counted. */
const mostCounted = 64 * 1024 * 1024
/** Bytes of one line that are shown. */
const mostOfLine = 16_384

const read_file = Effect.fnUntraced(function* ({ path }: typeof ReadFile.ReadFile.parameters.Type) {
  const { bytes, info, truncated } = yield* (yield* FsRead).read(path, { most: ReadFile.most })
  const { encoding, nuls, text } = yield* textIn(path, bytes, truncated)
  return {
    action: "read" as const,
    path: Fields.pathOf(info.place),
    ...Fields.placeOf(info.place),
    content: text,
    size_bytes: info.bytes,
    truncated,
    encoding,
    ...notice([
      truncated ? `Only the first ${bytes.byteLength} bytes; code_read gives the lines behind them` : undefined,
      noteOfNuls(nuls)
    ])
  }
})

const code_read = Effect.fnUntraced(function* (given: typeof CodeRead.CodeRead.parameters.Type) {
  const { limit = CodeRead.usual, offset = 0, path } = given
  const file = yield* (yield* FsRead).open(path)
  const reader = LineWindow.make({ offset, limit, most: ReadFile.most, mostOfLine })
  const encoding = yield* readInto(file, reader)
  const { bytes, cut, lines, total } = reader.window()
  const { nuls, text } = yield* textIn(path, bytes, cut > 0)
  const all = file.info.bytes <= mostCounted
  const end = offset + lines
  return {
    ok: true as const,
    path: Fields.pathOf(file.info.place),
    ...Fields.placeOf(file.info.place),
    offset,
    limit,
    start_line: lines === 0 ? null : offset + 1,
    end_line: lines === 0 ? null : end,
    total_lines: all ? total : null,
    has_more: end < total || !all,
    content: text,
    encoding,
    ...notice([
      lines < limit && end < total ? "Fewer lines than asked for, as they are long" : undefined,
      cut > 0 ? `${cut} of the lines are longer than ${mostOfLine} bytes and cut there` : undefined,
      all || lines > 0 ? undefined : `Lines are looked for in the first ${mostCounted} bytes only`,
      noteOfNuls(nuls)
    ])
  }
}, Effect.scoped)

/** Has the lines of a file counted and taken, as UTF-8. Gives the encoding that it has. */
const readInto = Effect.fnUntraced(function* (file: OpenFile, reader: LineWindow.Reader) {
  const { encoding, length } = FileText.marked(yield* file.read(0, 3))
  const decoder = new TextDecoder(encoding)
  const encoder = new TextEncoder()
  yield* Stream.runForEach(file.stream({ from: length, most: mostCounted }), (piece) =>
    Effect.sync(() =>
      reader.add(encoding === "utf-8" ? piece : encoder.encode(decoder.decode(piece, { stream: true })))
    )
  )
  return encoding
})

const textIn = (path: string, bytes: Uint8Array, partial: boolean) =>
  Effect.mapError(Effect.fromResult(FileText.read(bytes, partial)), (guess) => notText(path, guess))

const notText = (path: string, guess: string) =>
  new FileError({
    reason: "not_text",
    path,
    detail: `Expected text in UTF-8; found what seems to be ${guess}. Convert a text first; other files can be sent or inserted.`
  })

const noteOfNuls = (nuls: number): string | undefined =>
  nuls === 0 ? undefined : `It holds ${nuls} NUL characters, shown as ␀`

const notice = (notes: ReadonlyArray<string | undefined>) => {
  const said = notes.filter((note) => note !== undefined)
  return said.length === 0 ? {} : { notice: said.join(". ") }
}

export const layer = ToolRegistry.layer(
  [ReadFile.ReadFile, CodeRead.CodeRead],
  { read_file, code_read },
  { offeredWhen: Offered.withFiles }
)
