/** What is deleted is not in the files any more, nor in what is read of them. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import * as NotesLive from "../../layers/memory/Notes.ts"
import * as Check from "../../layers/storage/Check.ts"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import * as Forgetting from "../../layers/memory/Forgetting.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Notes } from "../../src/memory/Notes.ts"
import { note, origin } from "../laws/Notes.ts"

/** Notes in a file, and what the file and its log hold, byte for byte. */
const open = Effect.gen(function* () {
  const filename = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/notes.db`
  const store = Layer.provideMerge(
    Layer.effectDiscard(Migrations.run(filename)),
    SqliteClient.layer({ filename, synchronous: "normal" })
  )
  const context = yield* Layer.build(
    Layer.provideMerge(NotesLive.layer, Layer.merge(store, Settings.layer({ tools: { kv_memory: {} } })))
  )
  const holds = (text: string) =>
    [filename, `${filename}-wal`].flatMap((path) => (readFileSync(path).includes(text) ? [path] : []))
  return { notes: Context.get(context, Notes), sql: Context.get(context, SqlClient.SqlClient), holds }
})

// Each part of them, since an index keeps only the end of a word that begins like the one before it.
const parts = ["quokka", "okkaca", "canary", "Quokka"]

const secret = (index: number) => ({
  title: `Quokkacanary ${index}`,
  data: `quokkacanary${index} `.repeat(index % 7 === 0 ? 900 : 3),
  source: "quokka",
  metadata: { where: "quokkacanary" }
})

describe("what is forgotten", () => {
  it.effect(
    "deleted, replaced and expired notes leave nothing in the database and its log",
    () =>
      Effect.gen(function* () {
        const { holds, notes, sql } = yield* open
        const secrets: Array<string> = []
        for (let index = 0; index < 120; index++) {
          const expiresAt = index % 3 === 2 ? 1000 : null
          const made = yield* notes.create("primary", { ...note, ...secret(index), expiresAt }, yield* origin)
          secrets.push(made.id)
          yield* notes.create("primary", { ...note, title: `Wombat ${index}`, data: "wombats stay" }, yield* origin)
        }
        for (const part of ["quokka", "canary"]) assert.isNotEmpty(holds(part), part)
        for (const [index, id] of secrets.entries()) {
          if (index % 3 === 0) yield* notes.remove("primary", id, yield* origin)
          if (index % 3 === 1) {
            const change = { data: "something else", source: null, metadata: {} }
            yield* notes.update("primary", id, change, yield* origin)
            // A title stays with its note, so the note has to go for it.
            yield* notes.remove("primary", id, yield* origin)
          }
        }
        yield* TestClock.setTime(1000)
        assert.lengthOf(yield* Forgetting.expireSome(sql, 500, 1000), 40)

        for (const part of parts) assert.deepStrictEqual(holds(part), [], part)
        assert.isNotEmpty(holds("ombats stay"))
        const kept = yield* notes.search("primary", { text: "wombats", limit: 10, offset: 0 })
        assert.strictEqual(kept.total, 120)
        const checked = yield* Effect.provideService(Check.full, SqlClient.SqlClient, sql)
        assert.deepStrictEqual(checked.problems, [])
        assert.strictEqual(checked.tables["note_tombstones"], 120)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.effect("what a note said before it was changed is gone at once", () =>
    Effect.gen(function* () {
      const { holds, notes } = yield* open
      const made = yield* notes.create("primary", { ...note, data: "the code is quokkacanary" }, yield* origin)
      assert.isNotEmpty(holds("quokka"))
      yield* notes.update("primary", made.id, { data: "the code has changed" }, yield* origin)
      for (const part of parts) assert.deepStrictEqual(holds(part), [], part)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
