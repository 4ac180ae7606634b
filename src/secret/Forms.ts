/**
 * The forms that a secret can have in a text: as it is, and as it is written where a text of some syntax holds it. Pure.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"

/**
 * Shorter values are not looked for, in UTF-16 code units: they would be found inside ordinary words, and masking those would tell
 * the value as well as hide it. Nor is such a value much of a secret: it is guessed soon, or stands where a server wants a key and
 * looks at none (`ollama`, `none`).
 */
export const shortest = 8

/** A piece of a secret that a cut left at the border of a text counts from this length on. */
export const shortestPiece = 8

/** A line of a secret of several lines (a key file) is a secret of its own from this length on. */
const shortestLine = 16

/** Whether a value is long enough to be looked for. */
export const isFindable = (secret: string): boolean => secret.trim().length >= shortest

/** The forms of a secret, each once; none for one that is too short. */
export interface Forms {
  /** As it is, and as it stands in a text of some syntax. */
  readonly written: ReadonlySet<string>
  /** In hexadecimal and base64, which programs print with breaks in them. */
  readonly encoded: ReadonlySet<string>
}

export const formsOf = (secret: string): Forms => {
  const whole = secret.trim()
  const token = /^\S+\s+(\S.*)$/s.exec(whole)?.[1]
  const lines = whole
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !isFrame(line))
  const values = [
    secret,
    whole,
    ...(token === undefined ? [] : [token]),
    ...(whole.includes("\n") ? lines : [])
  ].filter(isFindable)
  return {
    written: longEnough(values.flatMap((value) => [value, ...written(value)])),
    encoded: longEnough(values.flatMap(encoded))
  }
}

const longEnough = (forms: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(forms.filter((form) => form.length >= shortest))

/** The first and last line of a key file, which every key file has. */
const isFrame = (line: string): boolean => /^-----[A-Z0-9 ]+-----$/.test(line)

/** As it stands in a text of some syntax. */
const written = (value: string): ReadonlyArray<string> => {
  const json = JSON.stringify(value).slice(1, -1)
  // Half of a surrogate pair has no URL form.
  const url = encodeURIComponent(value.toWellFormed())
  const strict = url.replace(/[!'()*~]/g, (character) => percent(character))
  const html = value.replace(/[&<>"']/g, (character) => entities[character] ?? character)
  return [
    json,
    json.replaceAll("/", "\\/"),
    ascii(json),
    JSON.stringify(json).slice(1, -1),
    ...[url, strict, encodeURI(value.toWellFormed())].flatMap((form) => [form, lower(form)]),
    ...[strict, lower(strict)].map((form) => form.replaceAll("%20", "+")),
    html
  ]
}

const encoded = (value: string): ReadonlyArray<string> => {
  const bytes = new TextEncoder().encode(value)
  const hex = Hex.encode(bytes)
  return [
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => [inside(bytes, offset, Base64.encode), inside(bytes, offset, Base64Url.encode)])
  ]
}

/** What the bytes become inside a longer text that begins `offset` bytes before them: only what they alone decide. */
const inside = (bytes: Uint8Array, offset: number, encode: (bytes: Uint8Array) => string): string => {
  const all = new Uint8Array(offset + bytes.length)
  all.set(bytes, offset)
  const first = Math.ceil((offset * 8) / 6)
  const last = Math.floor(((offset + bytes.length) * 8) / 6)
  const form = encode(all).slice(first, last)
  // A short one would be found by chance in any base64 text.
  return form.length >= shortestPiece ? form : ""
}

const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
const lower = (form: string): string => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}
