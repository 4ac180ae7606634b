import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"

const memory = SqliteClient.layer({ filename: ":memory:" })

it.effect("creates the schema once", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* Migrations.run(":memory:"), Object.keys(Migrations.steps))
    assert.deepStrictEqual(yield* Migrations.run(":memory:"), [])
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
    assert.deepStrictEqual(
      tables.map((row) => row["name"]),
      [
        "channel_cursors",
        "inbox",
        "incarnations",
        "outbox",
        "schema_migrations",
        "sqlite_sequence",
        "thread_entries",
        "threads",
        "turns"
      ]
    )
  }).pipe(Effect.provide(memory))
)
