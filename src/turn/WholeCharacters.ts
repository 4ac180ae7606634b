/**
 * The pieces of a response made fit before anybody has them: providers cut where they like, also in the middle of an emoji,
 * and half of one is no text that could be sent on; nor is a NUL, nor a secret of this process. What is shown and what is kept come
 * of the same pieces, so that they never differ. Pure but for its own state.
 */
import type * as Masking from "../secret/Masking.ts"
import * as WellFormed from "../thread/WellFormed.ts"

export interface Piece {
  readonly kind: "text" | "reasoning"
  /** The provider's id of the part that it belongs to. */
  readonly id: string
  readonly text: string
}

/** Takes in the pieces of one stream. Not for sharing. */
export interface WholeCharacters {
  /**
   * What there is now of the text; a half at its end, and what may be the beginning of a secret, wait for the rest, in whatever
   * part that comes.
   */
  readonly take: (piece: Piece) => string
  /** What nothing more came for. */
  readonly rest: () => ReadonlyArray<Piece>
}

interface Waiting {
  /** The part that the last piece was of. */
  id: string
  half: string
  readonly masking: Masking.Masking<string>
}

/** `mask` makes what masks the secrets of one text that comes in pieces. */
export const make = (mask: () => Masking.Masking<string>): WholeCharacters => {
  const waiting = new Map<Piece["kind"], Waiting>()
  return {
    take: ({ id, kind, text: delta }) => {
      const here = waiting.get(kind) ?? { id, half: "", masking: mask() }
      waiting.set(kind, here)
      here.id = id
      const text = `${here.half}${delta}`
      const end = endsInHalf.test(text) ? text.length - 1 : text.length
      here.half = text.slice(end)
      return here.masking.take(WellFormed.text(text.slice(0, end)))
    },
    rest: () =>
      Array.from(waiting, ([kind, { half, id, masking }]) => ({
        kind,
        id,
        text: `${masking.take(WellFormed.text(half))}${masking.rest({ cut: true })}`
      })).filter(({ text }) => text !== "")
  }
}

const endsInHalf = /[\ud800-\udbff]$/
