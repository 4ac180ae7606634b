/**
 * The first schema: what is owed and what was said.
 *
 * Times are unix milliseconds, ids are text, payloads are JSON text. The rules that must hold whatever the program does are held
 * here: one running turn per thread, one row per channel and message id, an append-only log.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const clustered = sql.onDialectOrElse({
    sqlite: () => sql.literal("STRICT, WITHOUT ROWID"),
    orElse: () => sql.literal("")
  })
  // SQLite's integers have 64 bits; elsewhere a time in milliseconds does not fit an INTEGER.
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  yield* sql`CREATE TABLE incarnations (
    id TEXT NOT NULL PRIMARY KEY,
    started_at ${int} NOT NULL,
    pid ${int} NOT NULL,
    hostname TEXT NOT NULL,
    ended_at ${int} CHECK (ended_at >= started_at)
  ) ${strict}`

  yield* sql`CREATE TABLE threads (
    id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    title TEXT,
    next_seq ${int} NOT NULL DEFAULT 1 CHECK (next_seq >= 1),
    history_from ${int} NOT NULL DEFAULT 1 CHECK (history_from BETWEEN 1 AND next_seq),
    owner TEXT REFERENCES incarnations (id),
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX threads_updated ON threads (updated_at, id)`
  yield* sql`CREATE INDEX threads_owner ON threads (owner) WHERE owner IS NOT NULL`

  yield* sql`CREATE TABLE turns (
    id TEXT NOT NULL PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads (id),
    state TEXT NOT NULL CHECK (state IN ('running', 'answered', 'failed', 'stopped', 'parked')),
    attempts ${int} NOT NULL DEFAULT 1 CHECK (attempts >= 0),
    started_at ${int} NOT NULL,
    ended_at ${int},
    steps ${int} NOT NULL DEFAULT 0 CHECK (steps >= 0),
    provider TEXT,
    model TEXT,
    input_tokens ${int} NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens ${int} NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    error_code TEXT,
    error_message TEXT,
    CHECK ((state = 'running') = (ended_at IS NULL))
  ) ${strict}`
  yield* sql`CREATE UNIQUE INDEX turns_one_running ON turns (thread_id) WHERE state = 'running'`
  yield* sql`CREATE INDEX turns_thread ON turns (thread_id, started_at)`

  yield* sql`CREATE TABLE thread_entries (
    thread_id TEXT NOT NULL REFERENCES threads (id),
    seq ${int} NOT NULL CHECK (seq >= 1),
    turn_id TEXT REFERENCES turns (id),
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at ${int} NOT NULL,
    PRIMARY KEY (thread_id, seq)
  ) ${clustered}`
  yield* sql`CREATE INDEX thread_entries_turn ON thread_entries (turn_id, seq) WHERE turn_id IS NOT NULL`
  yield* appendOnly(sql, "thread_entries")

  yield* sql`CREATE TABLE inbox (
    id TEXT NOT NULL PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads (id),
    channel TEXT NOT NULL,
    external_id TEXT NOT NULL,
    seq ${int} NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('person', 'task', 'schedule')),
    delivery TEXT NOT NULL CHECK (delivery IN ('now', 'after-tool', 'after-turn')),
    foldable ${int} NOT NULL CHECK (foldable IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('accepted', 'running', 'answered', 'failed', 'stopped', 'unknown')),
    turn_id TEXT REFERENCES turns (id),
    error_code TEXT,
    error_message TEXT,
    accepted_at ${int} NOT NULL,
    ended_at ${int},
    UNIQUE (channel, external_id),
    CHECK ((state IN ('accepted', 'running')) = (ended_at IS NULL)),
    FOREIGN KEY (thread_id, seq) REFERENCES thread_entries (thread_id, seq)
  ) ${strict}`
  yield* sql`CREATE INDEX inbox_owed ON inbox (thread_id, seq) WHERE state IN ('accepted', 'running')`
  yield* sql`CREATE INDEX inbox_thread ON inbox (thread_id)`
  yield* sql`CREATE INDEX inbox_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL`

  yield* sql`CREATE TABLE outbox (
    ord ${serialKey(sql)},
    id TEXT NOT NULL UNIQUE,
    thread_id TEXT NOT NULL REFERENCES threads (id),
    turn_id TEXT REFERENCES turns (id),
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'unknown')),
    attempts ${int} NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at ${int} NOT NULL,
    sender TEXT REFERENCES incarnations (id),
    in_doubt ${int} NOT NULL DEFAULT 0 CHECK (in_doubt IN (0, 1)),
    created_at ${int} NOT NULL,
    ended_at ${int},
    error_message TEXT,
    CHECK ((state IN ('pending', 'sending')) = (ended_at IS NULL)),
    CHECK ((state = 'sending') = (sender IS NOT NULL))
  ) ${strict}`
  yield* sql`CREATE INDEX outbox_due ON outbox (channel, next_attempt_at) WHERE state IN ('pending', 'sending')`
  yield* sql`CREATE INDEX outbox_order ON outbox (thread_id, ord) WHERE state IN ('pending', 'sending')`
  yield* sql`CREATE INDEX outbox_thread ON outbox (thread_id)`

  yield* sql`CREATE TABLE channel_cursors (
    channel TEXT NOT NULL PRIMARY KEY,
    cursor TEXT NOT NULL,
    updated_at ${int} NOT NULL
  ) ${strict}`
})

// AUTOINCREMENT, not a plain row id: the order must not be given out again after the last row was pruned.
const serialKey = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    sqlite: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT"),
    orElse: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
  })

const appendOnly = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string) {
  yield* sql.onDialectOrElse({
    sqlite: () =>
      Effect.forEach(
        ["UPDATE", "DELETE"],
        (verb) =>
          sql`CREATE TRIGGER ${sql.literal(`${table}_no_${verb.toLowerCase()}`)} BEFORE ${sql.literal(verb)} ON ${sql(table)}
          BEGIN SELECT RAISE(ABORT, ${sql.literal(`'${table} is append-only'`)}); END`,
        { discard: true }
      ),
    orElse: () =>
      Effect.andThen(
        sql`CREATE FUNCTION ${sql.literal(`${table}_refuse`)}() RETURNS trigger LANGUAGE plpgsql AS
          ${sql.literal(`$$ BEGIN RAISE EXCEPTION '${table} is append-only'; END $$`)}`,
        sql`CREATE TRIGGER ${sql.literal(`${table}_append_only`)} BEFORE UPDATE OR DELETE OR TRUNCATE ON ${sql(table)}
          FOR EACH STATEMENT EXECUTE FUNCTION ${sql.literal(`${table}_refuse`)}()`
      )
  })
})
