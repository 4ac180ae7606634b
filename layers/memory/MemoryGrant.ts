/** Who may use which notes: a turn those of its owner. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Memory, ownedBy } from "../../src/memory/Memory.ts"
import { Notes } from "../../src/memory/Notes.ts"
import * as Capability from "../../src/tool/Capability.ts"

/** Outside houses every thread has the same owner, the one of `[runtime].owner_id`: what one heard, all know. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const notes = yield* Notes
    const grants = yield* Capability.Grants
    yield* grants.register(Memory, ({ ownerId }) => Effect.succeed(ownedBy(notes, ownerId)))
  })
)
