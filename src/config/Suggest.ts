/** "Did you mean …?": the known word nearest to a misspelled one. */

/** The nearest candidate, if one is near enough to be meant. Case, `-` and `_` count for nothing. */
export const nearest = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const wanted = plain(word)
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of candidates) {
    const known = plain(candidate)
    if (Math.abs(known.length - wanted.length) >= bestDistance) continue
    const distance = editDistance(wanted, known)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_\s]/g, "")

/** Letters to add, drop, change or swap with their neighbour (optimal string alignment), three rows at a time. */
const editDistance = (left: string, right: string): number => {
  let beforePrevious: ReadonlyArray<number> = []
  let previous: ReadonlyArray<number> = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1]
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      row.push(
        Math.min(
          (row[j - 1] ?? 0) + 1,
          (previous[j] ?? 0) + 1,
          (previous[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (beforePrevious[j - 2] ?? 0) + 1 : Infinity
        )
      )
    }
    beforePrevious = previous
    previous = row
  }
  return previous[right.length] ?? Infinity
}
