import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import * as SqlClient from "effect/sql/SqlClient"
import { execFileSync } from "node:child_process"
import { dirname, join } from "node:path"
import * as DiskUsage from "../../layers/storage/DiskUsage.ts"
import * as Verify from "../../layers/storage/Verify.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Records from "../../src/storage/Records.ts"
import * as Transcript from "../../src/cli/Transcript.ts"
import { place, receive, test } from "./Places.ts"
import * as Program from "../cli/Program.ts"

test(
  "F147: what the data directory takes is told by kind, every file once, and no link is followed",
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { directory, root } = yield* place
    const sizes = {
      "troupe.db": 4096,
      "troupe.db-wal": 1000,
      "troupe.db-shm": 24,
      "troupe.db.used": 5,
      "troupe.db.replaced-2026": 300,
      "files.replaced-1/outputs/a.txt": 30,
      "files/outputs/mine.txt": 7,
      "files/tool_output/tmp/tool-bash-0123456789abcdef.txt": 20,
      "files/attachments/ab/b": 2_000_000,
      "logs/troupe.log": 11,
      "logs/troupe.log.1": 12,
      token: 44
    }
    for (const [name, size] of Object.entries(sizes)) {
      yield* files.makeDirectory(dirname(directory.file(name)), { recursive: true })
      yield* files.writeFile(directory.file(name), new Uint8Array(size))
    }
    yield* files.symlink(root, directory.file("files/link"))
    const settings = Settings.Settings.defaults
    const usage = yield* DiskUsage.look(directory, settings)
    assert.deepStrictEqual(
      usage.usage.map(({ bytes, files, kind }) => [kind, bytes, files]),
      [
        ["database", 4096, 1],
        ["log of the database", 1024, 2],
        ["copies", 330, 2],
        ["temporary files", 20, 1],
        ["managed files", 2_000_007, 2],
        ["logs", 23, 2],
        ["other", 49, 2]
      ]
    )
    assert.strictEqual(
      usage.bytes,
      Object.values(sizes).reduce((sum, size) => sum + size, 0)
    )
    const text = Transcript.disk(usage)
    assert.match(text, /  managed files +2\.0 MB  2 files +of 20\.0 GB +never: they are yours\n/)
    assert.match(text, /  logs +1 kB  2 files +of 50\.0 MB +the oldest, beyond 5 files\n/)
    assert.include(text, "The database cannot be read")
    assert.notInclude(text, "OVER")

    const narrow = { ...settings, retention: { ...settings.retention, spill_max_bytes: 19 } }
    assert.match(Transcript.disk(yield* DiskUsage.look(directory, narrow)), /temporary files .*OVER/)
  })
)

test(
  "managed files that lie elsewhere are counted where they lie, once",
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { directory, root } = yield* place
    const elsewhere = join(root, "papers")
    yield* files.makeDirectory(elsewhere, { recursive: true })
    yield* files.writeFile(join(elsewhere, "a.txt"), new Uint8Array(9))
    const settings = Settings.Settings.defaults
    const tools = { ...settings.tools, file_storage: { ...settings.tools.file_storage, root_dir: elsewhere } }
    const usage = yield* DiskUsage.look(directory, { ...settings, tools })
    assert.strictEqual(usage.managedFiles, yield* files.realPath(elsewhere))
    assert.deepStrictEqual(
      usage.usage.map(({ bytes, files, kind }) => [kind, bytes, files]),
      [["managed files", 9, 1]]
    )
  })
)

test(
  "a folder that may not be read is named, and all others are counted; a pipe in the database's place holds nothing up",
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { directory } = yield* place
    yield* files.makeDirectory(directory.file("files/secret"), { recursive: true })
    yield* files.writeFile(directory.file("files/a"), new Uint8Array(3))
    execFileSync("mkfifo", [directory.file("troupe.db")])
    const locked = FileSystem.FileSystem.of({
      ...files,
      readDirectory: (path, options) =>
        path.endsWith("/secret")
          ? Effect.fail(
              PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "readDirectory" })
            )
          : files.readDirectory(path, options)
    })
    const usage = yield* Effect.provideService(
      DiskUsage.look(directory, Settings.Settings.defaults),
      FileSystem.FileSystem,
      locked
    )
    assert.deepStrictEqual(usage.unreadable, [directory.file("files/secret")])
    assert.deepInclude(
      usage.usage.find(({ kind }) => kind === "managed files"),
      { bytes: 3 }
    )
    assert.isNull(usage.records)
    assert.include(Transcript.disk(usage), "Not counted, since it may not be read")
  })
)

test(
  "every table has a rule by which its rows go, and every byte of the database is told",
  Effect.gen(function* () {
    const at = yield* place
    yield* receive(at)
    const tables = yield* Verify.opened(
      at.directory.file("troupe.db"),
      true,
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql<{ readonly name: string }>`
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      )
    )
    assert.deepStrictEqual(
      tables.filter(({ name }) => Records.of(name) === undefined),
      []
    )
    const names = new Set(tables.map(({ name }) => name))
    const unknown = Records.records.flatMap((one) => one.tables.filter((name) => !names.has(name)))
    assert.deepStrictEqual(unknown, [])

    const { records, usage } = yield* DiskUsage.look(at.directory, Settings.Settings.defaults)
    const database = usage.find(({ kind }) => kind === "database")
    assert.strictEqual(
      records?.reduce((sum, { bytes }) => sum + bytes, 0),
      database?.bytes
    )
    const entries = records?.find(({ what }) => what === "threads and their entries")
    assert.deepInclude(entries, { limitBytes: null, removed: "never" })
    assert.isAbove(entries?.rows ?? 0, 1)
  })
)

it.live(
  "troupe disk needs no daemon, and makes no directory",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* Program.place
      const nothing = yield* Program.run(at, ["disk"])
      assert.deepStrictEqual([nothing.code, nothing.stdout], [1, ""])
      assert.include(nothing.stderr, "there is no data directory yet")
      assert.isFalse(yield* files.exists(at.data))
      yield* files.makeDirectory(at.data, { mode: 0o700 })
      yield* receive({ root: at.home, directory: { path: at.data, file: (name) => `${at.data}/${name}` }, backup: "" })
      const { code, stderr, stdout } = yield* Program.run(at, ["disk", "--json"])
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /"kind":"database","bytes":\d+,"files":1/)
      assert.include(stdout, '"what":"records of messages","rows":1')

      // Another part of the settings is wrong, and one is locked in a vault.
      const config = `[llm]\nprovidr = "x"\n[providers.slow]\napi_key = "\${secret:KEY}"\n[retention]\nundo_days = 3\n`
      yield* files.writeFileString(join(at.home, "config.toml"), config)
      const shown = yield* Program.run(at, ["disk"])
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.match(shown.stdout, /contents for undo .* of 1\.0 GB +3 days after the change\n/)
      yield* files.writeFileString(join(at.home, "config.toml"), "[retention]\nundo_days = -3\n")
      const refused = yield* Program.run(at, ["disk"])
      assert.strictEqual(refused.stdout, "")
      assert.include(refused.stderr, "undo_days")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  120_000
)
