/** A database of each schema there has been is taken over by this release, with all that was owed in it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as Verify from "../../layers/storage/Verify.ts"
import { life, make, place, test } from "./Places.ts"

const schemas = globSync("test/storage/fixtures/schemas/*.sql").toSorted()

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly name: string; readonly sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name`
  return rows.map(({ name, sql }) => [name, sql.replaceAll(/\s+/g, " ")])
})

describe("F144: an upgrade", () => {
  it("is tried from every schema there has been: node test/storage/fixtures/dumpSchema.ts writes the newest", () => {
    assert.deepStrictEqual(
      schemas.map((path) => basename(path, ".sql")),
      Object.keys(Migrations.steps).map((name) => name.slice(0, 4))
    )
  })

  for (const path of schemas) {
    test(
      `from schema ${basename(path, ".sql")} keeps every row, and the next start goes on with what was owed`,
      Effect.gen(function* () {
        const at = yield* place
        const file = at.directory.file("troupe.db")
        const old = new DatabaseSync(file)
        old.exec(readFileSync(path, "utf8"))
        old.close()
        const before = yield* Verify.database(file, true)
        assert.deepStrictEqual(before.problems, [])
        assert.strictEqual(before.schemaVersion, Number(basename(path, ".sql")))
        yield* life(at.directory, ({ journal, notes, outbox, sql, threads }) =>
          Effect.gen(function* () {
            const owed = yield* journal.owedThreads(10)
            assert.strictEqual(owed.length, 2)
            const all = yield* threads.list({ limit: 10 })
            assert.deepStrictEqual(all.threads.map(({ key }) => key).toSorted(), [
              "console:running",
              "console:waiting",
              "push:1"
            ])
            for (const { id } of all.threads) {
              assert.isAbove((yield* threads.entries(id, { from: 1, limit: 10 })).entries.length, 0)
            }
            const [first] = yield* outbox.take("push", 10)
            assert.deepInclude(first, { text: "sent", inDoubt: true })
            const found = yield* notes.search("primary", { text: "dentist thurs", limit: 10, offset: 0 })
            assert.strictEqual(found.total, before.tables["notes"] ?? 0)
            const fresh = yield* Verify.opened(
              at.directory.file("fresh.db"),
              false,
              Effect.andThen(Migrations.run("fresh.db"), tables)
            )
            assert.deepStrictEqual(yield* Effect.provideService(tables, SqlClient.SqlClient, sql), fresh)
          })
        )
        const after = yield* Verify.database(file, true)
        assert.deepStrictEqual([after.problems, after.schemaVersion], [[], schemas.length])
        for (const [table, count] of Object.entries(before.tables)) {
          if (table === "incarnations" || table === "schema_migrations") continue
          assert.strictEqual(after.tables[table], count, table)
        }
        assert.strictEqual((yield* make(at)).schemaVersion, schemas.length)
      })
    )
  }
})
