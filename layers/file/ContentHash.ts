/** SHA-256 of contents that come in pieces, in hexadecimal. */
import * as Crypto from "node:crypto"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export interface ContentHash {
  readonly add: (piece: Uint8Array) => void
  /** Of all that was added. Nothing can be added after it. */
  readonly end: () => string
}

export const make = (): ContentHash => {
  const hash = Crypto.createHash("sha256")
  return { add: (piece) => void hash.update(piece), end: () => hash.digest("hex") }
}

export const ofStream = <E, R>(content: Stream.Stream<Uint8Array, E, R>): Effect.Effect<string, E, R> =>
  Effect.suspend(() => {
    const hash = make()
    return Effect.map(
      Stream.runForEach(content, (piece) => Effect.sync(() => hash.add(piece))),
      hash.end
    )
  })
