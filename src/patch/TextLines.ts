/**
 * The bytes of a text file as lines, and back. Each line keeps its own ending, and the file its encoding and its mark, so that what is
 * not changed comes out byte for byte as it went in. Pure.
 */
import * as Result from "effect/Result"
import * as FileText from "../file/FileText.ts"

export type Ending = "\n" | "\r\n" | ""

/** Only the last line of a file may end without a break. A lone carriage return belongs to its line. */
export interface Line {
  readonly text: string
  readonly ending: Ending
}

export interface TextLines {
  readonly encoding: FileText.Encoding
  /** The mark of the encoding, if the file begins with one. */
  readonly mark: Uint8Array
  readonly lines: ReadonlyArray<Line>
}

/** Fails with what the file seems to be. */
export const read = (bytes: Uint8Array): Result.Result<TextLines, string> =>
  Result.flatMap(FileText.read(bytes, false), ({ encoding, nuls, text }) =>
    nuls > 0
      ? Result.fail("text with NUL characters in it")
      : Result.succeed({ encoding, mark: bytes.slice(0, FileText.marked(bytes).length), lines: linesOf(text) })
  )

const linesOf = (text: string): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let from = 0
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
    const isPair = at > from && text[at - 1] === "\r"
    lines.push({ text: text.slice(from, isPair ? at - 1 : at), ending: isPair ? "\r\n" : "\n" })
    from = at + 1
  }
  if (from < text.length) lines.push({ text: text.slice(from), ending: "" })
  return lines
}

/** How many lines there are at most, counted without reading them. */
export const count = (bytes: Uint8Array): number => {
  let lines = 1
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}

const newline = 10

export const write = ({ encoding, lines, mark }: TextLines): Uint8Array => {
  const text = lines.map((line) => line.text + line.ending).join("")
  const body = encoding === "utf-8" ? new TextEncoder().encode(text) : utf16(text, encoding === "utf-16le")
  const bytes = new Uint8Array(mark.length + body.length)
  bytes.set(mark)
  bytes.set(body, mark.length)
  return bytes
}

const utf16 = (text: string, littleEndian: boolean): Uint8Array => {
  const view = new DataView(new ArrayBuffer(text.length * 2))
  for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), littleEndian)
  return new Uint8Array(view.buffer)
}

/** The ending that most lines have; `\n` for a file without any. */
export const usualEnding = (lines: ReadonlyArray<Line>): Ending => {
  let pairs = 0
  let single = 0
  for (const { ending } of lines) {
    if (ending === "\r\n") pairs++
    if (ending === "\n") single++
  }
  return pairs > single ? "\r\n" : "\n"
}

/** A new file: UTF-8 without a mark, each line ended. */
export const ofNew = (lines: ReadonlyArray<string>): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""))
