/**
 * What a search found, as the workspace reads it. The program that searches opens files by their path, so somebody who swaps
 * folders and links meanwhile can have it read elsewhere; what the workspace does not find in its own file is not shown.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { FileError } from "../../src/file/FileError.ts"
import * as FileText from "../../src/file/FileText.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type * as Findings from "../../src/search/Findings.ts"

/** Where the file is; undefined when it is not, or not any more, the file that these lines are of. */
export const placeOf = Effect.fnUntraced(
  function* (reading: Workspace.Reading, { lines, path }: Findings.File, maxFileBytes: number) {
    const file = yield* reading.open(path)
    const { encoding, length } = FileText.marked(yield* file.read(0, 3))
    const read = encoding === "utf-8" ? pages(file, length) : yield* decoded(file, encoding, length, maxFileBytes)
    for (const { offset, text } of lines) {
      const expected = new TextEncoder().encode(text)
      if (!isSame(expected, yield* read(offset, expected.length))) return undefined
    }
    return file.info.place
  },
  Effect.scoped,
  // Whatever keeps it from being opened came after the search.
  Effect.orElseSucceed(() => undefined)
)

type Read = (offset: number, length: number) => Effect.Effect<Uint8Array, FileError>

/** What is read of a file at once, in bytes: more than a line that is shown has. */
const pageBytes = 64 * 1024

/** Lines come in the order of the file, so that each page is read once. */
const pages = (file: Workspace.OpenFile, mark: number): Read => {
  let page: Uint8Array = new Uint8Array(0)
  let at = 0
  return Effect.fnUntraced(function* (offset, length) {
    if (offset < at || offset + length > at + page.length) {
      at = offset
      page = yield* file.read(mark + offset, Math.max(length, pageBytes))
    }
    return page.subarray(offset - at, offset - at + length)
  })
}

/** Lines of a file in UTF-16 are told as they would be in UTF-8. */
const decoded = Effect.fnUntraced(function* (
  file: Workspace.OpenFile,
  encoding: FileText.Encoding,
  mark: number,
  most: number
) {
  const decoder = new TextDecoder(encoding)
  const pieces = yield* Stream.runCollect(
    Stream.map(file.stream({ from: mark, most }), (piece) => decoder.decode(piece, { stream: true }))
  )
  const all = new TextEncoder().encode(pieces.join("") + decoder.decode())
  const read: Read = (offset, length) => Effect.succeed(all.subarray(offset, offset + length))
  return read
})

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])
