import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"

const memory = SqliteClient.layer({ filename: ":memory:" })

/** A client over a file of its own, and the file's path. */
const onFile = (options: Partial<SqliteClient.Options> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const directory = yield* files.makeTempDirectoryScoped()
      return SqliteClient.layer({ filename: paths.join(directory, "test.db"), ...options })
    })
  ).pipe(Layer.provideMerge(NodeServices.layer))

const reasonOf = <A>(effect: Effect.Effect<A, SqlError>) =>
  Effect.matchEffect(effect, {
    onFailure: (error) => Effect.succeed(error.reason),
    onSuccess: () => Effect.die("expected a failure")
  })

const table = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT`
  const add = (id: number | bigint, name: string) => sql`INSERT INTO item ${sql.insert({ id, name })}`
  const names = Effect.map(sql<{ readonly name: string }>`SELECT name FROM item ORDER BY id`, (rows) =>
    rows.map((row) => row.name)
  )
  return { sql, add, names }
})

describe("values", () => {
  it.effect("come back as they went in", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bytes = new Uint8Array([0, 1, 255])
      const [row] = yield* sql`SELECT ${1} a, ${1.5} b, ${"ä\u{1F600}"} c, ${null} d, ${bytes} e, ${true} f, ${-5n} g`
      assert.deepStrictEqual(row, { a: 1, b: 1.5, c: "ä\u{1F600}", d: null, e: bytes, f: 1, g: -5 })
      assert.strictEqual(Object.getPrototypeOf(row), Object.prototype)
    }).pipe(Effect.provide(memory))
  )

  it.effect("whole numbers are bound as integers, so text and JSON show no fraction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`SELECT typeof(${5}) t, ${5} || '' s, json_array(${5}) j, typeof(${5.5}) r`
      assert.deepStrictEqual(row, { t: "integer", s: "5", j: "[5]", r: "real" })
    }).pipe(Effect.provide(memory))
  )

  it.effect("a 64-bit id is exact and does not break later statements", () =>
    Effect.gen(function* () {
      const { add, sql } = yield* table
      const big = 9_223_372_036_854_775_807n
      yield* add(big, "big")
      assert.deepStrictEqual(yield* sql.withTransaction(sql`SELECT id FROM item`), [{ id: big }])
      yield* add(-9_007_199_254_740_993n, "negative")
      yield* sql`UPDATE item SET name = 'other' WHERE id = ${big}`
      yield* add(7, "small")
      assert.deepStrictEqual(yield* sql`SELECT id FROM item ORDER BY id`, [
        { id: -9_007_199_254_740_993n },
        { id: 7 },
        { id: big }
      ])
      assert.deepStrictEqual(yield* sql`SELECT id FROM item ORDER BY id`.values, [
        [-9_007_199_254_740_993n],
        [7],
        [big]
      ])
      yield* sql`DELETE FROM item WHERE id <> ${big}`
      const raw = yield* sql`INSERT INTO item ${sql.insert({ id: big - 1n, name: "raw" })}`.raw
      assert.deepStrictEqual(raw, { changes: 1, lastInsertRowid: big - 1n })
    }).pipe(Effect.provide(memory))
  )

  it.effect("safe integers gives every integer as a bigint", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT 1 AS one`.pipe(Effect.provideService(SqlClient.SafeIntegers, true))
      assert.deepStrictEqual(rows, [{ one: 1n }])
    }).pipe(Effect.provide(memory))
  )

  it.effect("a value SQLite cannot hold is refused by its kind, without showing it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const reason = yield* reasonOf(sql.unsafe("SELECT ?, ?", ["fine", { secret: "hunter2" }]))
      assert.include(reason.message, "Parameter 2 is a object")
      assert.notInclude(JSON.stringify(reason), "hunter2")
    }).pipe(Effect.provide(memory))
  )
})

