/**
 * Finds many patterns at once in a sequence of symbols: code units of a text, or bytes. The automaton of Aho and Corasick, which
 * looks at each symbol a bounded number of times whatever the patterns are, and can stop and go on anywhere, as streams need.
 * Pure but for what it builds.
 *
 * Source: A. V. Aho, M. J. Corasick, Efficient string matching, CACM 18 (6), 1975.
 */

import * as Breaks from "./Breaks.ts"

/** UTF-16 code units, or bytes. */
export type Symbols = Uint16Array | Uint8Array

export interface Matcher {
  /** At the beginning of a sequence. */
  readonly start: () => Cursor
  /** The length of the longest pattern, without breaks. */
  readonly longest: number
}

/** A place in one sequence. Not for sharing. */
export interface Cursor {
  /** Goes on over `symbols`, from the index `from`, which is the place where it stands, and tells of what it finds. */
  readonly scan: (symbols: Symbols, from: number, found: Found) => void
  /** How many symbols before this place may belong to a pattern that is not complete yet. */
  readonly pending: () => number
  /** How many of these are symbols of the pattern, and no break in it. */
  readonly known: () => number
}

/** Of those that end before `end`, the longest begins at `start`, which is below zero when that was in an earlier piece. */
export type Found = (start: number, end: number) => void

/** The state before the first symbol. */
const root = 0

/** Those of `breakable` are found with breaks in them as well (`Breaks`). */
export const make = (patterns: Iterable<Symbols>, breakable: Iterable<Symbols> = []): Matcher => {
  const trie = makeTrie()
  const beginnings = new Uint8Array(0x10000)
  const mark = (first: number, second: number, third: number): void => {
    beginnings[placeOf(first, second, third)] = 1
  }
  const add = (pattern: Symbols, broken: boolean): void => {
    if (pattern.length === 0) return
    trie.add(pattern, broken)
    const [first = 0, second = 0, third = 0] = pattern
    if (pattern.length < 3) beginnings.fill(1)
    else mark(first, second, third)
    if (!broken) return
    for (const sign of Breaks.signs) {
      mark(first, second, sign)
      mark(first, sign, second)
    }
    if (opened.has(first)) return
    opened.add(first)
    for (const sign of Breaks.signs) for (const after of afterSign) mark(first, sign, after)
  }
  const opened = new Set<number>()
  for (const pattern of patterns) add(pattern, false)
  for (const pattern of breakable) add(pattern, true)
  const graph = { ...trie.link(), longest: trie.longest() }
  const { depths, next, outputs } = graph

  /** The next place where a pattern can begin, which is told by three symbols: most of a text is stepped over here. */
  const beginning = (symbols: Symbols, from: number): number => {
    let at = from
    const end = symbols.length - 2
    while (at < end && beginnings[placeOf(symbols[at] ?? 0, symbols[at + 1] ?? 0, symbols[at + 2] ?? 0)] === 0) at++
    return at
  }

  return {
    start: () => {
      const breaks = Breaks.make(graph)
      let now = root
      let place = 0
      return {
        scan: (symbols, from, found) => {
          const base = place - from
          const foundBroken = (start: number, end: number): void => found(start - base, end - base)
          let at = from
          while (at < symbols.length) {
            if (now === root && !breaks.follows()) at = beginning(symbols, at)
            const symbol = symbols[at] ?? 0
            if (breaks.follows() || (now !== root && Breaks.isBreak(symbol))) {
              breaks.step(symbol, base + at, now, foundBroken)
            }
            now = next(now, symbol)
            at++
            const length = outputs[now] ?? 0
            if (length > 0) found(at - length, at)
          }
          place = base + symbols.length
        },
        pending: () => Math.max(depths[now] ?? 0, breaks.pending(place)),
        known: () => Math.max(depths[now] ?? 0, breaks.known())
      }
    },
    longest: graph.longest
  }
}

/** What may follow the first sign of a break: another, or the number of the next row. */
const afterSign = [...Breaks.signs, ...Breaks.escapes, ...Breaks.digits]

