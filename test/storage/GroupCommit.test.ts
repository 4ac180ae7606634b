/** The laws of group commit: what is said of a write, by whom and when, while the flush that it shares is under way or fails. */
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
import * as SqlClient from "effect/sql/SqlClient"
import * as Defects from "../../layers/storage/Defects.ts"
import * as Durability from "../../layers/storage/Durability.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import { unavailableIn } from "../../src/storage/StorageError.ts"
import * as HeldFlushes from "../rigs/HeldFlushes.ts"

const store = (options: Partial<SqliteClient.Options> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const directory = yield* files.makeTempDirectoryScoped()
      return HeldFlushes.over(SqliteClient.layer({ filename: paths.join(directory, "test.db"), ...options }))
    })
  ).pipe(Layer.provideMerge(NodeServices.layer))

const table = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const disk = yield* HeldFlushes.Disk
  yield* sql`CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE) STRICT`
  const add = (name: string) => sql.withTransaction(sql`INSERT INTO item ${sql.insert({ name })}`)
  const names = Effect.map(sql<{ readonly name: string }>`SELECT name FROM item ORDER BY id`, (rows) =>
    rows.map((row) => row.name)
  )
  const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })
  return { sql, disk, add, names, fork }
})

const isOpen = <A, E>(fiber: Fiber.Fiber<A, E>) => fiber.pollUnsafe() === undefined

const mustBeUnflushed = <A, E>(exit: Exit.Exit<A, E>) => {
  assert(Exit.isFailure(exit), "success was reported")
  return Effect.map(Effect.exit(Defects.orDefect(Effect.failCause(exit.cause))), (defect) => {
    assert(Exit.isFailure(defect))
    assert.strictEqual(unavailableIn(defect.cause)?.reason, "unflushed", Cause.pretty(defect.cause))
  })
}

