/**
 * Masks known secrets in whatever leaves: texts, pieces of texts, streams of text and of bytes. What is known is looked for by
 * its value, in every form it may have been written in; no list of prefixes, and no guess by the names of fields, which is what
 * `tool/Redaction` does.
 */
import * as Redacted from "effect/Redacted"
import * as Forms from "./Forms.ts"
import * as Masking from "./Masking.ts"
import * as Matcher from "./Matcher.ts"

export interface Masker {
  /** From now on, this value is masked too. */
  readonly add: (secret: Redacted.Redacted<string>) => void
  /**
   * The text with every secret in it masked: as it is, as it stands in JSON, HTML, a URL, a form, hexadecimal and base64 (also
   * inside a longer base64 text; both also where they are cut into lines, or printed as a dump), each line of a secret of several, and, for values such as `Bearer <key>`, the part after the
   * scheme alone. Mask before clipping.
   */
  readonly text: (text: string) => string
  /** The same for a piece of a longer text: half a secret at its beginning or end is masked as well. */
  readonly piece: (text: string) => string
  /** The same for a text that comes in pieces, wherever they begin and end. */
  readonly texts: () => Masking.Masking<string>
  /** The same for bytes, in which secrets stand as UTF-8. */
  readonly bytes: () => Masking.Masking<Uint8Array>
}

export const make = (secrets: Iterable<Redacted.Redacted<string>>): Masker => {
  const known = new Set<string>()
  let automata = automataOf(known)

  const learn = (secret: Redacted.Redacted<string>): boolean => {
    const value = Redacted.value(secret)
    if (!Forms.isFindable(value) || known.has(value)) return false
    known.add(value)
    return true
  }
  const relearn = (more: Iterable<Redacted.Redacted<string>>): void => {
    if (Array.from(more, learn).includes(true)) automata = automataOf(known)
  }
  relearn(secrets)

  const text = (input: string): string => {
    if (known.size === 0 || input.length < Forms.shortest) return input
    // Nearly every text holds none, and is given back as it is.
    if (!holds(automata.units(), Masking.text.symbols(input))) return input
    return maskedWhole(Masking.make(Masking.text, automata.units), input, false)
  }
  return {
    add: (secret) => relearn([secret]),
    text,
    piece: (input) => {
      if (known.size === 0) return input
      const hidden = lengthOfEnd(automata.reversed(), input)
      return maskedWhole(Masking.make(Masking.text, automata.units, hidden), input, true)
    },
    texts: () => Masking.make(Masking.text, () => (known.size === 0 ? undefined : automata.units())),
    bytes: () => Masking.make(Masking.bytes, () => (known.size === 0 ? undefined : automata.bytes()))
  }
}

const maskedWhole = (masking: Masking.Masking<string>, input: string, cut: boolean): string =>
  `${masking.take(input)}${masking.rest({ cut })}`

/** What the matchers are built from; each when it is first needed. */
const automataOf = (known: ReadonlySet<string>) => {
  const all = Array.from(known, Forms.formsOf)
  const written = new Set(all.flatMap((forms) => Array.from(forms.written)))
  const encoded = new Set(all.flatMap((forms) => Array.from(forms.encoded)))
  const matcher = (symbolsOf: (form: string) => Matcher.Symbols) =>
    once(() => Matcher.make(Array.from(written, symbolsOf), Array.from(encoded, symbolsOf)))
  const encoder = new TextEncoder()
  return {
    units: matcher(Masking.text.symbols),
    reversed: matcher((form) => Masking.text.symbols(form).toReversed()),
    bytes: matcher((form) => encoder.encode(form))
  }
}

const once = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

const holds = (matcher: Matcher.Matcher, symbols: Matcher.Symbols): boolean => {
  let found = false
  matcher.start().scan(symbols, 0, () => {
    found = true
  })
  return found
}

/** How much of the beginning of a text is the end of a secret whose beginning a cut took away; 0 when it is too little to matter. */
const lengthOfEnd = (reversed: Matcher.Matcher, input: string): number => {
  // With as many breaks as usual: the bytes of a dump have one each.
  const beginning = Masking.text.symbols(input.slice(0, reversed.longest * 2)).toReversed()
  const cursor = reversed.start()
  cursor.scan(beginning, 0, () => {})
  return cursor.known() >= Forms.shortestPiece ? cursor.pending() : 0
}