/** Symbols share places with others, which costs a look and no match. */
const placeOf = (first: number, second: number, third: number): number => (first * 961 + second * 31 + third) & 0xffff

const makeTrie = () => {
  // A node is an index into these. Its children are a list: nearly all nodes but the root have one child.
  const symbols: Array<number> = [0]
  const children: Array<number> = [0]
  const siblings: Array<number> = [0]
  const depths: Array<number> = [0]
  const ends: Array<number> = [0]
  const brokenEnds: Array<number> = [0]
  const breakable: Array<boolean> = [true]
  const firsts = new Int32Array(0x10000)
  let longest = 0

  const child = (node: number, symbol: number): number => {
    if (node === root) return firsts[symbol] ?? 0
    let found = children[node] ?? 0
    while (found !== 0 && symbols[found] !== symbol) found = siblings[found] ?? 0
    return found
  }
  const grow = (node: number, symbol: number): number => {
    const made = symbols.push(symbol) - 1
    children.push(0)
    siblings.push(children[node] ?? 0)
    depths.push((depths[node] ?? 0) + 1)
    ends.push(0)
    brokenEnds.push(0)
    breakable.push(false)
    children[node] = made
    if (node === root) firsts[symbol] = made
    return made
  }

  return {
    longest: () => longest,
    add: (pattern: Symbols, broken: boolean): void => {
      let node = root
      for (const symbol of pattern) {
        const found = child(node, symbol)
        node = found === 0 ? grow(node, symbol) : found
        if (broken) breakable[node] = true
      }
      ends[node] = pattern.length
      if (broken) brokenEnds[node] = pattern.length
      longest = Math.max(longest, pattern.length)
    },
    link: () => link({ symbols, children, siblings, depths, ends, brokenEnds, breakable, firsts })
  }
}

interface Trie {
  readonly symbols: ReadonlyArray<number>
  readonly children: ReadonlyArray<number>
  readonly siblings: ReadonlyArray<number>
  readonly depths: ReadonlyArray<number>
  /** The length of the pattern that ends at a node, or 0. */
  readonly ends: ReadonlyArray<number>
  /** The same of the patterns that may be broken. */
  readonly brokenEnds: ReadonlyArray<number>
  /** Whether a node is on the way of one that may be broken. */
  readonly breakable: ReadonlyArray<boolean>
  /** The children of the root by their symbol. */
  readonly firsts: Int32Array
}

/** Finds for each node the longest end of its path that is a path as well, and the longest pattern that ends there. */
const link = (trie: Trie) => {
  const symbols = Int32Array.from(trie.symbols)
  const children = Int32Array.from(trie.children)
  const siblings = Int32Array.from(trie.siblings)
  const outputs = Int32Array.from(trie.ends)
  const complete = Int32Array.from(trie.brokenEnds)
  const begun = Int32Array.from(trie.breakable, (may, node) => (may ? node : root))
  const fails = new Int32Array(trie.symbols.length)
  const next = (from: number, symbol: number): number => {
    let node = from
    while (node !== root) {
      let found = children[node] ?? 0
      while (found !== 0 && symbols[found] !== symbol) found = siblings[found] ?? 0
      if (found !== 0) return found
      node = fails[node] ?? root
    }
    return trie.firsts[symbol] ?? root
  }
  let level = Array.from(trie.firsts).filter((node) => node !== 0)
  while (level.length > 0) {
    const below: Array<number> = []
    for (const node of level) {
      for (let kid = children[node] ?? 0; kid !== 0; kid = siblings[kid] ?? 0) {
        const fail = next(fails[node] ?? root, symbols[kid] ?? 0)
        fails[kid] = fail
        if (outputs[kid] === 0) outputs[kid] = outputs[fail] ?? 0
        if (complete[kid] === 0) complete[kid] = complete[fail] ?? 0
        if (begun[kid] === root) begun[kid] = begun[fail] ?? root
        below.push(kid)
      }
    }
    level = below
  }
  return { next, outputs, symbols, complete, begun, depths: Int32Array.from(trie.depths) }
}
