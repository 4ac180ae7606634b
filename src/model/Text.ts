/**
 * Text as it may leave the program: well-formed Unicode without NUL. Strict JSON parsers refuse half of a surrogate
 * pair, and databases refuse NUL; one such string in a history would make every later request fail.
 */

/** Replaces halves of surrogate pairs by U+FFFD and drops NUL. */
export const clean = (text: string): string => text.replaceAll("\0", "").toWellFormed()

/** The same for every string in a JSON-like value, keys included. */
export const cleanDeep = (value: unknown): unknown => {
  if (typeof value === "string") return clean(value)
  if (Array.isArray(value)) return value.map(cleanDeep)
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), cleanDeep(item)]))
  }
  return value
}

/** At most `limit` UTF-16 units, never ending in half of a pair, with an ellipsis where something was cut. */
export const clip = (text: string, limit: number): string =>
  text.length <= limit ? clean(text) : `${clean(text.slice(0, Math.max(0, limit - 1)))}…`
