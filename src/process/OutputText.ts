/** Text out of what a program wrote. Nothing is refused: what is not text becomes U+FFFD, and a terminal's commands are left out. */
import type * as OutputBuffer from "./OutputBuffer.ts"

/** What was kept, as text; where something was left out, a line of its own says how much. */
export const decode = ({ head, omitted, tail }: OutputBuffer.Captured): string => {
  const encoding = encodingOf(head)
  const text = (bytes: Uint8Array) => new TextDecoder(encoding).decode(bytes)
  if (omitted === 0 || tail.length === 0) {
    const all = text(joined(head, tail))
    return plain(omitted === 0 ? all : `${all}\n${leftOut(omitted)}\n`)
  }
  const [first, last] =
    encoding === "utf-8" ? [withoutHalfEnd(head), withoutHalfStart(tail)] : [head, evenTail(head, omitted, tail)]
  const lost = omitted + head.length - first.length + tail.length - last.length
  return plain(`${text(first)}\n${leftOut(lost)}\n${text(last)}`)
}

const leftOut = (bytes: number): string => `[… ${bytes} bytes left out …]`

/** A byte order mark tells; without one, a text whose every second byte is zero is no UTF-8. */
const encodingOf = (head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" => {
  const [first, second] = head
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  const sample = head.subarray(0, 512)
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const many = sample.length * 0.4
  if (sample.length >= 4 && odd >= many && even === 0) return "utf-16le"
  return sample.length >= 4 && even >= many && odd === 0 ? "utf-16be" : "utf-8"
}

const joined = (head: Uint8Array, tail: Uint8Array): Uint8Array => {
  const all = new Uint8Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}

/** So that each pair of bytes stays together. */
const evenTail = (head: Uint8Array, omitted: number, tail: Uint8Array): Uint8Array =>
  (head.length + omitted) % 2 === 0 ? tail : tail.subarray(1)

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Without the beginning of a character whose rest was left out. */
const withoutHalfEnd = (bytes: Uint8Array): Uint8Array => {
  let start = bytes.length - 1
  while (start >= 0 && bytes.length - start < 4 && isContinuation(bytes[start])) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return bytes.length - start < length ? bytes.subarray(0, start) : bytes
}

const withoutHalfStart = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start++
  return bytes.subarray(start)
}

/**
 * Text that stands for itself wherever it is shown: without colours, cursor movements, window titles and links of a terminal,
 * and without control characters but tab and the ends of lines. A line that was drawn over and over keeps its last form.
 */
const plain = (text: string): string =>
  text.replace(escapeSequence, "").split("\n").map(lastDrawn).join("\n").replace(control, "\uFFFD")

/** A progress line begins anew at each carriage return. */
const lastDrawn = (line: string): string => {
  const drawn = line.endsWith("\r") ? line.replace(/\r{1,9}$/, "") : line
  return drawn.slice(drawn.lastIndexOf("\r") + 1)
}

const [bell, escape, stringEnd] = ["\u0007", "\u001b", "\u009c"]

// In order: a string of the terminal (OSC, DCS, SOS, PM, APC) up to its end, or to that of its line when it has none; a command
// (CSI) with its parameters; any other escape.
const escapeSequence = new RegExp(
  [
    String.raw`(?:${escape}[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^${bell}${escape}${stringEnd}\n]*(?:${bell}|${escape}\\|${stringEnd})?`,
    String.raw`(?:${escape}\[|\u009b)[0-?]*[ -/]*[@-~]?`,
    String.raw`${escape}[ -/]*[0-~]?`
  ].join("|"),
  "g"
)
const control = /(?![\t\n])\p{Cc}/gu
