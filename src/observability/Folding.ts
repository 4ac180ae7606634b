/**
 * Folding of repeated messages: the first of a kind is written, those that say the same within the window are counted, and
 * the count is written when the window ends. A message that fires ten thousand times a second then costs two lines.
 */
export interface Folding<A> {
  /** Whether to write the message. When not, it has been counted. */
  readonly admit: (identity: string, message: A, now: number) => boolean
  /** The messages whose window has ended and that came again in it, with how often. */
  readonly due: (now: number) => ReadonlyArray<{ readonly message: A; readonly times: number }>
}

/** How long a kind of message is folded, in milliseconds, and how many kinds are remembered at a time. */
const windowMillis = 10_000
export const kinds = 256

export const make = <A>(): Folding<A> => {
  const seen = new Map<string, { readonly message: A; readonly until: number; times: number }>()
  const ended: Array<{ readonly message: A; readonly times: number }> = []
  const forget = (identity: string) => {
    const kind = seen.get(identity)
    seen.delete(identity)
    if (kind !== undefined && kind.times > 0) ended.push({ message: kind.message, times: kind.times })
  }
  return {
    admit: (identity, message, now) => {
      const kind = seen.get(identity)
      if (kind !== undefined && now < kind.until) {
        kind.times++
        return false
      }
      forget(identity)
      const [oldest] = seen.keys()
      if (seen.size >= kinds && oldest !== undefined) forget(oldest)
      seen.set(identity, { message, until: now + windowMillis, times: 0 })
      return true
    },
    due: (now) => {
      for (const [identity, kind] of seen) if (now >= kind.until) forget(identity)
      return ended.splice(0)
    }
  }
}
