/**
 * The words of a text, as notes are found by them. What is saved and what is looked for go through the same functions, so
 * that a text finds itself whatever it is written in, and nothing that somebody types means anything to a database.
 */

/** Words looked at in one query; the rest is ignored. */
const mostTerms = 32

/** White space as single spaces, none at the ends. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** What two titles have in common that count as the same. */
export const titleKey = (title: string): string => oneLine(title.normalize("NFKC").toLowerCase().normalize("NFKC"))

/** All words in order, in the form in which they are compared. */
export const words = (text: string): ReadonlyArray<string> => fold(text).match(word) ?? []

/** One thing that is looked for: words that stand next to each other, as those of `state-of-the-art` do. */
export interface Term {
  readonly words: ReadonlyArray<string>
  /** Whether the last word may go on. */
  readonly prefix: boolean
}

/** What a query asks for: notes with `all` of the terms; where there are none, notes with `some` of them. */
export interface Query {
  readonly all: ReadonlyArray<Term>
  readonly some: ReadonlyArray<Term>
}

/** The terms of what somebody typed; none when it holds neither letter nor digit. */
export const query = (text: string): Query => {
  const parts = text.split(/\s+/).map(words)
  const asked = parts.filter((part) => part.length > 0).slice(0, mostTerms)
  const last = asked.length - 1
  // A word that is still being typed is the last one, and only if nothing comes after it.
  const typing = /[\p{L}\p{N}\p{M}]$/u.test(text.trimEnd())
  return {
    all: asked.map((part, index) => ({ words: part, prefix: typing && index === last && canGoOn(part) })),
    some: asked.flatMap(pieces).slice(0, mostTerms)
  }
}

/** Where no spaces are written, single letters say little and the whole text too much: its pairs are looked for. */
const pieces = (part: ReadonlyArray<string>): ReadonlyArray<Term> =>
  part.length > 1 && part.every(isUnspaced)
    ? Array.from({ length: part.length - 1 }, (_, index) => ({ words: part.slice(index, index + 2), prefix: false }))
    : part.map((one) => ({ words: [one], prefix: canGoOn([one]) }))

const canGoOn = (part: ReadonlyArray<string>): boolean => {
  const last = part.at(-1) ?? ""
  return last.length > 1 && !isUnspaced(last)
}

/** Case, width and accents of Latin, Greek and Cyrillic letters do not matter. */
const fold = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .replaceAll("ς", "σ")
    .normalize("NFC")

/** Scripts that are written without spaces, or whose words carry endings: each letter is a word. */
const unspaced = String.raw`(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]\p{M}*`
const word = new RegExp(`${unspaced}|(?:(?!${unspaced})[\\p{L}\\p{N}\\p{M}])+`, "gu")
const onlyUnspaced = new RegExp(`^${unspaced}$`, "u")

const isUnspaced = (text: string): boolean => onlyUnspaced.test(text)
