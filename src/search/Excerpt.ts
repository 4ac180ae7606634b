/** The part of a line that is shown: all of it, or what is around the match. */

export interface Excerpt {
  readonly text: string
  /** Where it begins in the line, in bytes of UTF-8. */
  readonly skipped: number
  readonly isCut: boolean
}

/** UTF-16 units of a line that are shown, and of them those before the match. */
const longest = 400
const lead = 100

/** `match` is where the match begins, in UTF-16 units. */
export const of = (line: string, match: number): Excerpt => {
  if (line.length <= longest) return { text: line, skipped: 0, isCut: false }
  const start = whole(line, Math.max(0, Math.min(match - lead, line.length - longest)))
  const text = line.slice(start, whole(line, start + longest))
  return { text, skipped: bytesOf(line.slice(0, start)), isCut: true }
}

/** The place, or the one before it where it would part a character. */
const whole = (line: string, at: number): number => (isSecondHalf(line.charCodeAt(at)) ? at - 1 : at)

const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength
