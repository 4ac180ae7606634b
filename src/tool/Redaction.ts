/**
 * What must not be seen: values under keys that name secrets, and characters that make a text look like another one.
 *
 * This is a guess by names, for secrets that nobody told the process. Those that it holds are known by their value wherever they stand:
 * `secret/KnownSecrets`.
 */

const mask = "***"

const secretParts = [
  "token",
  "secret",
  "password",
  "passwd",
  "passphrase",
  "pwd",
  "apikey",
  "accesskey",
  "privatekey",
  "credential",
  "authorization",
  "header",
  "cookie",
  "env",
  "bearer"
]

/** Whether a value under this key is never shown. Compared without case, and without `_`, `-`, `.` and spaces. */
export const isSecretKey = (key: string): boolean => {
  const plain = key
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "")
  return secretParts.some((part) => plain.includes(part))
}

/** Masks credentials in addresses: user name and password, and query parameters whose name is a secret's. */
export const inAddresses = (text: string): string =>
  text
    .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@]{1,400}@/gi, `$1${mask}@`)
    .replace(/([?&#;])([^=&\s#;]{1,200})=([^&\s#;]+)/g, (whole: string, start: string, name: string) =>
      isSecretKey(decodePercent(name)) ? `${start}${name}=${mask}` : whole
    )

/**
 * Masks whatever looks like a secret in a text, by guess: addresses, `name: value` and `name=value` whose name is a
 * secret's, and the value after an option such as `--token`. Not for texts that a person decides on: what is masked could
 * be what matters.
 */
export const inText = (text: string): string =>
  inAddresses(text).replace(assignment, (_whole, name: string, between: string) => `${name}${between}${mask}`)

/** The text up to the first name of a secret: for texts that are too broken to know where a value ends. */
export const cutAtSecret = (text: string): string => {
  const plain = text.normalize("NFKC")
  const found = secretName.exec(plain)
  return found === null ? text : `${plain.slice(0, found.index)}${found[0]} ${mask}`
}

/**
 * The same text on one line, with everything that is invisible or that changes the order of what is shown written as an
 * escape: control, format, surrogate and unassigned characters, line and paragraph separators, invisible fillers.
 */
export const visible = (text: string): string =>
  text.replace(
    unseen,
    (character) => shortNames.get(character) ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  )

/** At most `limit` UTF-16 units, with an ellipsis where something was cut, never in the middle of a character. */
export const clip = (text: string, limit: number): string =>
  text.length <= limit ? text : `${head(text, Math.max(0, limit - 1))}…`

/** The first `length` units, or one fewer where the last would be half of a pair. */
export const head = (text: string, length: number): string =>
  text.slice(0, isInsidePair(text, length) ? length - 1 : length)

/** The last `length` units, or one fewer where the first would be half of a pair. */
export const tail = (text: string, length: number): string => {
  const from = Math.max(0, text.length - length)
  return text.slice(isInsidePair(text, from) ? from + 1 : from)
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const names =
  "token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie"
/** The parts as `isSecretKey` finds them: with other signs between their letters, too. */
const secretName = new RegExp(secretParts.map((part) => Array.from(part).join("[^\\p{L}\\p{N}]*")).join("|"), "iu")
const assignment = new RegExp(
  `((?:${names})[\\w.-]{0,60}["']?)(\\s*[=:]\\s*(?:(?:bearer|basic|token)\\s+)?|(?<=--[\\w-]{1,80})\\s+)` +
    `("[^"]*"?|'[^']*'?|[^\\s&"',;]+)`,
  "gi"
)

const unseen = /[\p{C}\p{Zl}\p{Zp}]|\p{DI}(?<![\ufe0e\ufe0f])/gu
const shortNames: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

const decodePercent = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const isInsidePair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))
