/** Text out of the bytes of a file, whoever saved it. Pure. */
import * as Result from "effect/Result"

export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

export interface FileText {
  readonly text: string
  readonly encoding: Encoding
  /** NUL characters, which stand as ␀ in the text: they would end it for many readers. */
  readonly nuls: number
}

/** What the mark at the beginning of a file says of its encoding; UTF-8 where there is none. `length` of the mark in bytes. */
export const marked = (bytes: Uint8Array): { readonly encoding: Encoding; readonly length: number } => {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: "utf-8", length: 3 }
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", length: 2 }
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", length: 2 }
  return { encoding: "utf-8", length: 0 }
}

/**
 * The text, without its mark. `partial`: the file goes on behind these bytes, so a character that is cut off is left out. Fails
 * with what the file seems to be.
 */
export const read = (bytes: Uint8Array, partial: boolean): Result.Result<FileText, string> => {
  const { encoding, length } = marked(bytes)
  const body = bytes.subarray(length)
  const text = decode(encoding, body, partial)
  if (text === undefined) return Result.fail(guess(body))
  const nuls = countOf(text, "\0")
  // Text has a NUL now and then, where a program was interrupted. What has many is none.
  if (nuls > 0 && nuls * 8 > text.length) return Result.fail(guess(body))
  return Result.succeed({ text: nuls === 0 ? text : text.replaceAll("\0", "\u2400"), encoding, nuls })
}

const decode = (encoding: string, bytes: Uint8Array, partial: boolean): string | undefined => {
  // Never fails: what is no text has this character in it where it cannot be read, and a text may have it as well.
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes, { stream: partial })
  return text.includes("\u{FFFD}") && !isExact(encoding, text, bytes) ? undefined : text
}

/** Whether the replacement characters of a text were in its bytes. */
const isExact = (encoding: string, text: string, bytes: Uint8Array): boolean =>
  encoding === "utf-8" && countOf(text, "\u{FFFD}") === countOfBytes(bytes, 0xef, 0xbf, 0xbd)

const countOf = (text: string, part: string): number => text.split(part).length - 1

const countOfBytes = (bytes: Uint8Array, first: number, second: number, third: number): number => {
  let count = 0
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (bytes[at + 1] === second && bytes[at + 2] === third) count++
  }
  return count
}

/** What bytes that are no UTF-8 text seem to be, with its article. */
const guess = (bytes: Uint8Array): string => {
  const sample = bytes.subarray(0, 4096)
  const zeros = { even: 0, odd: 0 }
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at % 2 === 0 ? "even" : "odd"]++
  const most = sample.length / 4
  if (zeros.odd > most && zeros.even === 0) return "UTF-16 (little endian) without a mark"
  if (zeros.even > most && zeros.odd === 0) return "UTF-16 (big endian) without a mark"
  if (zeros.even + zeros.odd > 0 || sample.some(isControl)) return "no text at all, but binary data"
  return isPaired(sample)
    ? "text in an encoding of two bytes for a character, such as GBK or Shift_JIS"
    : "text in an encoding of one byte for a character, such as Latin-1 or Windows-1252"
}

const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 27)

/** Whether bytes beyond ASCII come in pairs. */
const isPaired = (bytes: Uint8Array): boolean => {
  let runs = 0
  let odd = 0
  let run = 0
  for (const byte of [...bytes, 0]) {
    if (byte > 0x7f) run++
    else if (run > 0) {
      runs++
      odd += run % 2
      run = 0
    }
  }
  return runs > 0 && odd === 0
}