describe("statements", () => {
  it.effect("a clash is a unique violation, whichever kind of key it is", () =>
    Effect.gen(function* () {
      const { add, sql } = yield* table
      yield* sql`CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID`
      yield* sql`INSERT INTO pair VALUES ('a', 'b')`
      yield* add(1, "one")
      const reasons = yield* Effect.forEach(
        [add(2, "one"), add(1, "two"), sql`INSERT INTO pair VALUES ('a', 'b')`],
        reasonOf
      )
      assert.deepStrictEqual(
        reasons.map((reason) => [reason._tag, reason._tag === "UniqueViolation" ? reason.constraint : ""]),
        [
          ["UniqueViolation", "item.name"],
          ["UniqueViolation", "item.id"],
          ["UniqueViolation", "pair.a, pair.b"]
        ]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("foreign keys and checks are enforced", () =>
    Effect.gen(function* () {
      const { sql } = yield* table
      yield* sql`CREATE TABLE child (item INTEGER REFERENCES item (id), n INTEGER CHECK (n > 0)) STRICT`
      assert.strictEqual((yield* reasonOf(sql`INSERT INTO child VALUES (99, 1)`))._tag, "ConstraintError")
      assert.strictEqual((yield* reasonOf(sql`INSERT INTO child VALUES (NULL, 0)`))._tag, "ConstraintError")
    }).pipe(Effect.provide(memory))
  )

  it.effect("a second statement in one text is refused instead of dropped", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const reason = yield* reasonOf(sql.unsafe("CREATE TABLE a (x); CREATE TABLE b (x)"))
      assert.include(reason.message, "more than one statement")
      assert.deepStrictEqual(yield* sql`SELECT name FROM sqlite_schema`, [])
      assert.deepStrictEqual(yield* sql.unsafe("SELECT 1 AS one; -- the end\n /* really */ "), [{ one: 1 }])
    }).pipe(Effect.provide(memory))
  )

  it.effect("column names follow the schema, also after a change was rolled back", () =>
    Effect.gen(function* () {
      const { add, sql } = yield* table
      yield* add(1, "one")
      const read = sql`SELECT * FROM item`
      assert.deepStrictEqual(yield* read, [{ id: 1, name: "one" }])
      yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`ALTER TABLE item RENAME COLUMN name TO title`
            assert.deepStrictEqual(yield* read, [{ id: 1, title: "one" }])
            return yield* Effect.fail("undo")
          })
        )
        .pipe(Effect.flip)
      assert.deepStrictEqual(yield* read, [{ id: 1, name: "one" }])
      yield* sql`ALTER TABLE item ADD COLUMN extra TEXT`
      assert.deepStrictEqual(yield* read, [{ id: 1, name: "one", extra: null }])
    }).pipe(Effect.provide(memory))
  )

  it.effect("more statements than are kept prepared all work", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const round of [1, 2]) {
        for (let n = 0; n < 20; n++) {
          assert.deepStrictEqual(yield* sql.unsafe(`SELECT ${n} AS n, ? AS round`, [round]), [{ n, round }])
        }
      }
    }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:", statementCacheSize: 3 })))
  )
})

