/** Which character encoding a body has: what its first bytes say, then its head, then the page itself; UTF-8 otherwise. */
import * as Result from "effect/Result"

/** Bytes of a page in which it may say what it is. */
const prescan = 1024

/** The text of a body. Bytes that are no characters become U+FFFD; nothing fails. */
export const decode = (bytes: Uint8Array, contentType: string | undefined, isPage: boolean): string => {
  const labels = [marked(bytes), inHeader(contentType), isPage ? inPage(bytes) : undefined]
  const decoder = labels.flatMap((label) => (label === undefined ? [] : (decoderOf(label) ?? [])))[0]
  return (decoder ?? new TextDecoder()).decode(bytes)
}

/** Undefined for a label that nobody knows. */
const decoderOf = (label: string): TextDecoder | undefined =>
  Result.getOrUndefined(Result.try(() => new TextDecoder(label)))

const marked = (bytes: Uint8Array): string | undefined => {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined
}

const inHeader = (contentType = ""): string | undefined => /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]

/** A page whose words can be read as ASCII is in no encoding of two bytes, whatever it says. */
const inPage = (bytes: Uint8Array): string | undefined => {
  const start = Array.from(bytes.subarray(0, prescan), (byte) => String.fromCharCode(byte)).join("")
  const said = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(start)?.[1]
  return said !== undefined && /^utf-?16/i.test(said) ? "utf-8" : said
}
