/**
 * The pieces of a response made fit before anybody has them: providers cut where they like, also in the middle of an emoji,
 * and half of one is no text that could be sent on; nor is a NUL. What is shown and what is kept come of the same pieces, so
 * that they never differ. Pure.
 */
import * as WellFormed from "../thread/WellFormed.ts"

export interface Piece {
  readonly kind: "text" | "reasoning"
  /** The provider's id of the part that it belongs to. */
  readonly id: string
  readonly text: string
}

/** Takes in the pieces of one stream. Not for sharing. */
export interface WholeCharacters {
  /** What there is now of the text; a half at its end waits for the rest, in whatever part that comes. */
  readonly take: (piece: Piece) => string
  /** What nothing more came for. */
  readonly rest: () => ReadonlyArray<Piece>
}

export const make = (): WholeCharacters => {
  const halves = new Map<Piece["kind"], Piece>()
  return {
    take: (piece) => {
      const text = `${halves.get(piece.kind)?.text ?? ""}${piece.text}`
      halves.delete(piece.kind)
      const end = endsInHalf.test(text) ? text.length - 1 : text.length
      if (end < text.length) halves.set(piece.kind, { ...piece, text: text.slice(end) })
      return WellFormed.text(text.slice(0, end))
    },
    rest: () => Array.from(halves.values(), (half) => ({ ...half, text: WellFormed.text(half.text) }))
  }
}

const endsInHalf = /[\ud800-\udbff]$/
