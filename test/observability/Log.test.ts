import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Log from "../../layers/observability/Log.ts"
import * as RotatingFile from "../../layers/observability/RotatingFile.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Folding from "../../src/observability/Folding.ts"
import * as LogLine from "../../src/observability/LogLine.ts"
import * as KnownSecrets from "../../src/secret/KnownSecrets.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as ClockRig from "../rigs/ClockRig.ts"

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

/** Runs a program with the log in a directory of its own, and gives the lines it wrote. */
const logged = <E>(program: Effect.Effect<void, E, KnownSecrets.KnownSecrets>, settings: SettingsInput = {}) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const path = yield* files.makeTempDirectoryScoped()
    const surroundings = Layer.mergeAll(
      Layer.succeed(DataDirectory, { path, file: (name) => paths.join(path, name) }),
      Settings.layer(settings),
      Environment.layerTable({}),
      KnownSecrets.KnownSecrets.layer([Redacted.make("sk-known-secret"), Redacted.make('with "quotes" \\ and more')])
    )
    yield* program.pipe(Effect.provide(Layer.provideMerge(Log.layer({ terminal: false }), surroundings)), Effect.scoped)
    const text = yield* files.readFileString(paths.join(path, "logs", "troupe.log"))
    const mode = (yield* files.stat(paths.join(path, "logs", "troupe.log"))).mode & 0o777
    const lines = yield* Effect.forEach(text.trimEnd().split("\n"), (line) => Schema.decodeUnknownEffect(Line)(line))
    return { text, lines, mode }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("the log file", () => {
  it.live("is one JSON object a line, for its owner alone", () =>
    Effect.gen(function* () {
      const { lines, mode } = yield* logged(
        Effect.gen(function* () {
          yield* Effect.logInfo("one", { thread: "thr_1", level: "mine" })
          yield* Effect.logDebug("not at this level")
          yield* Effect.logError("two", new Error("why")).pipe(Effect.annotateLogs({ turn: 3 }))
        })
      )
      assert.deepStrictEqual(
        lines.map(({ level, msg }) => [level, msg]),
        [
          ["info", "one"],
          ["error", "two Error: why"]
        ]
      )
      assert.strictEqual(lines[0]?.["thread"], "thr_1")
      assert.strictEqual(lines[0]?.["level_"], "mine")
      assert.strictEqual(lines[1]?.["turn"], 3)
      assert.strictEqual(mode, 0o600)
    })
  )

  it.live("shows what the libraries say below info with trace alone", () =>
    Effect.gen(function* () {
      const program = Effect.gen(function* () {
        yield* Effect.logDebug("ours")
        yield* Effect.annotateLogs(Effect.logDebug("of a library"), { module: "effect/cluster/Sharding" })
        yield* Effect.logDebug("of a library", { "~effect/cluster/SingletonAddress": "x" })
        yield* Effect.annotateLogs(Effect.logDebug("of a library"), { migration_id: "1" })
        yield* Effect.annotateLogs(Effect.logWarning("of a library, and worth knowing"), { module: "RpcClient" })
      })
      const told = Effect.fnUntraced(function* (level: "debug" | "trace") {
        const { lines } = yield* logged(program, { logging: { log_level: level } })
        return lines.map(({ msg }) => msg)
      })
      assert.deepStrictEqual(yield* told("debug"), ["ours", "of a library, and worth knowing"])
      assert.strictEqual((yield* told("trace")).length, 5)
    })
  )

  it.live("never holds a secret, wherever it hides", () =>
    Effect.gen(function* () {
      const { text } = yield* logged(
        Effect.gen(function* () {
          const secrets = yield* KnownSecrets.KnownSecrets
          yield* secrets.add(Redacted.make("added-later-1"))
          yield* Effect.logInfo("key sk-known-secret in words, added-later-1 too")
          yield* Effect.logInfo("fields", {
            deep: [{ url: "https://x/?k=sk-known-secret" }],
            "sk-known-secret": 1,
            quoted: 'with "quotes" \\ and more'
          })
          yield* Effect.logInfo("named", {
            apiKey: "abc123",
            headers: { Authorization: "Bearer zzz" },
            password: "p",
            access_token: "t-o-k",
            redacted: Redacted.make("r-e-d"),
            inputTokens: 12
          })
          yield* Effect.logError("cause", new Error("bad sk-known-secret"))
          yield* Effect.logError("text of an error", { body: JSON.stringify({ quoted: 'with "quotes" \\ and more' }) })
        })
      )
      for (const secret of ["known-secret", "added-later", "abc123", "zzz", '"p"', "t-o-k", "r-e-d", "quotes"]) {
        assert.notInclude(text, secret)
      }
      assert.include(text, `"inputTokens":12`)
    })
  )

  it.effect("F143: folds for as long when the time of day is set back meanwhile", () =>
    Effect.gen(function* () {
      const rig = yield* ClockRig.ClockRig
      const { lines } = yield* logged(
        Effect.gen(function* () {
          yield* Effect.logWarning("the disk is slow")
          yield* rig.shiftTimeOfDay("-1 day")
          yield* TestClock.adjust("9 seconds")
          yield* Effect.logWarning("the disk is slow")
          yield* TestClock.adjust("6 seconds")
          yield* Effect.logWarning("the disk is slow")
        })
      )
      assert.deepStrictEqual(
        lines.map(({ msg }) => msg),
        ["the disk is slow", "the disk is slow [again, 1 times]", "the disk is slow"]
      )
    }).pipe(Effect.provide(ClockRig.layer))
  )

  it.live("F147: folds what is said again and again", () =>
    Effect.gen(function* () {
      const { lines } = yield* logged(
        Effect.gen(function* () {
          for (let i = 0; i < 10_000; i++) {
            yield* Effect.logWarning("the disk is slow", { disk: "a" })
            if (i === 5000) yield* Effect.logWarning("something else")
          }
        })
      )
      assert.deepStrictEqual(
        lines.map(({ msg }) => msg),
        ["the disk is slow", "something else", "the disk is slow [again, 9999 times]"]
      )
    })
  )

  it.live("F147: keeps to its size and number", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const path = yield* files.makeTempDirectoryScoped()
      const file = paths.join(path, "logs", "x.log")
      const options = { path: file, maxBytes: 2000, maxFiles: 3, dropped: (count: number) => `lost ${count}\n` }
      for (const life of [1, 2]) {
        yield* Effect.gen(function* () {
          const write = yield* RotatingFile.make(options)
          for (let i = 0; i < 500; i++) write(`line ${life} ${i} ${"ö".repeat(20)}\n`)
        }).pipe(Effect.scoped)
      }
      const names = (yield* files.readDirectory(paths.join(path, "logs"))).toSorted()
      assert.deepStrictEqual(names, ["x.log", "x.log.1", "x.log.2"])
      const texts = yield* Effect.forEach(["x.log.2", "x.log.1", "x.log"], (name) =>
        files.readFileString(paths.join(path, "logs", name))
      )
      for (const text of texts) {
        assert.isAtMost(Buffer.byteLength(text), 2000)
        assert.isTrue(text.endsWith("\n"))
      }
      const numbers = texts
        .join("")
        .trimEnd()
        .split("\n")
        .map((line) => Number(line.split(" ")[2]))
      // The newest lines, in order, without a gap.
      assert.deepStrictEqual(
        numbers,
        numbers.map((_, index) => 500 - numbers.length + index)
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("goes on when the disk does not take a line, and says what was lost", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const file = paths.join(yield* files.makeTempDirectoryScoped(), "logs", "x.log")
      const refused = yield* Deferred.make<void>()
      // The first write fails, as on a full disk.
      const full = FileSystem.FileSystem.of({
        ...files,
        writeFileString: (path, text, options) =>
          Effect.flatMap(Deferred.succeed(refused, undefined), (first) =>
            files.writeFileString(first ? paths.dirname(file) : path, text, options)
          )
      })
      yield* Effect.gen(function* () {
        const write = yield* RotatingFile.make({
          path: file,
          maxBytes: 2000,
          maxFiles: 1,
          dropped: (count) => `lost ${count}\n`
        })
        write("one\n")
        yield* Deferred.await(refused)
        write("two\n")
      }).pipe(Effect.scoped, Effect.provideService(FileSystem.FileSystem, full))
      assert.strictEqual(yield* files.readFileString(file), "lost 1\ntwo\n")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("Folding", () => {
  it("forgets kinds that are too many, without losing their counts", () => {
    const folding = Folding.make<string>()
    assert.isTrue(folding.admit("first", "first", 0))
    assert.isFalse(folding.admit("first", "first", 1))
    for (let i = 0; i < Folding.kinds; i++) assert.isTrue(folding.admit(`k${i}`, "x", 2))
    assert.deepStrictEqual(folding.due(3), [{ message: "first", times: 1 }])
    assert.isTrue(folding.admit("first", "first", 4))
  })
})

describe("for people", () => {
  it("a message cannot draw on the terminal", () => {
    const line = {
      level: "warn",
      time: 0,
      message: "bad \u001b[2J\u0007",
      fields: { a: "x\u001b]0;t" },
      cause: "c\u009b1"
    } as const
    assert.notMatch(LogLine.pretty(line, "12:00:00", false), /(?!\n)\p{Cc}/u)
    assert.include(LogLine.pretty(line, "12:00:00", true), "\u001b[33m")
  })
})
