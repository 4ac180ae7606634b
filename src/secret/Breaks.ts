/**
 * Follows patterns over the breaks that a program puts into them when it prints them: `base64` after so many characters, `xxd -p` too, `od`
 * between bytes, `xxd` and `hexdump -C` with the address of a row before it and its text behind it, `cat -n` and `grep -n` with the number of
 * a line. Each symbol is looked at a bounded number of times. Pure but for its own state.
 *
 * It follows two readings of the text: the one without breaks, from the first break inside of a pattern to where none of what may be a
 * pattern has a break in it; and the one without what stands between rows either, where a row began like an address.
 */

/** What the automaton of the patterns knows. Nodes are numbered; 0 is the root. */
export interface Graph {
  readonly next: (node: number, symbol: number) => number
  readonly depths: Int32Array
  /** The last symbol of the way to a node. */
  readonly symbols: Int32Array
  /** For each node the longest end of its way that begins a pattern which may be broken. */
  readonly begun: Int32Array
  /** The longest pattern that may be broken and ends at a node, or 0. */
  readonly complete: Int32Array
  readonly longest: number
}

/** Of those that end before `end`, the longest begins at `start`; both count from the beginning of the sequence. */
type Found = (start: number, end: number) => void

export interface Breaks {
  /** Whether there is anything to follow. */
  readonly follows: () => boolean
  /** Looks at the symbol at a place. `node` is where the automaton stands before it; a break is where following begins. */
  readonly step: (symbol: number, place: number, node: number, found: Found) => void
  /** How many symbols before a place may belong to a pattern that is not complete yet. */
  readonly pending: (place: number) => number
  /** How many of these are symbols of the pattern, and no break. */
  readonly known: () => number
}

const tab = 9
const lineFeed = 10
const carriageReturn = 13
const space = 32
const colon = 58
const backslash = 92
const bar = 124

/** What a break is made of: also a line break as JSON writes it, and the colons between bytes that some print. */
export const signs: ReadonlyArray<number> = [tab, lineFeed, carriageReturn, space, colon, backslash]
/** What may follow a backslash in a break. */
export const escapes: ReadonlyArray<number> = [110, 114, 116]

/** What the number of a row is made of. */
export const digits: ReadonlyArray<number> = Array.from("0123456789abcdefABCDEF", (digit) => digit.charCodeAt(0))

const isSign = new Uint8Array(0x10000)
for (const sign of signs) isSign[sign] = 1
export const isBreak = (symbol: number): boolean => isSign[symbol] === 1

/** Longer ones are none. */
const longestBreak = 24
/** The text behind a row and the address before the next one, together, are no longer. */
const longestBetweenRows = 96
const longestNumber = 12

/** A stretch without a break: where it begins in the text without breaks, and where it does in the text. */
interface Stretch {
  readonly bare: number
  readonly place: number
  before: Stretch | undefined
}

/** A reading of the text, up to some place. It follows nothing while its node is the root. */
interface Reading {
  node: number
  /** How many symbols it has. */
  bare: number
  /** The newest of them. */
  stretch: Stretch
  /** How many there are. */
  stretches: number
  /** How long the break is that this is in; 0 outside of one. */
  broken: number
  /** The symbol before, in a break. */
  last: number
  /** Whether it went on at the beginning of this row, and nothing of the row is read yet: it does not wait for another one. */
  fresh: boolean
}

const nothing = (): Reading => ({
  node: 0,
  bare: 0,
  stretch: { bare: 0, place: 0, before: undefined },
  stretches: 1,
  broken: 0,
  last: 0,
  fresh: false
})

/** What waits at the end of a row for the next one. */
interface Waiting {
  readonly reading: Reading
  /** For how many symbols. */
  waited: number
  /** How many digits the next row began with; -1 before it. */
  digits: number
}