describe("transactions", () => {
  const Step = Schema.Literals(["write", "open", "commit", "fail", "interrupt", "clash"])

  it.effect.prop(
    "any nesting of commits, failures and interruptions leaves what a list of snapshots leaves",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function* () {
        const { add, names, sql } = yield* table
        let model: Array<string> = []
        let position = 0
        let next = 1

        // Runs steps up to the end of the current level.
        const level: Effect.Effect<void, string | SqlError> = Effect.gen(function* () {
          while (position < steps.length) {
            const step = steps[position++]
            if (step === "commit") return
            if (step === "fail") return yield* Effect.fail("on purpose")
            if (step === "interrupt") return yield* Effect.interrupt
            if (step === "open") yield* nested
            if (step === "clash" && model.length > 0) yield* reasonOf(add(1_000_000 + next, model[0] ?? ""))
            if (step === "write") {
              const name = `row-${next}`
              yield* add(next++, name)
              model.push(name)
            }
          }
        })
        const nested: Effect.Effect<void, SqlError> = Effect.suspend(() => {
          const before = [...model]
          return Effect.flatMap(Effect.exit(sql.withTransaction(level)), (exit) => {
            if (Exit.isFailure(exit)) model = before
            return Effect.void
          })
        })

        while (position < steps.length) {
          yield* nested
          assert.deepStrictEqual(yield* names, model)
        }
        assert.deepStrictEqual(yield* names, model)
      }).pipe(Effect.provide(memory)),
    { arbitrary: { runs: 150 } }
  )

  it.live("an interrupted transaction is rolled back and the connection goes on", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      const written = yield* Deferred.make<void>()
      const fiber = yield* sql
        .withTransaction(
          Effect.andThen(
            Effect.andThen(add(1, "outer"), sql.withTransaction(add(2, "inner"))),
            Effect.andThen(Deferred.succeed(written, undefined), Effect.never)
          )
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(written)
      // One that waits for its turn behind it can be interrupted as well.
      const queued = yield* Effect.forkChild(sql.withTransaction(add(3, "queued")), { startImmediately: true })
      yield* Fiber.interrupt(queued)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* names, [])
      yield* sql.withTransaction(add(4, "after"))
      assert.deepStrictEqual(yield* names, ["after"])
    }).pipe(Effect.provide(memory))
  )

  it.live("a stream started beside an open transaction does not see inside it", () =>
    Effect.gen(function* () {
      const { add, sql } = yield* table
      const written = yield* Deferred.make<void>()
      const undo = yield* Deferred.make<void>()
      const writer = yield* add(1, "undone").pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Deferred.await(undo)),
        Effect.andThen(Effect.fail("undo")),
        sql.withTransaction,
        Effect.flip,
        Effect.forkChild
      )
      yield* Deferred.await(written)
      const counting = yield* Effect.forkChild(Stream.runCount(sql`SELECT * FROM item`.stream), {
        startImmediately: true
      })
      yield* Deferred.succeed(undo, undefined)
      yield* Fiber.join(writer)
      assert.strictEqual(yield* Fiber.join(counting), 0)
    }).pipe(Effect.provide(memory))
  )

  it.live("concurrent read-then-write transactions lose no update", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE counter (n INTEGER) STRICT`
      yield* sql`INSERT INTO counter VALUES (0)`
      const increment = sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql<{ readonly n: number }>`SELECT n FROM counter`
          yield* Effect.yieldNow
          yield* sql`UPDATE counter SET n = ${(row?.n ?? 0) + 1}`
        })
      )
      yield* Effect.all(
        Array.from({ length: 100 }, () => increment),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* sql`SELECT n FROM counter`, [{ n: 100 }])
    }).pipe(Effect.provide(memory))
  )

  it.effect("a transaction that SQLite ended cannot go on as single writes", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      yield* add(1, "one")
      const exit = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* add(2, "two")
            yield* Effect.ignore(sql`INSERT OR ROLLBACK INTO item VALUES (1, 'clash')`)
            yield* Effect.ignore(add(3, "three"))
            yield* Effect.ignore(sql.withTransaction(add(4, "four")))
          })
        )
        .pipe(Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "SQLite rolled this transaction back")
      assert.deepStrictEqual(yield* names, ["one"])
      yield* sql.withTransaction(add(5, "five"))
      assert.deepStrictEqual(yield* names, ["one", "five"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("a commit that fails is rolled back", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      yield* sql`CREATE TABLE child (item INTEGER REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED) STRICT`
      const error = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(add(1, "one"), sql`INSERT INTO child VALUES (99)`))
      )
      assert.strictEqual(error.reason._tag, "ConstraintError")
      yield* sql.withTransaction(add(2, "two"))
      assert.deepStrictEqual(yield* names, ["two"])
    }).pipe(Effect.provide(memory))
  )
})

describe("files", () => {
  it.effect("are opened with write-ahead logging, foreign keys, and flushes of our own in SQLite's place", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = (name: string) => Effect.map(sql.unsafe(`PRAGMA ${name}`).values, (rows) => rows[0]?.[0])
      assert.deepStrictEqual(
        yield* Effect.forEach(["journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint"], read),
        ["wal", 1, 1, 2000]
      )
    }).pipe(Effect.provide(onFile()))
  )

  it.live("F090: a slow reader of a stream neither stops the writers nor lets the log grow", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const files = yield* FileSystem.FileSystem
      const { checkpoint, path } = yield* SqliteClient.SqliteClient
      const logSize = Effect.map(files.stat(`${path}-wal`), (info) => Number(info.size))
      yield* sql`CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT) STRICT`
      const write = sql`INSERT INTO line (text) VALUES ('0123456789')`
      const batch = (count: number) =>
        sql.withTransaction(Effect.forEach(Array.from({ length: count }), () => write, { discard: true }))
      yield* batch(500)

      const reading = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const reader = yield* sql`SELECT * FROM line`.stream.pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.andThen(Deferred.succeed(reading, undefined), Deferred.await(done))),
        Stream.runCount,
        Effect.forkChild
      )
      yield* Deferred.await(reading)
      for (let n = 0; n < 100; n++) yield* batch(500)
      const bound = 2 * 1000 * 4096
      assert.isBelow(yield* logSize, bound)
      yield* Deferred.succeed(done, undefined)
      assert.strictEqual(yield* Fiber.join(reader), 500)

      // The same amount with a reader that does hold a snapshot, to show that the bound above can be exceeded.
      const other = yield* Layer.build(SqliteClient.layer({ filename: path }))
      const pinned = yield* Effect.forkChild(
        Effect.flatMap(SqlClient.SqlClient, (second) =>
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* second.reserve
              yield* connection.executeUnprepared("BEGIN", [], undefined)
              yield* connection.executeUnprepared("SELECT COUNT(*) FROM line", [], undefined)
              yield* sql`UPDATE line SET text = 'abcdefghij'`
              yield* sql`UPDATE line SET text = 'ABCDEFGHIJ'`
              yield* Effect.forEach(
                Array.from({ length: 10 }),
                (_, n) => sql`UPDATE line SET text = ${`xxxxxxxxx${n}`}`
              )
              assert.isAbove(yield* logSize, bound)
              assert.deepStrictEqual(yield* checkpoint, { complete: false })
              yield* connection.executeUnprepared("COMMIT", [], undefined)
            })
          )
        ).pipe(Effect.provideContext(other))
      )
      yield* Fiber.join(pinned)
      assert.deepStrictEqual(yield* checkpoint, { complete: true })
      assert.strictEqual(yield* logSize, 0)
    }).pipe(Effect.scoped, Effect.provide(onFile({ synchronous: "normal", busyTimeout: 0 })))
  )

  it.effect("waits for another connection's lock without stopping the program, in real time", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      const { path } = yield* SqliteClient.SqliteClient
      const other = yield* Effect.map(Layer.build(SqliteClient.layer({ filename: path })), (context) => context)
      const release = yield* Deferred.make<void>()
      const held = yield* Deferred.make<void>()
      const holder = yield* Effect.flatMap(SqlClient.SqlClient, (second) =>
        second.withTransaction(
          Effect.andThen(
            second`INSERT INTO item VALUES (1, 'first')`,
            Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))
          )
        )
      ).pipe(Effect.provideContext(other), Effect.forkChild)
      yield* Deferred.await(held)
      const waiting = yield* Effect.forkChild(Effect.andThen(add(2, "second"), sql.withTransaction(add(3, "third"))), {
        startImmediately: true
      })
      // This fiber runs while the other one waits: the loop is free.
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(yield* names, ["first", "second", "third"])
    }).pipe(Effect.scoped, Effect.provide(onFile()))
  )

  it.effect("gives up with a lock timeout when the lock stays taken", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      const { path } = yield* SqliteClient.SqliteClient
      const other = yield* Layer.build(SqliteClient.layer({ filename: path }))
      yield* Effect.flatMap(SqlClient.SqlClient, (second) =>
        second.withTransaction(
          Effect.gen(function* () {
            assert.strictEqual((yield* reasonOf(add(1, "one")))._tag, "LockTimeoutError")
            assert.strictEqual((yield* reasonOf(sql.withTransaction(add(1, "one"))))._tag, "LockTimeoutError")
            assert.deepStrictEqual(yield* names, [])
          })
        )
      ).pipe(Effect.provideContext(other))
      yield* add(1, "one")
    }).pipe(Effect.scoped, Effect.provide(onFile({ busyTimeout: "30 millis" })))
  )

  it.effect("F092: a full disk undoes the transaction, and writing goes on once there is room", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      const limit = (pages: number) => sql.unsafe(`PRAGMA max_page_count = ${pages}`)
      yield* add(1, "before")
      // SQLite's own limit on the size of the file fails a write exactly as a full disk does.
      yield* limit(1)
      const reason = yield* reasonOf(sql.withTransaction(Effect.andThen(add(2, "lost"), add(3, "x".repeat(100_000)))))
      assert.include(reason.message, "full")
      assert.deepStrictEqual(yield* names, ["before"])
      yield* limit(1_000_000)
      yield* add(4, "after")
      assert.deepStrictEqual(yield* names, ["before", "after"])
    }).pipe(Effect.provide(onFile()))
  )

  it.effect("are one plain file after a clean close", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const directory = yield* files.makeTempDirectoryScoped()
      const open = SqliteClient.layer({ filename: `${directory}/test.db` })
      yield* Effect.flatMap(table, ({ add }) => add(1, "one")).pipe(Effect.provide(open))
      assert.deepStrictEqual(yield* files.readDirectory(directory), ["test.db"])
      const rows = yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT * FROM item`).pipe(
        Effect.provide(open)
      )
      assert.deepStrictEqual(rows, [{ id: 1, name: "one" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("a backup made while a transaction is open holds what was committed", () =>
    Effect.gen(function* () {
      const { add, names, sql } = yield* table
      const { backup, path } = yield* SqliteClient.SqliteClient
      yield* add(1, "committed")
      yield* sql.withTransaction(Effect.andThen(add(2, "not yet"), backup(`${path}.copy`)))
      assert.deepStrictEqual(yield* names, ["committed", "not yet"])
      const copy = SqliteClient.layer({ filename: `${path}.copy`, readonly: true })
      const rows = yield* Effect.flatMap(SqlClient.SqlClient, (reading) => reading`SELECT name FROM item`).pipe(
        Effect.provide(copy)
      )
      assert.deepStrictEqual(rows, [{ name: "committed" }])
    }).pipe(Effect.provide(onFile()))
  )

  it.live("a database in memory can be backed up", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { add } = yield* table
      const { backup } = yield* SqliteClient.SqliteClient
      yield* add(1, "one")
      const file = `${yield* files.makeTempDirectoryScoped()}/copy.db`
      yield* backup(file)
      const copy = SqliteClient.layer({ filename: file, readonly: true })
      const rows = yield* Effect.flatMap(SqlClient.SqlClient, (reading) => reading`SELECT name FROM item`).pipe(
        Effect.provide(copy)
      )
      assert.deepStrictEqual(rows, [{ name: "one" }])
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(memory, NodeServices.layer)))
  )

  it.effect("opened read-only are not written, and must exist", () =>
    Effect.gen(function* () {
      const { add } = yield* table
      const { path } = yield* SqliteClient.SqliteClient
      yield* add(1, "one")
      const reading = SqliteClient.layer({ filename: path, readonly: true })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT name FROM item`, [{ name: "one" }])
        assert.include((yield* reasonOf(sql`DELETE FROM item`)).message, "readonly")
      }).pipe(Effect.provide(reading))
      const missing = `${path}.missing`
      const error = yield* Effect.flip(Layer.build(SqliteClient.layer({ filename: missing, readonly: true })))
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.include(error.message, missing)
    }).pipe(Effect.scoped, Effect.provide(onFile()))
  )

  it.effect("after the close a statement fails instead of crashing", () =>
    Effect.gen(function* () {
      const sql = yield* Effect.provide(SqlClient.SqlClient, memory)
      assert.include((yield* reasonOf(sql`SELECT 1`)).message, "not open")
    })
  )
})