describe("group commit", () => {
  it.live("nobody is told of a write, and nobody reads it, before it is on the disk", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names } = yield* table
      disk.hold()
      const writing = yield* fork(add("one"))
      const flush = yield* disk.held
      const reading = yield* fork(names)
      const refused = yield* fork(Effect.exit(add("one")))
      yield* Effect.yieldNow
      assert.isTrue(isOpen(writing), "the write was reported before its flush")
      assert.isTrue(isOpen(reading), "a row was shown before its flush")
      assert.isTrue(isOpen(refused), "a failure told of a row before its flush")
      flush.letGo()
      yield* Fiber.join(writing)
      assert.deepStrictEqual(yield* Fiber.join(reading), ["one"])
      assert.isTrue(Exit.isFailure(yield* Fiber.join(refused)))
    }).pipe(Effect.provide(store()))
  )

  it.live("what is written while a flush runs shares the next one, and is told in the order it was written", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names } = yield* table
      const before = disk.count()
      disk.hold()
      const told: Array<string> = []
      const tell = (name: string) => Effect.tap(add(name), () => Effect.sync(() => void told.push(name)))
      const first = yield* fork(tell("0"))
      const one = yield* disk.held
      const others = yield* Effect.forEach(["1", "2", "3", "4"], (name) => fork(tell(name)))
      one.letGo()
      yield* Fiber.join(first)
      const two = yield* disk.held
      assert.deepStrictEqual(told, ["0"])
      two.letGo()
      yield* Effect.forEach(others, Fiber.join)
      assert.deepStrictEqual(told, ["0", "1", "2", "3", "4"])
      assert.strictEqual(disk.count() - before, 2)
      assert.deepStrictEqual(yield* names, told)
    }).pipe(Effect.provide(store()))
  )

  it.live("F089 of eight writers that never pause none is left behind, and the program goes on meanwhile", () =>
    Effect.gen(function* () {
      const { add, disk, sql } = yield* table
      const done = Array.from({ length: 8 }, () => 0)
      let widest = 0
      let turns = 0
      const writer = (_: number, which: number) =>
        Effect.gen(function* () {
          for (let n = 0; n < 125; n++) {
            yield* add(`${which} ${n}`)
            done[which] = n + 1
            widest = Math.max(widest, Math.max(...done) - Math.min(...done))
          }
        })
      const before = disk.count()
      // Each is a turn of the event loop, on which everything else waits.
      const loop = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => void turns++)
          )
        )
      )
      yield* Effect.all(done.map(writer), { concurrency: "unbounded", discard: true })
      yield* Fiber.interrupt(loop)
      assert.deepStrictEqual(yield* sql`SELECT COUNT(*) AS n FROM item`, [{ n: 1000 }])
      assert.isAtMost(widest, 8, "somebody had to let others go first, again and again")
      assert.isAtLeast(turns, disk.count() - before, "the event loop stood still while the disk worked")
    }).pipe(Effect.scoped, Effect.provide(store()))
  )

  it.live("one that fails does not take the others with it", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names, sql } = yield* table
      yield* add("one")
      disk.hold()
      const writing = yield* fork(add("two"))
      const flush = yield* disk.held
      const clash = yield* fork(Effect.exit(add("one")))
      const dies = yield* fork(Effect.exit(sql.withTransaction(Effect.andThen(add("never"), Effect.die("no")))))
      const other = yield* fork(add("three"))
      flush.letGo()
      yield* Effect.flatMap(disk.held, ({ letGo }) => Effect.sync(letGo))
      yield* Fiber.join(writing)
      yield* Fiber.join(other)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(clash)))
      assert.isTrue(Exit.isFailure(yield* Fiber.join(dies)))
      assert.deepStrictEqual(yield* names, ["one", "two", "three"])
    }).pipe(Effect.provide(store()))
  )

  it.live("a flush that fails fails all that wait, those that came meanwhile, and everything after", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names } = yield* table
      disk.hold()
      const first = yield* fork(Effect.exit(add("one")))
      const flush = yield* disk.held
      const others = yield* Effect.forEach(["two", "three"], (name) => fork(Effect.exit(add(name))))
      const reader = yield* fork(Effect.exit(names))
      const before = disk.count()
      flush.fail()
      for (const fiber of [first, ...others]) yield* mustBeUnflushed(yield* Fiber.join(fiber))
      yield* mustBeUnflushed(yield* Fiber.join(reader))
      yield* mustBeUnflushed(yield* Effect.exit(add("four")))
      yield* mustBeUnflushed(yield* Effect.exit(names))
      assert.strictEqual(disk.count(), before, "the system was asked again, and might have said yes")
    }).pipe(Effect.provide(store()))
  )

  it.live("a transaction that is open when the flush fails is rolled back", () =>
    Effect.gen(function* () {
      const { add, disk, fork, sql } = yield* table
      const { path } = yield* SqliteClient.SqliteClient
      disk.hold()
      const first = yield* fork(Effect.exit(add("one")))
      const flush = yield* disk.held
      const inside = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const open = yield* fork(
        Effect.exit(
          sql.withTransaction(
            Effect.andThen(
              sql`INSERT INTO item (name) VALUES ('open')`,
              Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(goOn))
            )
          )
        )
      )
      yield* Deferred.await(inside)
      flush.fail()
      yield* mustBeUnflushed(yield* Fiber.join(first))
      yield* Deferred.succeed(goOn, undefined)
      yield* mustBeUnflushed(yield* Fiber.join(open))
      // Another life reads what there is: the one nobody knew about, and nothing of the other.
      const next = yield* Layer.build(SqliteClient.layer({ filename: path }))
      const rows = yield* Effect.flatMap(SqlClient.SqlClient, (other) => other`SELECT name FROM item`).pipe(
        Effect.provideContext(next)
      )
      assert.deepStrictEqual(rows, [{ name: "one" }])
    }).pipe(Effect.scoped, Effect.provide(store()))
  )

  it.live("who is interrupted while it waits has written, and the others get their flush", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names } = yield* table
      disk.hold()
      const first = yield* fork(add("one"))
      const flush = yield* disk.held
      const second = yield* fork(add("two"))
      const third = yield* fork(add("three"))
      const interrupting = yield* fork(Fiber.interrupt(second))
      yield* Effect.yieldNow
      // It is not taken for one that has not begun.
      assert.isTrue(isOpen(interrupting))
      flush.letGo()
      yield* Effect.flatMap(disk.held, ({ letGo }) => Effect.sync(letGo))
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(yield* names, ["one", "two", "three"])
    }).pipe(Effect.provide(store()))
  )

  it.live("who need not wait is told at once, its flush begins, and who comes after waits for both", () =>
    Effect.gen(function* () {
      const { add, disk, fork, names } = yield* table
      const before = disk.count()
      disk.hold()
      yield* Durability.deferred(add("one"))
      const flush = yield* disk.held
      yield* Durability.deferred(add("two"))
      assert.deepStrictEqual(yield* Durability.deferred(names), ["one", "two"])
      const reading = yield* fork(names)
      yield* Effect.yieldNow
      assert.isTrue(isOpen(reading), "a row was shown before its flush")
      flush.letGo()
      const second = yield* disk.held
      assert.isTrue(isOpen(reading), "a row was shown before its flush")
      second.letGo()
      assert.deepStrictEqual(yield* Fiber.join(reading), ["one", "two"])
      assert.strictEqual(disk.count() - before, 2)
    }).pipe(Effect.provide(store()))
  )

  it.live("what nobody waits for is flushed all the same, also what came while a flush ran", () =>
    Effect.gen(function* () {
      const { add, disk } = yield* table
      disk.hold()
      yield* Durability.deferred(add("one"))
      const flush = yield* disk.held
      yield* Durability.deferred(add("two"))
      flush.letGo()
      yield* Effect.flatMap(disk.held, ({ letGo }) => Effect.sync(letGo))
    }).pipe(Effect.provide(store()))
  )

  it.live("who did not wait learns of a flush that failed from whatever it asks next", () =>
    Effect.gen(function* () {
      const { add, disk, names } = yield* table
      disk.hold()
      yield* Durability.deferred(add("one"))
      yield* Effect.flatMap(disk.held, ({ fail }) => Effect.sync(fail))
      yield* mustBeUnflushed(yield* Effect.exit(Durability.deferred(names)))
      yield* mustBeUnflushed(yield* Effect.exit(Durability.deferred(add("two"))))
    }).pipe(Effect.provide(store()))
  )

  it.live("the log is flushed where it is, after it was folded into the file and cut", () =>
    Effect.gen(function* () {
      const { add, disk, names } = yield* table
      const { checkpoint } = yield* SqliteClient.SqliteClient
      const before = disk.count()
      yield* add("one")
      yield* checkpoint
      yield* add("two")
      assert.deepStrictEqual(yield* names, ["one", "two"])
      assert.strictEqual(disk.count() - before, 2)
    }).pipe(Effect.provide(store()))
  )

  it.live("reading alone flushes nothing, and neither does a store that need not survive a power cut", () =>
    Effect.gen(function* () {
      const count = Effect.gen(function* () {
        const { add, disk, names } = yield* table
        yield* add("one")
        const before = disk.count()
        yield* names
        yield* names
        return [before > 0, disk.count() - before]
      })
      assert.deepStrictEqual(yield* Effect.provide(count, store()), [true, 0])
      assert.deepStrictEqual(yield* Effect.provide(count, store({ synchronous: "normal" })), [false, 0])
    })
  )
})