export const make = ({ begun, complete, depths, longest, next, symbols }: Graph): Breaks => {
  /** Without breaks. */
  let lines = nothing()
  /** Without what stands between rows. */
  let rows = nothing()
  let waiting: Waiting | undefined
  /** How much more of a row may be the text of what was found in it. */
  let rest = 0

  const depthOf = ({ node }: Reading): number => depths[node] ?? 0

  const begin = (from: number, place: number): void => {
    const node = begun[from] ?? 0
    const bare = depths[node] ?? 0
    if (node !== 0) lines = { ...nothing(), node, bare, stretch: { bare: 0, place: place - bare, before: undefined } }
  }

  const wait = (reading: Reading, symbol: number): void => {
    const columnEnds =
      symbol === space && reading.last === space && depthOf(reading) > 1 && isHex(symbols[reading.node] ?? 0)
    if (reading.fresh || (symbol !== lineFeed && !columnEnds)) return
    const isBetweenRows = waiting !== undefined && waiting.digits >= 0
    if (columnEnds && isBetweenRows) return
    if (waiting !== undefined && depthOf(reading) < depthOf(waiting.reading)) return
    waiting = { reading: { ...reading }, waited: 0, digits: symbol === lineFeed ? 0 : -1 }
  }

  /** Looks for the beginning of the next row, where what waits goes on. */
  const look = (symbol: number, then: Waiting): void => {
    then.waited++
    if (symbol === lineFeed) then.digits = 0
    else if (then.digits >= 0 && isHex(symbol)) then.digits++
    else if (then.digits > 0) {
      waiting = undefined
      const goesOn = symbol === space || symbol === tab || symbol === colon || symbol === bar
      // The break goes on with this symbol.
      if (goesOn && depthOf(then.reading) > depthOf(rows)) rows = { ...then.reading, broken: 1, last: 0, fresh: true }
    } else if (then.digits === 0 && symbol !== space && symbol !== tab) waiting = undefined
    if (then.waited > longestBetweenRows || then.digits > longestNumber) waiting = undefined
  }

  const read = (reading: Reading, symbol: number, place: number, found: Found): void => {
    if (reading.node === 0) return
    const escaped = reading.broken > 0 && reading.last === backslash && escapes.includes(symbol)
    if (isBreak(symbol) || escaped || (symbol === bar && reading.fresh)) {
      pause(reading, symbol)
    } else advance(reading, symbol, place, found)
  }

  const pause = (reading: Reading, symbol: number): void => {
    reading.broken++
    if (reading.broken > longestBreak) reading.node = 0
    else wait(reading, symbol)
    reading.last = symbol
  }

  const advance = (reading: Reading, symbol: number, place: number, found: Found): void => {
    if (reading.broken > 0) {
      reading.stretch = { bare: reading.bare, place, before: reading.stretch }
      reading.stretches++
      reading.broken = 0
      reading.last = 0
      reading.fresh = false
    }
    reading.node = begun[next(reading.node, symbol)] ?? 0
    reading.bare++
    // Nothing of it is broken: the automaton sees it by itself.
    if (reading.bare - depthOf(reading) >= reading.stretch.bare) reading.node = 0
    const length = complete[reading.node] ?? 0
    if (length > 0) {
      found(placeOf(reading.stretch, reading.bare - length), place + 1)
      if (reading === rows) rest = longestBetweenRows
    }
    if (reading.stretches > 4 * longest) forget(reading)
  }

  /** What is too far back to matter. */
  const forget = (reading: Reading): void => {
    let at: Stretch | undefined = reading.stretch
    reading.stretches = 1
    while (at !== undefined && at.bare > reading.bare - longest - longestBetweenRows) {
      at = at.before
      reading.stretches++
    }
    if (at !== undefined) at.before = undefined
  }

  const pendingOf = (reading: Reading, place: number): number =>
    reading.node === 0 ? 0 : place - placeOf(reading.stretch, reading.bare - depthOf(reading))

  return {
    follows: () => lines.node !== 0 || rows.node !== 0 || waiting !== undefined || rest > 0,
    step: (symbol, place, from, found) => {
      if (rest > 0) {
        rest = symbol === lineFeed ? 0 : rest - 1
        if (symbol !== lineFeed) found(place - 1, place + 1)
      }
      if (waiting !== undefined) look(symbol, waiting)
      if (lines.node === 0 && isBreak(symbol)) begin(from, place)
      read(lines, symbol, place, found)
      read(rows, symbol, place, found)
    },
    pending: (place) =>
      Math.max(
        pendingOf(lines, place),
        pendingOf(rows, place),
        waiting === undefined ? 0 : pendingOf(waiting.reading, place)
      ),
    known: () => Math.max(depthOf(lines), depthOf(rows), waiting === undefined ? 0 : depthOf(waiting.reading))
  }
}

/** Where in the text a symbol of the text without breaks is. */
const placeOf = (newest: Stretch, bare: number): number => {
  let at = newest
  while (at.bare > bare && at.before !== undefined) at = at.before
  return at.place + bare - at.bare
}

const isHex = (symbol: number): boolean => digits.includes(symbol)
