/**
 * Text that is safe to print on a terminal. What a model, a tool or a person in a chat wrote may hold escape sequences,
 * which could recolour, retitle, erase or answer in the terminal of whoever reads it; and characters that turn the
 * direction of writing round, so that one reads something else than what is there.
 */

/** Several lines: tabs and line ends stay, `\r\n` is one line end, everything else that is no text is made visible. */
export const lines = (text: string): string => text.replaceAll("\r\n", "\n").replace(invisible, visibleExceptSpace)

/** One line: line ends and tabs are made visible too. */
export const line = (text: string): string => text.replace(invisible, visible)

/** The first `width` characters of one line, with a mark where something was cut off. */
export const clipped = (text: string, width: number): string => {
  const safe = line(text)
  const characters = [...safe]
  return characters.length <= width ? safe : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`
}

/** A value as one line of JSON, for programs; what a terminal would act on, should one show it, is written as an escape. */
export const json = (value: unknown): string =>
  `${JSON.stringify(value).replace(invisible, (characters) => {
    const units = Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")
  })}\n`

// Controls (C0, DEL, C1) and lone surrogates; line and paragraph separators; marks, embeddings and isolates of direction; and
// tag characters, which spell out text that nobody sees, but for the few that make a flag.
const invisible =
  /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|(?<!\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6})[\u{e0000}-\u{e007f}]/gu

const visibleExceptSpace = (character: string): string =>
  character === "\n" || character === "\t" ? character : visible(character)

/** Controls have pictures of their own in Unicode; the rest is named. */
const visible = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
}
