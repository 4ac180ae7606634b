/**
 * What is kept of an endless output: its beginning and its end, and how much lay between. Works on bytes, before anything is
 * decoded or split, so that neither a line without an end nor bytes that are no text can make it grow.
 */

/** What was kept. `head` and `tail` follow each other when nothing was left out. */
export interface Captured {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  /** Bytes that were read and not kept. */
  readonly omitted: number
}

export interface OutputBuffer {
  readonly push: (chunk: Uint8Array) => void
  /** How many bytes came. */
  readonly total: () => number
  readonly captured: () => Captured
}

const nothing = new Uint8Array(0)

/** Keeps at most `maxBytes`: one half from the beginning, the other from the end; of one line at most `maxLineBytes`. */
export const make = (maxBytes: number, maxLineBytes = Number.POSITIVE_INFINITY): OutputBuffer => {
  const head = makeHead(Math.ceil(maxBytes / 2))
  const tail = makeTail(Math.floor(maxBytes / 2))
  const cut = makeLineCut(maxLineBytes, (piece) => tail.push(head.push(piece)))
  let total = 0
  return {
    push: (chunk) => {
      total += chunk.length
      cut.push(chunk)
    },
    total: () => total,
    captured: () => ({ head: head.bytes(), tail: tail.bytes(), omitted: tail.lost() + cut.lost() })
  }
}

/** The first bytes; gives back what it does not keep. */
const makeHead = (maxBytes: number) => {
  const kept: Array<Uint8Array> = []
  let length = 0
  return {
    push: (chunk: Uint8Array): Uint8Array => {
      const room = Math.min(maxBytes - length, chunk.length)
      if (room > 0) {
        kept.push(chunk.slice(0, room))
        length += room
      }
      return chunk.subarray(room)
    },
    bytes: () => concat(kept, length)
  }
}

/** The last bytes, in a ring that is made when it is needed. */
export const makeTail = (maxBytes: number) => {
  let ring = nothing
  let total = 0
  return {
    push: (chunk: Uint8Array): void => {
      if (chunk.length === 0) return
      if (ring.length === 0) ring = new Uint8Array(maxBytes)
      const part = chunk.subarray(Math.max(0, chunk.length - maxBytes))
      if (maxBytes > 0) {
        const at = (total + chunk.length - part.length) % maxBytes
        const first = Math.min(part.length, maxBytes - at)
        ring.set(part.subarray(0, first), at)
        ring.set(part.subarray(first), 0)
      }
      total += chunk.length
    },
    lost: () => Math.max(0, total - maxBytes),
    bytes: (): Uint8Array => {
      if (total <= maxBytes) return ring.slice(0, total)
      const start = total % maxBytes
      return concat([ring.subarray(start), ring.subarray(0, start)], maxBytes)
    }
  }
}

const newline = 10

/** Passes on the first bytes of each line. */
const makeLineCut = (maxLineBytes: number, pass: (piece: Uint8Array) => void) => {
  let inLine = 0
  let lost = 0
  const part = (piece: Uint8Array): void => {
    const room = Math.max(0, Math.min(piece.length, maxLineBytes - inLine))
    if (room > 0) pass(piece.subarray(0, room))
    inLine += piece.length
    lost += piece.length - room
  }
  return {
    push: (chunk: Uint8Array): void => {
      if (maxLineBytes === Number.POSITIVE_INFINITY) return pass(chunk)
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        part(chunk.subarray(start, end))
        pass(chunk.subarray(end, end + 1))
        inLine = 0
        start = end + 1
      }
      part(chunk.subarray(start))
    },
    lost: () => lost
  }
}

/** The same, of at most so many bytes. */
const shrink = ({ head, omitted, tail }: Captured, maxBytes: number): Captured => {
  const length = head.length + tail.length
  if (length <= maxBytes) return { head, tail, omitted }
  const all = concat([head, tail], length)
  const first = Math.ceil(maxBytes / 2)
  return {
    head: all.slice(0, first),
    tail: all.slice(length - Math.floor(maxBytes / 2)),
    omitted: omitted + length - maxBytes
  }
}

/** Both outputs in `maxBytes` together: standard output first, but a quarter is kept for errors when there are that many. */
export const share = (
  stdout: Captured,
  stderr: Captured,
  maxBytes: number
): { readonly stdout: Captured; readonly stderr: Captured } => {
  const forErrors = Math.min(lengthOf(stderr), Math.floor(maxBytes / 4))
  const fitted = shrink(stdout, maxBytes - forErrors)
  return { stdout: fitted, stderr: shrink(stderr, maxBytes - lengthOf(fitted)) }
}

export const lengthOf = ({ head, tail }: Captured): number => head.length + tail.length

const concat = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
