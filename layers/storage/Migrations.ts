/**
 * The schema's history: forward-only steps, run together in one transaction.
 *
 * A step is a module in `migrations/NNNN_name.ts` whose default export is an effect over `SqlClient`. A released step is never
 * edited; a change is a new step.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { MigrationFailed, SchemaTooNew } from "../../src/storage/StorageError.ts"
import first from "./migrations/0001_first.ts"
import openAiRequests from "./migrations/0002_openai_requests.ts"
import care from "./migrations/0003_care.ts"
import activeTime from "./migrations/0004_active_time.ts"
import attachments from "./migrations/0005_attachments.ts"
import notes from "./migrations/0006_notes.ts"
import sideEffects from "./migrations/0007_side_effects.ts"
import approvals from "./migrations/0008_approvals.ts"
import budgets from "./migrations/0009_budgets.ts"

/** Steps by `NNNN_name`. */
export type Steps = Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>>

/** Every step of this release. */
export const steps: Steps = {
  "0001_first": first,
  "0002_openai_requests": openAiRequests,
  "0003_care": care,
  "0004_active_time": activeTime,
  "0005_attachments": attachments,
  "0006_notes": notes,
  "0007_side_effects": sideEffects,
  "0008_approvals": approvals,
  "0009_budgets": budgets
}

/** The newest schema that this release knows. */
export const newest = Math.max(...Object.keys(steps).map((name) => Number.parseInt(name, 10)))

// The table in which the applied steps are recorded.
const table = "schema_migrations"

/**
 * Brings the database up to this release's schema, and gives the steps that ran. Two processes can call it at once: the second
 * waits for the first's transaction and finds nothing to do.
 *
 * `path` is only named in errors. Fails with `SchemaTooNew` before anything is written, or with `MigrationFailed` after
 * everything was rolled back.
 */
export const run: (
  path: string,
  all?: Steps
) => Effect.Effect<ReadonlyArray<string>, SchemaTooNew | MigrationFailed, SqlClient.SqlClient> = Effect.fn(
  "Migrations.run"
)(function* (path: string, all: Steps = steps) {
  const failed = (migration: string | undefined) => (error: Migrator.MigrationError | SqlError) =>
    new MigrationFailed({ path, migration, detail: describe(error) })

  yield* refuseNewer(path, all).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(failed(undefined)(error))))

  // The step that is running is remembered for the message: the migrator's error carries its name only inside a sentence.
  let current: string | undefined = undefined
  const named = Object.fromEntries(
    Object.entries(all).map(([name, step]) => [
      name,
      Effect.suspend(() => {
        current = name
        return step
      })
    ])
  )
  const migrate = Migrator.make({})({ loader: Migrator.fromRecord(named), table })
  const sql = yield* SqlClient.SqlClient
  // The outer transaction makes the migrator's own table part of it, so that a failure leaves not even an empty table.
  // The version is read again inside, where no other process can change it.
  const applied = yield* sql.withTransaction(Effect.andThen(refuseNewer(path, all), migrate)).pipe(
    Effect.catchIf(
      (error) => error._tag !== "SchemaTooNew",
      (error) => Effect.fail(failed(current)(error))
    )
  )
  return applied.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)
})

/** The newest applied step's number, 0 for an empty database. */
export const version: Effect.Effect<number, SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql.onDialectOrElse({
    sqlite: () => sql<object>`SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = ${table}`,
    orElse: () => sql<object>`SELECT 1 AS found FROM information_schema.tables WHERE table_name = ${table}`
  })
  if (tables.length === 0) return 0
  const rows = yield* sql<{ readonly version: number | null }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`
  return rows[0]?.version ?? 0
})

const refuseNewer = Effect.fnUntraced(function* (path: string, all: Steps) {
  const found = yield* version
  const supported = Math.max(0, ...Object.keys(all).map((name) => Number.parseInt(name, 10)))
  if (found > supported) return yield* new SchemaTooNew({ path, found, supported })
})

const describe = (error: Migrator.MigrationError | SqlError): string =>
  error._tag === "MigrationError" && error.cause instanceof Error ? error.cause.message : error.message
