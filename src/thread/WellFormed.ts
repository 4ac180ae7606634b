/**
 * Text that can be stored and sent on.
 *
 * A lone surrogate (half of an emoji cut in two) has no UTF-8 form, and a NUL ends a string for many readers: one of them in
 * a stored text would make every later request of its thread fail. Both are taken out once, where text enters the store.
 */

/** Lone surrogates become U+FFFD, NULs go. Everything else, control characters and U+2028 included, stays. */
export const text = (value: string): string => {
  const wellFormed = value.isWellFormed() ? value : value.toWellFormed()
  return wellFormed.includes("\u0000") ? wellFormed.replaceAll("\u0000", "") : wellFormed
}

/**
 * The same for every string inside a JSON text, keys included. The text must be `JSON.stringify`'s: it writes a surrogate as
 * an escape only when it is a lone one, so one search finds whether there is anything to do.
 */
export const json = (value: string): string =>
  suspicious.test(value) ? value.replace(escapes, (escape) => replacementOf(escape)) : value

const suspicious = /\\u(?:0000|d[89a-f])/
// Any escape is matched, so that the `u0000` after an escaped backslash is never taken for an escape itself.
const escapes = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g

const replacementOf = (escape: string): string =>
  escape === "\\u0000" ? "" : escape.startsWith("\\ud") ? "\ufffd" : escape
