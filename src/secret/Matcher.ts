/**
 * Finds many patterns at once in a sequence of symbols: code units of a text, or bytes. The automaton of Aho and Corasick, which
 * looks at each symbol a bounded number of times whatever the patterns are, and can stop and go on anywhere, as streams need.
 * Pure but for what it builds.
 *
 * Source: A. V. Aho, M. J. Corasick, Efficient string matching, CACM 18 (6), 1975.
 */

/** UTF-16 code units, or bytes. */
export type Symbols = Uint16Array | Uint8Array

export interface Matcher {
  /** Goes on from a state over `symbols`, from the index `from`, and tells of what it finds. Gives the state at the end. */
  readonly scan: (symbols: Symbols, from: number, state: number, found: Found) => number
  /** How many symbols before the place of this state may belong to a pattern that is not complete yet. */
  readonly pending: (state: number) => number
  /** The length of the longest pattern. */
  readonly longest: number
}

/** Of those that end before `end`, the longest begins at `start`, which is below zero when that was in an earlier piece. */
export type Found = (start: number, end: number) => void

/** The state before the first symbol. */
export const root = 0

export const make = (patterns: Iterable<Symbols>): Matcher => {
  const trie = makeTrie()
  const beginnings = new Uint8Array(0x10000)
  for (const pattern of patterns) {
    if (pattern.length === 0) continue
    trie.add(pattern)
    if (pattern.length < 3) beginnings.fill(1)
    else beginnings[placeOf(pattern[0] ?? 0, pattern[1] ?? 0, pattern[2] ?? 0)] = 1
  }
  const { depths, next, outputs } = trie.link()

  /** The next place where a pattern can begin, which is told by three symbols: most of a text is stepped over here. */
  const beginning = (symbols: Symbols, from: number): number => {
    let at = from
    const end = symbols.length - 2
    while (at < end && beginnings[placeOf(symbols[at] ?? 0, symbols[at + 1] ?? 0, symbols[at + 2] ?? 0)] === 0) at++
    return at
  }

  return {
    scan: (symbols, from, state, found) => {
      let now = state
      let at = from
      while (at < symbols.length) {
        if (now === root) at = beginning(symbols, at)
        now = next(now, symbols[at] ?? 0)
        at++
        const length = outputs[now] ?? 0
        if (length > 0) found(at - length, at)
      }
      return now
    },
    pending: (state) => depths[state] ?? 0,
    longest: trie.longest()
  }
}

/** Symbols share places with others, which costs a look and no match. */
const placeOf = (first: number, second: number, third: number): number => (first * 961 + second * 31 + third) & 0xffff

const makeTrie = () => {
  // A node is an index into these. Its children are a list: nearly all nodes but the root have one child.
  const symbols: Array<number> = [0]
  const children: Array<number> = [0]
  const siblings: Array<number> = [0]
  const depths: Array<number> = [0]
  const ends: Array<number> = [0]
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
    children[node] = made
    if (node === root) firsts[symbol] = made
    return made
  }

  return {
    longest: () => longest,
    add: (pattern: Symbols): void => {
      let node = root
      for (const symbol of pattern) {
        const found = child(node, symbol)
        node = found === 0 ? grow(node, symbol) : found
      }
      ends[node] = pattern.length
      longest = Math.max(longest, pattern.length)
    },
    link: () => link({ symbols, children, siblings, depths, ends, firsts })
  }
}

interface Trie {
  readonly symbols: ReadonlyArray<number>
  readonly children: ReadonlyArray<number>
  readonly siblings: ReadonlyArray<number>
  readonly depths: ReadonlyArray<number>
  /** The length of the pattern that ends at a node, or 0. */
  readonly ends: ReadonlyArray<number>
  /** The children of the root by their symbol. */
  readonly firsts: Int32Array
}

/** Finds for each node the longest end of its path that is a path as well, and the longest pattern that ends there. */
const link = (trie: Trie) => {
  const symbols = Int32Array.from(trie.symbols)
  const children = Int32Array.from(trie.children)
  const siblings = Int32Array.from(trie.siblings)
  const outputs = Int32Array.from(trie.ends)
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
        below.push(kid)
      }
    }
    level = below
  }
  return { next, outputs, depths: Int32Array.from(trie.depths) }
}
