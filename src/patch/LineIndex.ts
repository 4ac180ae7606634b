/**
 * Where lines of a patch occur in a file. The lines of the file are looked at once for each way of comparing, whatever number of hunks
 * there are; then a run of lines is looked for at the places of its rarest line. What it costs is counted and bounded. Pure.
 */

/** How strictly lines are compared, strictest first. */
export const levels = ["exact", "trailing_whitespace", "whitespace", "typography"] as const
export type Level = (typeof levels)[number]

/** What is the same for all lines that are the same at a level. */
const keys: Readonly<Record<Level, (line: string) => string>> = {
  exact: (line) => line,
  trailing_whitespace: (line) => line.trimEnd(),
  whitespace: (line) => line.trim(),
  typography: (line) => fold(line.trim())
}

const fold = (line: string): string => (/^\p{ASCII}*$/u.test(line) ? line : folded(line).trim())

const folded = (line: string): string =>
  line
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/\u2026/g, "...")
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ")

/** Looks at lines that are left; below 0 the search gave up. */
export interface Budget {
  left: number
}

export interface Range {
  /** The first line that a match may begin on, and the last one, from 0. */
  readonly from: number
  readonly to: number
}

export interface LineIndex {
  /** Lines on which all of `wanted` begins, in order, at most `most` of them. `wanted` is not empty. */
  readonly find: (level: Level, wanted: ReadonlyArray<string>, range: Range, most: number) => ReadonlyArray<number>
  /** How many of the lines of `wanted` are the same from line `at` on. */
  readonly agreeing: (level: Level, wanted: ReadonlyArray<string>, at: number) => number
}

/** `patterns`: every line that is going to be looked for. */
export const make = (lines: ReadonlyArray<string>, patterns: Iterable<string>, budget: Budget): LineIndex => {
  const known = new Set(patterns)
  const made = new Map<Level, Occurrences>()

  const at = (level: Level): Occurrences => {
    const occurrences = made.get(level) ?? occurrencesOf(lines, known, keys[level])
    if (!made.has(level)) budget.left -= lines.length + known.size
    made.set(level, occurrences)
    return occurrences
  }

  const sameFrom = ({ idOf, ids }: Occurrences, wanted: ReadonlyArray<string>, start: number): number => {
    let count = 0
    while (count < wanted.length && ids[start + count] === idOf(wanted[count] ?? "")) count++
    budget.left -= count + 1
    return count
  }

  return {
    find: (level, wanted, { from, to }, most) => {
      const occurrences = at(level)
      const places = wanted.map((line) => occurrences.placesOf(line))
      budget.left -= wanted.length
      const rarest = places.reduce(
        (best, place, index) => (place.length < (places[best]?.length ?? 0) ? index : best),
        0
      )
      const candidates = places[rarest] ?? []
      const found: Array<number> = []
      for (let next = firstAtLeast(candidates, from + rarest); next < candidates.length; next++) {
        const start = (candidates[next] ?? 0) - rarest
        if (start > to || found.length === most || budget.left < 0) break
        if (sameFrom(occurrences, wanted, start) === wanted.length) found.push(start)
      }
      return found
    },
    agreeing: (level, wanted, start) => sameFrom(at(level), wanted, start)
  }
}

interface Occurrences {
  /** For each line of the file what it is; -1 for one that no pattern is. */
  readonly ids: Int32Array
  readonly idOf: (line: string) => number
  readonly placesOf: (line: string) => ReadonlyArray<number>
}

const occurrencesOf = (
  lines: ReadonlyArray<string>,
  patterns: ReadonlySet<string>,
  key: (line: string) => string
): Occurrences => {
  const idByKey = new Map<string, number>()
  const idByLine = new Map<string, number>()
  for (const pattern of patterns) {
    const id = idByKey.get(key(pattern)) ?? idByKey.size
    idByKey.set(key(pattern), id)
    idByLine.set(pattern, id)
  }
  const places = Array.from(idByKey, (): Array<number> => [])
  const ids = Int32Array.from(lines, (line, at) => {
    const id = idByKey.get(key(line)) ?? -1
    places[id]?.push(at)
    return id
  })
  const idOf = (line: string) => idByLine.get(line) ?? -2
  return { ids, idOf, placesOf: (line) => places[idOf(line)] ?? [] }
}

/** The index of the first number that is at least `least`, in numbers that ascend. */
const firstAtLeast = (numbers: ReadonlyArray<number>, least: number): number => {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}
