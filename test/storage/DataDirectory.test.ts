import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as DataDirectoryLive from "../../layers/storage/DataDirectory.ts"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { HeldLock } from "../../src/storage/HeldLock.ts"
import type { DataDirectoryInUse, DataDirectoryUnusable } from "../../src/storage/StorageError.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Processes from "./fixtures/Processes.ts"

type Place = Layer.Layer<
  DataDirectory,
  DataDirectoryInUse | DataDirectoryUnusable,
  Settings | ClientSettings | Environment | FileSystem.FileSystem | Path.Path
>

const given = (storage: { readonly data_dir?: string }, environment: Readonly<Record<string, string>> = {}) =>
  Layer.mergeAll(Settings.layer({ storage }), ClientSettings.layer({ storage }), Environment.layerTable(environment))

const open = (layer: Place, path: string) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Layer.build(layer), Effect.succeed)), given({ data_dir: path }))

describe("the place", () => {
  const locate = (
    storage: { readonly data_dir?: string },
    environment: Readonly<Record<string, string>>,
    layer: Place = DataDirectoryLive.layerExisting
  ) =>
    Effect.map(DataDirectory, (directory) => directory.path).pipe(
      Effect.provide(layer.pipe(Layer.provide(given(storage, environment))))
    )

  it.effect("is what the settings say, then the variable, then the platform's", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const root = yield* files.makeTempDirectoryScoped()
      const at = (name: string) => paths.join(root, name)
      const environment = { HOME: at("home"), XDG_DATA_HOME: at("xdg"), TROUPE_DATA_DIR: at("variable") }
      assert.strictEqual(yield* locate({ data_dir: at("configured") }, environment), at("configured"))
      assert.strictEqual(yield* locate({}, environment), at("variable"))
      assert.strictEqual(yield* locate({}, { ...environment, TROUPE_DATA_DIR: "" }), at("xdg/troupe"))
      assert.strictEqual(yield* locate({ data_dir: "~/mine" }, environment), at("home/mine"))
      const error = yield* Effect.flip(locate({}, {}))
      assert.strictEqual(error._tag, "DataDirectoryUnusable")
      assert.include(error.message, "home directory is not known")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect.skipIf(Needs.linux.missing)(
    Needs.titled(Needs.linux, "is below the home directory where nothing says"),
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* locate({}, { HOME: "/home/me" }), "/home/me/.local/share/troupe")
        // A relative XDG path is to be ignored, says its specification.
        const relative = { HOME: "/home/me", XDG_DATA_HOME: "data" }
        assert.strictEqual(yield* locate({}, relative), "/home/me/.local/share/troupe")
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("is made for its owner alone", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/a/b`
      yield* locate({ data_dir: path }, {}, DataDirectoryLive.layerLocked)
      assert.strictEqual((yield* files.stat(path)).mode & 0o777, 0o700)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("is not made by who only asks", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/a`
      assert.strictEqual(yield* locate({ data_dir: path }, {}), path)
      assert.isFalse(yield* files.exists(path))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "must be a place that takes directories"), () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(locate({ data_dir: "/proc/1/a/b" }, {}, DataDirectoryLive.layerLocked))
      assert.strictEqual(error._tag, "DataDirectoryUnusable")
      assert.include(error.message, "/proc/1/a/b")
      assert.include(error.message, "it cannot be created")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("must be a directory", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/file`
      yield* files.writeFileString(path, "")
      for (const wrong of [path, `${path}/below`]) {
        const error = yield* Effect.flip(locate({ data_dir: wrong }, {}, DataDirectoryLive.layerLocked))
        assert.strictEqual(error._tag, "DataDirectoryUnusable")
        assert.include(error.message, wrong)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("must be writable", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      yield* files.chmod(path, 0o555)
      const child = yield* Processes.start("openDatabase.ts", path, "directory")
      const line = yield* child.line
      assert.include(line, "DataDirectoryUnusable")
      assert.include(line, "this user may not write to it")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("the lock", () => {
  it.effect("is held for the scope, also against this process, and leaves no name behind", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      const locked = open(DataDirectoryLive.layerLocked, path)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(DataDirectoryLive.layerLocked.pipe(Layer.provide(given({ data_dir: path }))))
          const error = yield* Effect.flip(locked)
          assert.strictEqual(error._tag, "DataDirectoryInUse")
          assert.include(error.message, `process ${process.pid}`)
          assert.include(error.message, "Stop that daemon")
          // A client that only reads needs no lock.
          yield* open(DataDirectoryLive.layerExisting, path)
        })
      )
      yield* locked
      assert.deepStrictEqual(yield* files.readDirectory(path), ["lock.db"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("is taken from the dead with what they left half written", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempDirectoryScoped()
      for (const name of [
        "lock.json.123",
        "lock.json.124.new",
        "endpoint.json.123.new",
        "token.9.new",
        "my.json.1.new"
      ]) {
        yield* files.writeFileString(`${path}/${name}`, "")
      }
      yield* open(DataDirectoryLive.layerLocked, path)
      assert.deepStrictEqual((yield* files.readDirectory(path)).toSorted(), ["lock.db", "my.json.1.new"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  const held = (path: string) =>
    Effect.map(
      Layer.build(Layer.fresh(DataDirectoryLive.layerLocked).pipe(Layer.provide(given({ data_dir: path })))),
      (context) => Context.get(context, HeldLock)
    )

  for (const [name, lose] of [
    ["is deleted", (files: FileSystem.FileSystem, path: string) => files.remove(`${path}/lock.db`)],
    [
      "is replaced",
      (files: FileSystem.FileSystem, path: string) =>
        Effect.andThen(
          files.writeFileString(`${path}/lock.other`, ""),
          files.rename(`${path}/lock.other`, `${path}/lock.db`)
        )
    ]
  ] as const) {
    it.live(`whose file ${name} is taken anew`, () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = yield* files.makeTempDirectoryScoped()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const lock = yield* held(path)
            assert.isTrue(yield* lock.look)
            yield* lose(files, path)
            assert.isTrue(yield* lock.look)
            assert.strictEqual(
              (yield* Effect.flip(open(DataDirectoryLive.layerLocked, path)))._tag,
              "DataDirectoryInUse"
            )
          })
        )
        yield* open(DataDirectoryLive.layerLocked, path)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  }

  it.live(
    "whose file is deleted is lost to a process that was faster, and left alone from then on",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = yield* folder("taken")
        yield* files.writeFileString(`${path}/go`, "")
        const outer = yield* Effect.scope
        const other = yield* Effect.scoped(
          Effect.gen(function* () {
            const lock = yield* held(`${path}/data`)
            yield* files.remove(`${path}/data/lock.db`)
            const other = yield* Processes.start("holdDirectory.ts", path).pipe(Scope.provide(outer))
            assert.deepStrictEqual([yield* other.line, yield* other.line], ["ready", `held ${other.pid}`])
            assert.isFalse(yield* lock.look)
            assert.isFalse(yield* lock.look)
            return other
          })
        )
        assert.include(yield* files.readFileString(`${path}/data/lock.json`), `"pid":${other.pid}`)
        const error = yield* Effect.flip(open(DataDirectoryLive.layerLocked, `${path}/data`))
        assert.include(error.message, `process ${other.pid} (since 2`)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  const folder = Effect.fnUntraced(function* (name: string) {
    const files = yield* FileSystem.FileSystem
    const path = `${yield* files.makeTempDirectoryScoped()}/${name}`
    yield* files.makeDirectory(`${path}/data`, { recursive: true, mode: 0o700 })
    return path
  })

  it.live(
    "F087 names its holder, and is free the moment the holder is killed",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = yield* folder("one")
        yield* files.writeFileString(`${path}/go`, "")
        const locked = open(DataDirectoryLive.layerLocked, `${path}/data`)
        const holder = yield* Processes.start("holdDirectory.ts", path)
        assert.deepStrictEqual([yield* holder.line, yield* holder.line], ["ready", `held ${holder.pid}`])

        const other = yield* Processes.start("holdDirectory.ts", path)
        assert.deepStrictEqual([yield* other.line, yield* other.line], ["ready", `refused ${holder.pid}`])
        const error = yield* Effect.flip(locked)
        assert.strictEqual(error._tag, "DataDirectoryInUse")
        assert.include(error.message, `process ${holder.pid} (since 2`)

        yield* holder.kill
        assert.include(yield* files.readDirectory(`${path}/data`), "lock.json", "the name of the dead is still there")
        yield* locked
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "of eight processes that start at once exactly one gets it",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const rounds = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => folder(`round-${n}`))
        const children = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, n) => n),
          () => Processes.start("holdDirectory.ts", ...rounds),
          { concurrency: "unbounded" }
        )
        const all = Effect.forEach(children, (child) => child.line, { concurrency: "unbounded" })
        yield* all
        for (const round of rounds) {
          // What a killed daemon leaves: a name that must not be believed.
          yield* files.writeFileString(`${round}/data/lock.json`, '{"pid":4194304,"hostname":"gone","since":1}')
          yield* files.writeFileString(`${round}/go`, "")
          const lines = yield* all
          const winners = children.filter((child, index) => lines[index] === `held ${child.pid}`)
          assert.strictEqual(winners.length, 1, lines.join(", "))
          const refused = lines.filter((line) => line === `refused ${winners[0]?.pid}`)
          assert.strictEqual(refused.length, 7, lines.join(", "))
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
