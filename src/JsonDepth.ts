/**
 * How deeply a JSON text is nested, found without parsing it. A parser builds every level before anybody can refuse them: eight
 * megabytes of brackets take it seconds, in one step, and a hundred times their size in memory.
 */

/** Objects and lists inside each other that anything from outside may have: clients need some ten, and what judges fields goes as deep. */
export const deepest = 64

/** Whether more than `limit` objects and lists stand inside each other. One pass, no memory; texts that are no JSON are not refused. */
export const exceeds = (text: string, limit: number = deepest): boolean => {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case openList:
      case openObject:
        depth++
        if (depth > limit) return true
        break
      case closeList:
      case closeObject:
        depth--
        break
    }
  }
  return false
}

/** Where the string ends that begins at this quote; the end of the text for one that does not. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

const isEscaped = (text: string, at: number): boolean => {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

const quote = 0x22
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
