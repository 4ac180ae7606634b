/** The store on a real small disk that is full, and one that is made read-only. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { join } from "node:path"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as Verify from "../../layers/storage/Verify.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"
import * as Program from "../cli/Program.ts"
import { message } from "../laws/Messages.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import * as Needs from "../rigs/Needs.ts"
import * as SmallDisk from "../rigs/SmallDisk.ts"
import * as RawHttp from "../rpc/RawHttp.ts"

/** Runs with a small disk, which must be sound in the end. */
const onSmallDisk = <A, E>(
  use: (path: string) => Effect.Effect<A, E, Journal | StorageHealth | FileSystem.FileSystem>
) =>
  Effect.gen(function* () {
    const path = yield* SmallDisk.make(4)
    const layer = Layer.provideMerge(JournalLive.layer, DiskRig.store(path))
    yield* Effect.provide(use(path), Layer.fresh(layer))
    assert.deepStrictEqual((yield* Verify.database(`${path}/troupe.db`, true)).problems, [])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const long = "x".repeat(12_000)

describe.skipIf(SmallDisk.need.missing)(Needs.titled(SmallDisk.need, "a small disk"), () => {
  it.live("F092: that is full refuses the message whole; with room again the next one is accepted", () =>
    onSmallDisk((path) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const { failing } = yield* StorageHealth
        yield* journal.accept(message({ text: long, externalId: "first" }))
        yield* SmallDisk.fill(path)
        // What the log has of room is used up first.
        const refused = yield* Effect.flip(Effect.forever(journal.accept(message({ text: long }))))
        assert.strictEqual(refused.reason, "full")
        assert.strictEqual((yield* failing)?.reason, "full")
        assert.isTrue((yield* journal.accept(message({ externalId: "first" }))).duplicate)
        yield* SmallDisk.empty(path)
        const { duplicate } = yield* journal.accept(message({ text: long, externalId: "again" }))
        assert.isFalse(duplicate)
        assert.isNull(yield* failing)
      })
    )
  )

  it.live(
    "F093: fails the daemon's health and its clients, with their own exit code, for as long as it is full",
    () =>
      Effect.gen(function* () {
        const path = yield* SmallDisk.make(8)
        const { home } = yield* Program.place
        const at = { home, data: path }
        const daemon = yield* Program.daemon(at, "[logging]\nfile = false\n")
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(daemon.output())?.[0] ?? ""
        const health = Effect.map(RawHttp.send(url, { path: "/health" }), ({ body, status }) => [status, body])
        const say = (text: string) => Program.run(at, ["chat", "--once", "-"], { input: text })
        assert.strictEqual((yield* say("hello")).code, 0)
        yield* SmallDisk.fill(path)
        // More than the log has of room in what it has taken already.
        const refused = yield* say("what is 1+1? ".repeat(70_000))
        assert.deepStrictEqual([refused.code, refused.stdout], [5, ""], refused.stderr)
        assert.match(refused.stderr, /^troupe: The store cannot be used now: the disk is full\./m)
        const [status, body] = yield* health
        assert.strictEqual(status, 503)
        assert.include(String(body), `{"status":"failing","oldest_owed_ms":null,"problem":"the disk is full.`)
        const { stdout } = yield* Program.run(at, ["status"])
        assert.match(stdout, /store +cannot be written since .*: the disk is full\./)
        yield* SmallDisk.empty(path)
        yield* Effect.repeat(health, { until: ([status]) => status === 200, schedule: Schedule.spaced("100 millis") })
        assert.strictEqual((yield* say("hello")).code, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "that is read-only: a sound database is verified and backed up from it, and what cannot be done says why",
    () =>
      Effect.gen(function* () {
        const { home } = yield* Program.place
        const at = { home, data: yield* SmallDisk.make(8) }
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(at.data)))
        yield* SmallDisk.freeze(at.data)
        const sound = yield* Program.run(at, ["verify"])
        assert.deepStrictEqual([sound.code, sound.stderr], [0, ""])
        assert.include(sound.stdout, "Sound: ")
        const made = yield* Program.run(at, ["backup", "saved"])
        assert.strictEqual(made.code, 0, made.stderr)
        assert.strictEqual((yield* Program.run(at, ["verify", "saved"])).code, 0)

        const other = { home, data: join(home, "data") }
        yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeDirectory(other.data))
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(other.data)))
        const place = yield* SmallDisk.make(8)
        yield* SmallDisk.freeze(place)
        const refused = yield* Program.run(other, ["backup", join(place, "saved")])
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "the file system is read-only")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "that is read-only: a database whose log cannot be read there is not called damaged",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { home } = yield* Program.place
        const at = { home, data: yield* SmallDisk.make(8) }
        const live = yield* files.makeTempDirectoryScoped()
        yield* Effect.gen(function* () {
          yield* (yield* Journal).accept(message({ externalId: "first" }))
          for (const end of ["", "-wal"]) yield* files.copyFile(`${live}/troupe.db${end}`, `${at.data}/troupe.db${end}`)
        }).pipe(Effect.provide(Layer.fresh(Layer.provideMerge(JournalLive.layer, DiskRig.store(live)))))
        yield* SmallDisk.freeze(at.data)
        for (const command of [["verify"], ["backup", "saved"]]) {
          const refused = yield* Program.run(at, command)
          assert.deepStrictEqual([refused.code, refused.stdout], [5, ""], refused.stderr)
          assert.include(refused.stderr, "/troupe.db-wal cannot be read where nothing can be written beside it")
          assert.include(refused.stderr, "Copy the data directory to a place that can be written")
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  /** What says that the store cannot be used, and nothing of how the program asked for it. */
  const refusedBy = (result: Program.Result, words: string) => {
    assert.strictEqual(result.code, 5, result.stderr)
    assert.include(result.stderr, words)
    assert.notInclude(result.stderr, "FileSystem.")
    assert.notInclude(result.stderr, "SQLITE")
  }

  it.live(
    "that is full at a start, a chat or a restore says so, and each leaves nothing half written",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { home } = yield* Program.place
        const sound = { home, data: join(home, "data") }
        yield* files.makeDirectory(sound.data)
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(sound.data)))
        assert.strictEqual((yield* Program.run(sound, ["backup", join(home, "saved")])).code, 0)
        const at = { home, data: yield* SmallDisk.make(4) }
        yield* SmallDisk.fill(at.data)
        for (const command of [[], ["chat", "--once", "hello"], ["restore", join(home, "saved")]]) {
          refusedBy(yield* Program.run(at, command), "the disk is full")
          assert.deepStrictEqual(
            (yield* files.readDirectory(at.data)).filter((name) => name !== "lock.db"),
            ["filler"],
            command[0]
          )
        }
        // Room for the small files, and not for a database.
        yield* files.truncate(join(at.data, "filler"), Number((yield* files.stat(join(at.data, "filler"))).size) - 9000)
        for (const command of [[], ["chat", "--once", "hello"], ["restore", join(home, "saved")]]) {
          refusedBy(yield* Program.run(at, command), "full")
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "that is read-only at a start, a chat or a restore says so",
    () =>
      Effect.gen(function* () {
        const { home } = yield* Program.place
        const at = { home, data: yield* SmallDisk.make(8) }
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(at.data)))
        assert.strictEqual((yield* Program.run(at, ["backup", join(home, "saved")])).code, 0)
        yield* SmallDisk.freeze(at.data)
        for (const command of [[], ["chat", "--once", "hello"], ["restore", join(home, "saved")]]) {
          refusedBy(yield* Program.run(at, command), "the file system is read-only")
        }
        const below = { home, data: join(at.data, "below") }
        refusedBy(yield* Program.run(below, []), "the file system is read-only")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "that is full has no room for a backup, which says whose disk it is",
    () =>
      Effect.gen(function* () {
        const { home } = yield* Program.place
        const at = { home, data: join(home, "data") }
        yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeDirectory(at.data))
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(at.data)))
        const place = yield* SmallDisk.make(4)
        yield* SmallDisk.fill(place)
        const refused = yield* Program.run(at, ["backup", join(place, "saved")])
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /^troupe: \/\S+\/saved\S*: the disk is full/)
        assert.notInclude(refused.stderr, "FileSystem.")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
