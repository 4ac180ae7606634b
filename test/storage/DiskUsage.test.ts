import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { dirname } from "node:path"
import * as DiskUsage from "../../layers/storage/DiskUsage.ts"
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
      "files/outputs/tool-a.txt": 7,
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
    const usage = yield* DiskUsage.look(directory)
    assert.deepStrictEqual(usage.usage, [
      { kind: "database", bytes: 4096, files: 1 },
      { kind: "log of the database", bytes: 1024, files: 2 },
      { kind: "copies", bytes: 330, files: 2 },
      { kind: "files", bytes: 2_000_007, files: 2 },
      { kind: "logs", bytes: 23, files: 2 },
      { kind: "other", bytes: 49, files: 2 }
    ])
    assert.strictEqual(
      usage.bytes,
      Object.values(sizes).reduce((sum, size) => sum + size, 0)
    )
    assert.include(Transcript.disk(usage), "  files                    2.0 MB  2 files\n")
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
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  60_000
)
