import * as Layer from "effect/Layer"
import * as Notes from "../../layers/memory/Notes.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as NotesInMemory from "../../src/testing/NotesInMemory.ts"
import * as Laws from "../laws/Notes.ts"
import * as Store from "../laws/Store.ts"

const settings = Layer.orDie(Settings.layer({ tools: { kv_memory: { max_notes: Laws.maxNotes } } }))

Laws.laws("in memory", NotesInMemory.layer(Laws.maxNotes))
for (const { layer, name } of Store.backends) {
  Laws.laws(name, Notes.layer.pipe(Layer.provide([layer, settings]), Layer.orDie))
}
