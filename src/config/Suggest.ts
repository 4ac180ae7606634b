/** "Did you mean …?": the known word nearest to a misspelled one. */

/**
 * The nearest candidate, if one is near enough to be meant: at most one slip in three letters. Case, `-` and `_` count for
 * nothing, and a part of a longer name (`level` for `log_level`) is nearly as good as the whole.
 */
export const nearest = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const wanted = plain(word)
  let best: string | undefined
  let bestDistance = Math.max(1, wanted.length / 3)
  for (const candidate of candidates) {
    const parts = candidate.split("_").filter((part) => part.length >= shortestPart)
    const distance = Math.min(
      editDistance(wanted, plain(candidate), bestDistance),
      ...parts.map((part) => editDistance(wanted, plain(part), bestDistance) + partPenalty)
    )
    if (distance < bestDistance || (distance === bestDistance && best === undefined)) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const shortestPart = 4
const partPenalty = 0.5

const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_\s]/g, "")

/**
 * Letters to add, drop, change or swap with their neighbour (optimal string alignment), three rows at a time. Words whose
 * lengths alone are more than `limit` apart are not looked at, so that a word of any length costs little.
 */
const editDistance = (left: string, right: string, limit: number): number => {
  if (Math.abs(left.length - right.length) > limit) return Infinity
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
