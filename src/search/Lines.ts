/** Lines out of the pieces of a pipe. A line is held up to a length, whatever is written. */

export interface Lines {
  /** Takes a piece; hands on each line that is whole. */
  readonly push: (piece: Uint8Array) => void
}

const newline = 10

/** `onLine` gets each line without its end; of one that is longer than `most` bytes its first bytes, and that there were more. */
export const make = (most: number, onLine: (line: string, isCut: boolean) => void): Lines => {
  let kept: Array<Uint8Array> = []
  let length = 0
  const add = (part: Uint8Array): void => {
    const room = Math.max(0, most - length)
    // A copy, since the pipe uses its buffer again.
    if (room > 0 && part.length > 0) kept.push(part.slice(0, room))
    length += part.length
  }
  const end = (): void => {
    const decoder = new TextDecoder()
    const line = kept.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode()
    const isCut = length > most
    kept = []
    length = 0
    onLine(line, isCut)
  }
  return {
    push: (piece) => {
      let start = 0
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, start)) {
        add(piece.subarray(start, at))
        end()
        start = at + 1
      }
      add(piece.subarray(start))
    }
  }
}
