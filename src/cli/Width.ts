/** How wide text is on a terminal, and how to break it into rows that a terminal does not break again. */
import * as CliOutput from "effect/cli/CliOutput"

/** Columns that a text takes: two for most East Asian characters and emoji, none for combining marks. */
export const of = CliOutput.displayWidth

/** What a person takes for one character, which the cursor moves over at once. */
export const characters = (text: string): ReadonlyArray<string> =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Rows of at most `columns`, with line ends as they are. Words are not kept together: what streams in must not jump. */
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
