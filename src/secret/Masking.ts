/**
 * Masks what a matcher finds, in one piece or piece by piece. Whatever lies in a pattern is masked, also where patterns overlap.
 * Between pieces only that is held back which may be the beginning of a pattern, so at most the longest pattern. Pure but for
 * its own state.
 */
import * as Forms from "./Forms.ts"
import * as Matcher from "./Matcher.ts"

/** What stands in place of a secret. */
export const mark = "[redacted]"

/** Masks one sequence that comes in pieces. Not for sharing. */
export interface Masking<A> {
  /** What can be said now of what came so far. */
  readonly take: (piece: A) => A
  /** What is held back at the end; `cut` masks the beginning of a secret there as well, which a cut may have left. */
  readonly rest: (options: { readonly cut: boolean }) => A
}

/** How pieces of a kind are taken apart and put together. */
export interface Kind<A extends { readonly length: number }> {
  readonly empty: A
  readonly mark: A
  readonly symbols: (piece: A) => Matcher.Symbols
  readonly slice: (piece: A, start: number, end?: number) => A
  readonly join: (pieces: ReadonlyArray<A>) => A
}

export const text: Kind<string> = {
  empty: "",
  mark,
  symbols: (piece) => {
    const units = new Uint16Array(piece.length)
    for (let at = 0; at < units.length; at++) units[at] = piece.charCodeAt(at)
    return units
  },
  slice: (piece, start, end) => piece.slice(start, end),
  join: (pieces) => pieces.join("")
}

export const bytes: Kind<Uint8Array> = {
  empty: new Uint8Array(0),
  mark: new TextEncoder().encode(mark),
  symbols: (piece) => piece,
  slice: (piece, start, end) => piece.subarray(start, end),
  join: (pieces) => {
    const [only, another] = pieces
    if (another === undefined) return only ?? bytes.empty
    const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
    pieces.reduce((at, piece) => {
      all.set(piece, at)
      return at + piece.length
    }, 0)
    return all
  }
}

/** A part that is masked, counted from the first symbol that is held back; its mark is out already when it begins below zero. */
interface Span {
  readonly start: number
  readonly end: number
}

/**
 * `matcherNow` is asked before each piece: what is learned in the middle of a sequence counts from then on. The first `hidden`
 * symbols are masked whatever they are.
 */
export const make = <A extends { readonly length: number }>(
  kind: Kind<A>,
  matcherNow: () => Matcher.Matcher | undefined,
  hidden = 0
): Masking<A> => {
  let matcher: Matcher.Matcher | undefined
  let cursor: Matcher.Cursor | undefined
  let held = kind.empty
  let spans: ReadonlyArray<Span> = hidden === 0 ? [] : [{ start: 0, end: hidden }]

  const add = (start: number, end: number): void => {
    const apart = spans.filter((span) => span.end <= start)
    const joined = spans.slice(apart.length)
    const first = Math.min(start, joined[0]?.start ?? start)
    spans = [...apart, { start: first, end: Math.max(end, joined.at(-1)?.end ?? end) }]
  }

  /** All of `whole` before `safe`, masked; the rest is held. */
  const release = (whole: A, safe: number): A => {
    const out: Array<A> = []
    let at = 0
    for (const { end, start } of spans) {
      if (start >= safe) break
      if (start > at) out.push(kind.slice(whole, at, start))
      if (start >= 0) out.push(kind.mark)
      at = end
    }
    if (at < safe) out.push(kind.slice(whole, at, safe))
    spans = spans
      .filter(({ end }) => end > safe)
      .map(({ end, start }) => ({ start: start < safe ? -1 : start - safe, end: end - safe }))
    held = kind.slice(whole, safe)
    return kind.join(out)
  }

  const renew = (): void => {
    const now = matcherNow()
    if (now === matcher) return
    matcher = now
    cursor = matcher?.start()
    cursor?.scan(kind.symbols(held), 0, add)
  }

  return {
    take: (piece) => {
      renew()
      const whole = held.length === 0 ? piece : kind.join([held, piece])
      if (cursor === undefined) return release(whole, whole.length)
      cursor.scan(kind.symbols(whole), held.length, add)
      return release(whole, Math.max(0, whole.length - cursor.pending()))
    },
    rest: ({ cut }) => {
      if (cut && cursor !== undefined && cursor.known() >= Forms.shortestPiece) add(0, held.length)
      const last = release(held, held.length)
      cursor = matcher?.start()
      return last
    }
  }
}
