/**
 * Pieces of text cut between characters: providers cut where they like, also in the middle of an emoji, and half of one is no
 * text that could be sent on. Pure.
 */

export interface Piece {
  readonly kind: "text" | "reasoning"
  /** How much of the kind came before, in UTF-16 code units. */
  readonly offset: number
  readonly text: string
}

/** Takes in the pieces of one stream. Not for sharing. */
export interface WholeCharacters {
  /** What can be shown now; a half at its end waits for the rest. */
  readonly take: (piece: Piece) => Piece
  /** What nothing more came for. */
  readonly rest: () => ReadonlyArray<Piece>
}

export const make = (): WholeCharacters => {
  const halves = new Map<Piece["kind"], Piece>()
  return {
    take: (piece) => {
      const half = halves.get(piece.kind)
      halves.delete(piece.kind)
      const text = `${half?.text ?? ""}${piece.text}`
      const offset = half?.offset ?? piece.offset
      const end = endsInHalf.test(text) ? text.length - 1 : text.length
      if (end < text.length) halves.set(piece.kind, { ...piece, offset: offset + end, text: text.slice(end) })
      return { ...piece, offset, text: text.slice(0, end).toWellFormed() }
    },
    rest: () => Array.from(halves.values(), (half) => ({ ...half, text: half.text.toWellFormed() }))
  }
}

const endsInHalf = /[\ud800-\udbff]$/
