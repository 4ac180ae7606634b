/**
 * Masks known secrets in texts: in the log, and in what a provider says. Some providers, and many gateways, repeat the key or a
 * header of the request in their error messages, in whatever form it had there.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Redacted from "effect/Redacted"

/** What stands in place of a secret. */
export const mark = "[redacted]"

/** Shorter values are not looked for: they would be found inside ordinary words. */
const shortest = 4

/** A piece of a secret that a cut left at the border of a text counts from this length on. */
const shortestPiece = 8

/** A line of a secret of several lines (a key file) is a secret of its own from this length on. */
const shortestLine = 16

export interface Masker {
  /** From now on, this value is masked too. */
  readonly add: (secret: Redacted.Redacted<string>) => void
  /**
   * The text with every secret in it masked: as it is, as it stands in JSON, HTML, a URL, a form, hexadecimal and base64 (also
   * inside a longer base64 text), each line of a secret of several, and, for values such as `Bearer <key>`, the part after the
   * scheme alone. Mask before clipping.
   */
  readonly text: (text: string) => string
  /** The same for a piece of a longer text: half a secret at its beginning or end is masked as well. */
  readonly piece: (text: string) => string
}

export const make = (secrets: Iterable<Redacted.Redacted<string>>): Masker => {
  const known = new Set<string>()
  let forms: ReadonlyArray<string> = []
  let pattern: RegExp | undefined
  const learn = (secret: Redacted.Redacted<string>): boolean => {
    const value = Redacted.value(secret)
    if (value.trim().length < shortest || known.has(value)) return false
    known.add(value)
    return true
  }
  const rebuild = () => {
    // The longest first, so that no part of a longer one is left over.
    forms = [...new Set([...known].flatMap(formsOf))].toSorted((a, b) => b.length - a.length)
    pattern = forms.length === 0 ? undefined : new RegExp(forms.map(escape).join("|"), "g")
  }
  if ([...secrets].map(learn).includes(true)) rebuild()
  const text = (input: string) => (pattern === undefined ? input : input.replace(pattern, mark))
  return {
    add: (secret) => {
      if (learn(secret)) rebuild()
    },
    text,
    piece: (input) => withoutBorders(text(input), forms)
  }
}

const withoutBorders = (text: string, forms: ReadonlyArray<string>): string => {
  const end = longest(forms, (form, length) => text.endsWith(form.slice(0, length)))
  const head = end === 0 ? text : `${text.slice(0, -end)}${mark}`
  const start = longest(forms, (form, length) => head.startsWith(form.slice(-length)))
  return start === 0 ? head : `${mark}${head.slice(start)}`
}

const longest = (forms: ReadonlyArray<string>, stands: (form: string, length: number) => boolean): number => {
  let found = 0
  for (const form of forms) {
    for (let length = form.length - 1; length >= Math.max(shortestPiece, found + 1); length--) {
      if (stands(form, length)) found = length
    }
  }
  return found
}

const formsOf = (secret: string): ReadonlyArray<string> => {
  const whole = secret.trim()
  const token = /^\S+\s+(\S.*)$/s.exec(whole)?.[1]
  const lines = whole.split(/\r?\n/).filter((line) => line.trim().length >= shortestLine)
  return [secret, whole, ...(token === undefined ? [] : [token]), ...(lines.length > 1 ? lines : [])]
    .flatMap((value) => (value.length < shortest ? [] : [value, ...written(value), ...encoded(value)]))
    .filter((form) => form.length >= shortest)
}

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

const escape = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
