import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { join } from "node:path"
import * as HeldLive from "../../layers/conversation/Held.ts"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as Care from "../../layers/storage/Care.ts"
import * as NodeSqlite from "../../layers/storage/NodeSqlite.ts"
import * as ThreadsLive from "../../layers/thread/Threads.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Ids from "../../src/Ids.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"
import * as Fixtures from "../conversation/Fixtures.ts"
import { message } from "../laws/Messages.ts"
import * as ClockRig from "../rigs/ClockRig.ts"
import * as DiskRig from "../rigs/DiskRig.ts"

/** A store with its care in a directory. */
const cared = (path: string, settings: Settings.SettingsInput = {}) =>
  Care.layer.pipe(
    Layer.provideMerge(HeldLive.layer),
    Layer.provideMerge(Layer.merge(JournalLive.layer, ThreadsLive.layer)),
    Layer.provideMerge(DiskRig.over(DiskRig.store(path, settings))),
    Layer.provide(Layer.succeed(DataDirectory, { path, file: (name) => join(path, name) })),
    Layer.provide(Layer.orDie(Settings.Settings.layer(settings))),
    Layer.provideMerge(Layer.merge(NodeServices.layer, logger))
  )

const inPlace = <A, E, R>(use: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => Effect.flatMap(files.makeTempDirectoryScoped(), use)).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )

let counter = 0
const sizeOf = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => Effect.map(files.stat(path), (info) => Number(info.size)))

/** Waits, while time passes, for the log to be emptied. */
const emptied = (path: string) =>
  Fixtures.whileTimePasses(
    Effect.repeat(sizeOf(`${path}/troupe.db-wal`), { until: (size) => size === 0 }),
    "10 seconds"
  )

/** What was logged in the tests of this file. */
const lines: Array<string> = []
const logger = Logger.layer([
  Logger.make(({ message }) => {
    lines.push(String(message))
  })
])
const logged = (words: string) =>
  Effect.repeat(
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => lines.some((line) => line.includes(words)))
    ),
    {
      until: (found) => found
    }
  )

describe("care for the store", () => {
  it.effect("F093: notices by itself that there is room again, when nobody writes", () =>
    inPlace((path) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const { failing } = yield* StorageHealth
        const rig = yield* DiskRig.DiskRig
        rig.failWrites(DiskRig.full)
        yield* Effect.flip(journal.accept(message()))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* failing, { reason: "full", since: 0 })
        rig.heal()
        yield* Fixtures.whileTimePasses(
          Effect.repeat(Effect.andThen(Effect.yieldNow, failing), { until: (now) => now === null })
        )
        yield* journal.accept(message())
      }).pipe(Effect.provide(cared(path)))
    )
  )

  it.effect(
    "F143: looks at the file and its lock when the process goes on, and does not make up for what it missed",
    () =>
      inPlace((path) => {
        const rounds = new Map<string, number>()
        const tracer = Tracer.make({
          span: (options) => {
            rounds.set(options.name, (rounds.get(options.name) ?? 0) + 1)
            return new Tracer.NativeSpan(options)
          }
        })
        const looks = Effect.sync(() => rounds.get("storage.presence") ?? 0)
        /** Time passes until it has looked so often. */
        const looked = (times: number) =>
          Fixtures.whileTimePasses(Effect.repeat(Effect.andThen(Effect.yieldNow, looks), { until: (n) => n >= times }))
        return Effect.gen(function* () {
          const rig = yield* ClockRig.ClockRig
          yield* looked(3)
          const before = yield* looks
          yield* rig.standStill("1 hour")
          yield* TestClock.adjust("4 seconds")
          yield* looked(before + 1)
          assert.isAtMost(yield* looks, before + 4)
          yield* rig.shiftTimeOfDay("-1 day")
          yield* looked(before + 2)
        }).pipe(
          Effect.provide(
            Layer.provideMerge(cared(path), Layer.merge(ClockRig.layer, Layer.succeed(Tracer.Tracer, tracer)))
          )
        )
      })
  )

  describe("F143: a time of day that goes ahead by a year", () => {
    const ended = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const id = yield* Ids.makeIncarnationId
      yield* sql`INSERT INTO incarnations ${sql.insert({ id, started_at: 0, ended_at: 1, pid: 1, hostname: "there" })}`
      const kept = Effect.map(
        Effect.orDie(sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM incarnations WHERE id = ${id}`),
        ([row]) => row?.n
      )
      return { kept }
    })
    const warning = "The time of day went ahead by more than a day"

    it.effect("removes nothing at once", () =>
      inPlace((path) =>
        Effect.gen(function* () {
          const rig = yield* ClockRig.ClockRig
          const { kept } = yield* ended
          lines.length = 0
          yield* rig.shiftTimeOfDay("365 days")
          yield* Fixtures.whileTimePasses(logged(warning))
          yield* rig.shiftTimeOfDay("-365 days")
          yield* TestClock.adjust("3 hours")
          assert.strictEqual(yield* kept, 1)
        }).pipe(Effect.provide(Layer.provideMerge(cared(path), ClockRig.layer)))
      )
    )

    it.effect("removes what is old by it when it stays", () =>
      inPlace((path) =>
        Effect.gen(function* () {
          const rig = yield* ClockRig.ClockRig
          const { kept } = yield* ended
          yield* rig.shiftTimeOfDay("365 days")
          yield* Fixtures.whileTimePasses(
            Effect.repeat(Effect.andThen(Effect.yieldNow, kept), { until: (n) => n === 0 }),
            "10 minutes"
          )
        }).pipe(Effect.provide(Layer.provideMerge(cared(path), ClockRig.layer)))
      )
    )
  })

  it.effect("F090: empties the log when nobody writes any more", () =>
    inPlace((path) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const fill = sql.withTransaction(
          Effect.forEach(
            Array.from({ length: 40 }),
            (_, index) =>
              sql`INSERT INTO channel_cursors VALUES (${`c${counter++}-${index}`}, ${"x".repeat(50_000)}, 1)`
          )
        )
        yield* fill
        assert.isAbove(yield* sizeOf(`${path}/troupe.db-wal`), 1_000_000)
        yield* emptied(path)
      }).pipe(Effect.provide(cared(path)))
    )
  )

  it.effect(
    "F090: a reader that does not end holds up a log that is too long: a warning, and it is emptied when the reader is gone",
    () =>
      inPlace((path) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const reader = yield* Scope.make()
          const handle = yield* Effect.provideService(
            NodeSqlite.open({ filename: `${path}/troupe.db`, readonly: true, statementCacheSize: 1 }),
            Scope.Scope,
            reader
          )
          const ask = (text: string) => handle.query(text, [], { shape: "objects", safeIntegers: false, cache: false })
          yield* ask("BEGIN")
          yield* ask("SELECT COUNT(*) FROM threads")
          for (let round = 0; round < 3; round++) {
            yield* sql`INSERT INTO channel_cursors VALUES (${`c${round}`}, ${"x".repeat(400_000)}, 1)`
          }
          yield* Fixtures.whileTimePasses(logged("cannot be emptied"), "10 seconds")
          assert.isAbove(yield* sizeOf(`${path}/troupe.db-wal`), 1_000_000)
          yield* ask("COMMIT")
          yield* Scope.close(reader, yield* Effect.exit(Effect.void))
          yield* emptied(path)
        }).pipe(Effect.provide(cared(path, { storage: { wal_max_bytes: "1MB", busy_timeout_seconds: 0.05 } })))
      )
  )
})
