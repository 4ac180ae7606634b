/** Notes in memory for the turns of a test: what the `Memory` capability is, for tests of the tools that use it. */
import * as Layer from "effect/Layer"
import * as MemoryGrant from "../../layers/memory/MemoryGrant.ts"
import * as NotesInMemory from "../../src/testing/NotesInMemory.ts"

export const layer = (maxNotes?: number) => Layer.provide(MemoryGrant.layer, NotesInMemory.layer(maxNotes))
