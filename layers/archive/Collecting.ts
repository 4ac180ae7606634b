/** The content of one entry, as far as there is room for it. */
import * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import type { ArchiveError } from "../../src/archive/Archives.ts"
import * as Judgement from "../../src/archive/Judgement.ts"

/** Ends at the first byte too many, whatever size was declared. */
export const all = (
  content: Readable,
  judgement: Judgement.Judgement,
  entry: string
): Effect.Effect<Buffer, ArchiveError> =>
  Effect.callback((resume) => {
    const pieces: Array<Buffer> = []
    content.on("data", (piece: Buffer) => {
      judgement.came(piece.byteLength)
      if (judgement.left() >= 0) return pieces.push(piece)
      resume(Effect.fail(Judgement.refuse("too_large", entry, "unpacks to more than all of the archive may")))
      return content.destroy()
    })
    content.on("end", () => resume(Effect.succeed(Buffer.concat(pieces))))
    content.on("error", () =>
      resume(Effect.fail(Judgement.refuse("damaged", entry, "is damaged, or larger or smaller than it says")))
    )
    return Effect.sync(() => content.destroy())
  })
