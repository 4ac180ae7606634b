/** Looking for words in pages. */

export interface Page {
  readonly page: string
  readonly title: string
  readonly text: string
}

export interface Hit {
  readonly page: string
  /** Lines with all the words. */
  readonly matches: number
  readonly snippets: ReadonlyArray<string>
}

const mostHits = 8
const mostSnippets = 3
const snippetChars = 200

/** The pages with a line that has all the words, most such lines first. Case does not matter. */
export const search = (pages: Iterable<Page>, query: string): ReadonlyArray<Hit> => {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  if (words.length === 0) return []
  return Array.from(pages, ({ page, text }): Hit => {
    const lines = text.split("\n").filter((line) => {
      const lower = line.toLowerCase()
      return words.every((word) => lower.includes(word))
    })
    return { page, matches: lines.length, snippets: lines.slice(0, mostSnippets).map((line) => around(line, words[0])) }
  })
    .filter(({ matches }) => matches > 0)
    .toSorted((one, other) => other.matches - one.matches)
    .slice(0, mostHits)
}

/** The part of a long line where the word is. */
const around = (line: string, word = ""): string => {
  const whole = line.trim()
  const at = whole.toLowerCase().indexOf(word)
  const start = Math.max(0, Math.min(at - snippetChars / 4, whole.length - snippetChars))
  return whole.slice(start, start + snippetChars).toWellFormed()
}
