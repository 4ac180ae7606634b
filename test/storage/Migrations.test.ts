import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"

const memory = SqliteClient.layer({ filename: ":memory:" })
const migrated = Layer.effectDiscard(Effect.orDie(Migrations.run(":memory:"))).pipe(Layer.provideMerge(memory))

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql.unsafe(text)))
const objects = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly name: string }>`SELECT name FROM sqlite_schema ORDER BY name`, (rows) =>
    rows.map((row) => row.name)
  )
)

describe("running", () => {
  it.effect("creates the schema once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual(yield* Migrations.version, 0)
      assert.deepStrictEqual(yield* Migrations.run(":memory:"), Object.keys(Migrations.steps))
      assert.deepStrictEqual(yield* Migrations.run(":memory:"), [])
      assert.strictEqual(yield* Migrations.version, Object.keys(Migrations.steps).length)
      const tables = yield* sql<{ readonly name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`
      assert.includeMembers(
        tables.map((row) => row.name),
        ["channel_cursors", "inbox", "incarnations", "outbox", "thread_entries", "threads", "turns"]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("runs only the steps that are new, in order", () =>
    Effect.gen(function* () {
      const first = { "0001_a": statement("CREATE TABLE a (x)") }
      assert.deepStrictEqual(yield* Migrations.run("db", first), ["0001_a"])
      const more = {
        "0003_c": statement("ALTER TABLE b ADD COLUMN y"),
        ...first,
        "0002_b": statement("CREATE TABLE b (x)")
      }
      assert.deepStrictEqual(yield* Migrations.run("db", more), ["0002_b", "0003_c"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("refuses a newer schema before anything is written", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const supported = Object.keys(Migrations.steps).length
      const later = `${String(supported + 1).padStart(4, "0")}_later`
      yield* Migrations.run("db", { [later]: statement("CREATE TABLE later (x)") })
      const changes = sql`SELECT total_changes() AS n`
      const before = [yield* changes, yield* objects]
      const error = yield* Effect.flip(Migrations.run("the.db"))
      assert.strictEqual(error._tag, "SchemaTooNew")
      assert.deepInclude(error, { path: "the.db", found: supported + 1, supported })
      assert.include(error.message, "Install the newer release")
      assert.deepStrictEqual([yield* changes, yield* objects], before)
    }).pipe(Effect.provide(memory))
  )

  it.effect("leaves nothing of a failed run, not even its own table", () =>
    Effect.gen(function* () {
      const broken = {
        "0001_good": statement("CREATE TABLE good (x)"),
        "0002_bad": statement("CREATE TABLE worse (x, )"),
        "0003_never": statement("CREATE TABLE never (x)")
      }
      const error = yield* Effect.flip(Migrations.run("the.db", broken))
      assert.strictEqual(error._tag, "MigrationFailed")
      assert.include(error.message, "0002_bad")
      assert.include(error.message, "syntax error")
      assert.deepStrictEqual(yield* objects, [])
      assert.strictEqual(yield* Migrations.version, 0)
      // The corrected release starts from the same place.
      const fixed = { ...broken, "0002_bad": statement("CREATE TABLE better (x)") }
      assert.deepStrictEqual(yield* Migrations.run("the.db", fixed), Object.keys(broken))
    }).pipe(Effect.provide(memory))
  )

  it.effect("a failed later step keeps the earlier version", () =>
    Effect.gen(function* () {
      const first = { "0001_a": statement("CREATE TABLE a (x)") }
      yield* Migrations.run("db", first)
      const before = yield* objects
      const crash = { ...first, "0002_b": Effect.andThen(statement("CREATE TABLE b (x)"), Effect.die("a bug")) }
      assert.isTrue((yield* Effect.exit(Migrations.run("db", crash)))._tag === "Failure")
      assert.deepStrictEqual(yield* objects, before)
      assert.strictEqual(yield* Migrations.version, 1)
    }).pipe(Effect.provide(memory))
  )

  it.live("two connections at once: one runs them, the other finds nothing to do", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const filename = `${yield* files.makeTempDirectoryScoped()}/race.db`
      const one = Effect.provide(Migrations.run(filename), SqliteClient.layer({ filename }), { local: true })
      const runs = yield* Effect.all(
        Array.from({ length: 6 }, () => one),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(runs.map((applied) => applied.length).toSorted(), [
        0,
        0,
        0,
        0,
        0,
        Object.keys(Migrations.steps).length
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("the schema", () => {
  const thread = (id: string) =>
    statement(
      `INSERT INTO threads (id, key, agent, created_at, updated_at) VALUES ('${id}', 'web:${id}', 'main', 1, 1)`
    )
  const entry = (threadId: string, seq: number) =>
    statement(`INSERT INTO thread_entries VALUES ('${threadId}', ${seq}, NULL, 'user', '{}', 1)`)
  const turn = (id: string, threadId: string, state: string) =>
    statement(
      `INSERT INTO turns (id, thread_id, state, started_at, ended_at)
       VALUES ('${id}', '${threadId}', '${state}', 1, ${state === "running" ? "NULL" : "2"})`
    )
  const message = (id: string, externalId: string, state = "accepted", endedAt = "NULL") =>
    statement(
      `INSERT INTO inbox (id, thread_id, channel, source, external_id, seq, delivery, foldable, state, accepted_at, ended_at)
       VALUES ('${id}', 't', 'web', 'person', '${externalId}', 1, 'now', 1, '${state}', 1, ${endedAt})`
    )
  const delivery = (id: string) =>
    statement(
      `INSERT INTO outbox (id, thread_id, channel, chat, payload, state, next_attempt_at, created_at)
       VALUES ('${id}', 't', 'web', 'c', '{}', 'pending', 1, 1)`
    )
  const refused = <A>(effect: Effect.Effect<A, SqlError, SqlClient.SqlClient>) =>
    Effect.matchEffect(effect, {
      onFailure: (error) => Effect.succeed(`${error.reason._tag}: ${error.message}`),
      onSuccess: () => Effect.die("expected a refusal")
    })

  it.effect("the log is append-only", () =>
    Effect.gen(function* () {
      yield* thread("t")
      yield* entry("t", 1)
      yield* entry("t", 2)
      for (const text of [
        "UPDATE thread_entries SET payload = '1' WHERE seq = 1",
        "DELETE FROM thread_entries WHERE seq = 2",
        "DELETE FROM thread_entries",
        "UPDATE thread_entries SET seq = 9 WHERE seq = 2",
        "REPLACE INTO thread_entries VALUES ('t', 1, NULL, 'user', 'other', 1)"
      ]) {
        assert.match(yield* refused(statement(text)), /append-only/, text)
      }
      assert.match(yield* refused(entry("t", 2)), /^UniqueViolation/)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT seq, payload FROM thread_entries`, [
        { seq: 1, payload: "{}" },
        { seq: 2, payload: "{}" }
      ])
    }).pipe(Effect.provide(migrated))
  )

  it.effect("one running turn per thread", () =>
    Effect.gen(function* () {
      yield* thread("t")
      yield* thread("u")
      yield* turn("1", "t", "answered")
      yield* turn("2", "t", "running")
      yield* turn("3", "u", "running")
      assert.match(yield* refused(turn("4", "t", "running")), /^UniqueViolation: .*turns\.thread_id/)
      yield* statement("UPDATE turns SET state = 'stopped', ended_at = 3 WHERE id = '2'")
      yield* turn("4", "t", "running")
    }).pipe(Effect.provide(migrated))
  )

  it.effect("one row per message of a channel, with an end exactly when it is over", () =>
    Effect.gen(function* () {
      yield* thread("t")
      yield* entry("t", 1)
      yield* message("1", "m")
      assert.match(yield* refused(message("2", "m")), /^UniqueViolation: .*inbox\.channel, inbox\.external_id/)
      assert.match(yield* refused(message("2", "n", "answered")), /^ConstraintError/)
      assert.match(yield* refused(message("2", "n", "running", "5")), /^ConstraintError/)
      assert.match(yield* refused(message("2", "n", "lost")), /^ConstraintError/)
      yield* message("2", "n", "answered", "5")
    }).pipe(Effect.provide(migrated))
  )

  it.effect("the order of deliveries is never given out twice", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* thread("t")
      yield* delivery("a")
      yield* delivery("b")
      yield* sql`DELETE FROM outbox WHERE id = 'b'`
      yield* delivery("c")
      assert.deepStrictEqual(yield* sql`SELECT id, ord FROM outbox ORDER BY ord`, [
        { id: "a", ord: 1 },
        { id: "c", ord: 3 }
      ])
    }).pipe(Effect.provide(migrated))
  )

  it.effect("nothing refers to what is not there, and columns keep their types", () =>
    Effect.gen(function* () {
      assert.match(yield* refused(entry("nobody", 1)), /^ConstraintError: FOREIGN KEY/)
      yield* thread("t")
      assert.match(yield* refused(message("1", "m")), /^ConstraintError: FOREIGN KEY/)
      assert.match(
        yield* refused(statement("UPDATE threads SET owner = 'inc_nobody'")),
        /^ConstraintError: FOREIGN KEY/
      )
      assert.match(yield* refused(statement("UPDATE threads SET next_seq = 'many'")), /cannot store TEXT/)
      assert.match(yield* refused(statement("UPDATE threads SET history_from = 5")), /^ConstraintError: CHECK/)
    }).pipe(Effect.provide(migrated))
  )

  it.effect("the questions asked all the time are answered from an index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plan = (text: string) =>
        Effect.map(sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`), (rows) =>
          rows.map((row) => row.detail).join("; ")
        )
      const owed = "SELECT id FROM inbox WHERE thread_id = 't' AND state IN ('accepted', 'running') ORDER BY seq"
      assert.include(yield* plan(owed), "inbox_owed")
      const threads = "SELECT DISTINCT thread_id FROM inbox WHERE state IN ('accepted', 'running')"
      assert.include(yield* plan(threads), "inbox_owed")
      const due =
        "SELECT id FROM outbox WHERE state IN ('pending', 'sending') AND channel = 'c' AND next_attempt_at <= 5"
      assert.include(yield* plan(due), "outbox_due")
      assert.include(yield* plan("SELECT id FROM threads ORDER BY updated_at DESC LIMIT 20"), "threads_updated")
      assert.include(
        yield* plan("SELECT id FROM turns WHERE thread_id = 't' AND state = 'running'"),
        "turns_one_running"
      )
    }).pipe(Effect.provide(migrated))
  )
})
