/** How wide text is on a terminal, and how to break it into rows that a terminal does not break again. */
import * as CliOutput from "effect/cli/CliOutput"

/** Columns that a text takes: two for most East Asian characters and emoji, none for combining marks. */
export const of = CliOutput.displayWidth

/** What a person takes for one character, which the cursor moves over at once. */
export const characters = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/**
 * Rows of at most `columns` that break between words; a word that has no room in a row of its own is broken. Rows that go on
 * begin under the text of their line, behind its indentation, its mark or its first column. Colours (SGR) take no room.
 */
export const wrap = (text: string, columns: number): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => wrapLine(line, Math.max(2, columns)))

const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  if (!line.includes("\t") && of(line) <= columns) return [line]
  const found: Array<string> = []
  const indent = hangOf(line, columns)
  let row = ""
  let width = 0
  let spaces = ""
  // Whether the row has more than its indentation.
  let begun = false
  const end = () => {
    found.push(row)
    row = " ".repeat(indent)
    width = indent
    spaces = ""
    begun = false
  }
  const put = (piece: string, taken: number) => {
    row += spaces + piece
    width += spaces.length + taken
    spaces = ""
    begun = true
  }
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.startsWith("\u001b")) row += piece
    else if (piece === "\t") spaces += " ".repeat(8 - ((width + spaces.length) % 8))
    else if (piece.startsWith(" ")) spaces += piece
    else {
      for (const word of wordsOf(piece)) {
        if (begun && width + spaces.length + of(word) > columns) end()
        if (width + spaces.length + of(word) <= columns) put(word, of(word))
        else
          for (const character of characters(word)) {
            const taken = of(character)
            if (begun && width + spaces.length + taken > columns) end()
            put(character, taken)
          }
      }
    }
  }
  const rest = Math.max(0, columns - width)
  return [...found, row + spaces.slice(0, rest)]
}

const pieces = /\t| +|\p{Cc}\[[\d;]*m|[^\p{Cc} ]+|\p{Cc}/gu

/** Where no spaces are written between words, a row may end after each character. */
const wordsOf = (piece: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  let word = ""
  for (const character of characters(piece)) {
    if (of(character) < 2) word += character
    else {
      if (word !== "") words.push(word)
      words.push(character)
      word = ""
    }
  }
  return word === "" ? words : [...words, word]
}

const hangOf = (line: string, columns: number): number => {
  const plain = line.replaceAll(/\p{Cc}\[[\d;]*m/gu, "")
  const column = of(/^\S+(?: \S+)? {2,}(?=\S)/u.exec(plain)?.[0] ?? "")
  const mark = of(/^ *(?:(?:[›✓✗…?•*-]|\d+[.)]) +)?/u.exec(plain)?.[0] ?? "")
  const hang = Math.max(column, mark)
  return hang <= columns / 2 ? hang : 0
}

/** Rows of at most `columns`, with line ends as they are. Words are not kept together: what is typed must not jump. */
export const rows = (text: string, columns: number): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => rowsOfLine(line, Math.max(2, columns)))

const rowsOfLine = (line: string, columns: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let row = ""
  let width = 0
  for (const character of characters(line)) {
    const shown = character === "\t" ? " ".repeat(8 - (width % 8)) : character
    const more = of(shown)
    if (width + more > columns) {
      found.push(row)
      row = ""
      width = 0
    }
    row += shown
    width += more
  }
  return [...found, row]
}
