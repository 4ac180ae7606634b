/** Some lines out of a file that comes piece by piece, of which no more is kept than is shown. Lines end with `\n`. Pure. */

export interface Options {
  /** Lines before the window. */
  readonly offset: number
  readonly limit: number
  /** Bytes of the window; it ends before the line that does not fit in. */
  readonly most: number
  /** Bytes of one line; the rest of it is left out. */
  readonly mostOfLine: number
}

export interface LineWindow {
  readonly bytes: Uint8Array
  /** Lines in the window. */
  readonly lines: number
  /** Lines that were not shown to their end. */
  readonly cut: number
  /** Lines of all that was added. */
  readonly total: number
}

export interface Reader {
  readonly add: (piece: Uint8Array) => void
  readonly window: () => LineWindow
}

const lineEnd = 0x0a

export const make = ({ limit, most, mostOfLine, offset }: Options): Reader => {
  const kept: Array<Uint8Array> = []
  let keptBytes = 0
  let lines = 0
  let cut = 0
  let full = false
  /** The line that is being read: how many were before it, how much of it there was, and what is kept of it. */
  let before = 0
  let length = 0
  let parts: Array<Uint8Array> = []

  const isWanted = () => !full && before >= offset && before < offset + limit

  const take = (part: Uint8Array) => {
    if (isWanted() && length < mostOfLine) parts.push(part.slice(0, mostOfLine - length))
    length += part.byteLength
  }

  const keep = (end: boolean) => {
    const line = [...(length > mostOfLine ? withoutHalf(parts) : parts), ...(end ? [Uint8Array.of(lineEnd)] : [])]
    const bytes = line.reduce((sum, part) => sum + part.byteLength, 0)
    if (keptBytes + bytes > most && lines > 0) full = true
    else {
      kept.push(...line)
      keptBytes += bytes
      lines++
      if (length > mostOfLine) cut++
    }
  }

  const finishLine = (end: boolean) => {
    if (isWanted()) keep(end)
    before++
    length = 0
    parts = []
  }

  return {
    add: (piece) => {
      let from = 0
      for (let at = piece.indexOf(lineEnd); at !== -1; at = piece.indexOf(lineEnd, from)) {
        take(piece.subarray(from, at))
        finishLine(true)
        from = at + 1
      }
      if (from < piece.byteLength) take(piece.subarray(from))
    },
    window: () => {
      if (length > 0) finishLine(false)
      return { bytes: joined(kept, keptBytes), lines, cut, total: before }
    }
  }
}

/** The parts of a line that is cut, without a character that is cut with it. */
const withoutHalf = (parts: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const line = joined(
    parts,
    parts.reduce((sum, part) => sum + part.byteLength, 0)
  )
  let end = line.byteLength
  while (end > 0 && isWithin(line[end - 1])) end--
  // What is left at the end may be the beginning of a character.
  return [line.subarray(0, end > 0 && isBeginning(line[end - 1]) ? end - 1 : end)]
}

/** Bytes of a character of more than one byte: those after its first, and its first. */
const isWithin = (byte = 0): boolean => byte >= 0x80 && byte < 0xc0
const isBeginning = (byte = 0): boolean => byte >= 0xc0

const joined = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.byteLength
  }
  return all
}
