/** How much agents may keep among the managed files. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { dirname, join } from "node:path"
import * as WorkspaceLive from "../../layers/file/Workspace.ts"
import { Settings } from "../../src/config/Settings.ts"
import type * as FileChanges from "../../src/file/FileChanges.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import * as Ids from "../../src/Ids.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

const within = <A, E>(
  most: number,
  use: (folder: string) => Effect.Effect<A, E, Workspace.Workspace | FileSystem.FileSystem>
) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempDirectoryScoped({ prefix: "troupe-quota-" })
    const directory = Layer.succeed(DataDirectory, DataDirectory.of({ path, file: (name) => join(path, name) }))
    const settings = Settings.layer({ tools: { file_storage: { max_total_bytes: most } } })
    return yield* Effect.provide(
      use(join(path, "files")),
      WorkspaceLive.layer.pipe(Layer.provide(settings), Layer.provide(directory))
    )
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const agent = Effect.gen(function* () {
  const author: FileChanges.Author = {
    _tag: "Call",
    ownerId: "primary",
    threadId: yield* Ids.makeThreadId,
    turnId: yield* Ids.makeTurnId,
    callId: yield* Ids.makeCallId
  }
  return (yield* Workspace.Workspace).writingAs(author)
})

const bytes = (count: number) => new Uint8Array(count).fill(97)
const over = { overwrite: true, most: 1000 }

it.live("an agent writes up to the limit and not beyond it, and what was there stays as it was", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const { remove, write } = yield* agent
      yield* write("a", bytes(60), over)
      yield* write("b", bytes(40), over)
      const refused = yield* Effect.flip(write("c", bytes(1), over))
      assert.strictEqual(refused.reason, "no_space")
      assert.include(refused.message, "100 bytes in all, and 0 are left")
      assert.include(refused.message, "[tools.file_storage].max_total_bytes")
      // A content that replaces another counts for the difference, also while it comes in pieces.
      yield* write("a", Stream.make(bytes(30), bytes(30)), over)
      assert.strictEqual((yield* Effect.flip(write("a", Stream.make(bytes(60), bytes(1)), over))).reason, "no_space")
      const files = yield* FileSystem.FileSystem
      assert.deepStrictEqual((yield* files.readDirectory(folder)).toSorted(), ["a", "b"])
      assert.strictEqual((yield* files.readFile(join(folder, "a"))).byteLength, 60)
      // Room that was made counts at once.
      yield* remove("b", { kinds: ["file"], recursive: false })
      yield* write("c", bytes(40), over)
    })
  )
)

it.live("a content larger than one write may be is told as that, wherever the limit of all is", () =>
  within(100, () =>
    Effect.gen(function* () {
      const { write } = yield* agent
      const refused = yield* Effect.flip(write("a", bytes(60), { overwrite: true, most: 50 }))
      assert.strictEqual(refused.reason, "too_large")
    })
  )
)

it.live("writes at once do not pass the limit together", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const { write } = yield* agent
      const results = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) => Effect.result(write(`f${index}`, bytes(9), over)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 11)
      const files = yield* FileSystem.FileSystem
      assert.strictEqual((yield* files.readDirectory(folder)).length, 11)
    })
  )
)

it.live("what the runtime writes for a while has a limit of its own, and what a person put there counts", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const spilled = join(folder, "tool_output/tmp/tool-bash-0123456789abcdef.txt")
      yield* files.makeDirectory(dirname(spilled), { recursive: true })
      yield* files.writeFile(spilled, bytes(500))
      yield* files.writeFile(join(folder, "mine"), bytes(50))
      const { write } = yield* agent
      yield* write("a", bytes(50), over)
      assert.strictEqual((yield* Effect.flip(write("b", bytes(1), over))).reason, "no_space")
      const runtime = (yield* Workspace.Workspace).writingAs({ _tag: "Runtime", purpose: "spill" })
      yield* runtime.write("tool_output/tmp/tool-bash-0123456789abcdeg.txt", bytes(500), over)
    })
  )
)

it.live("temporary files take no room from agents, and count from when they are moved to stay", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const runtime = (yield* Workspace.Workspace).writingAs({ _tag: "Runtime", purpose: "spill" })
      const { move, write } = yield* agent
      yield* write("a", bytes(10), over)
      const spilled = "tool_output/tmp/tool-bash-0123456789abcdef.txt"
      yield* runtime.write(spilled, bytes(80), over)
      yield* write("b", bytes(20), over)
      const refused = yield* Effect.flip(move(spilled, "kept", { overwrite: false }))
      assert.strictEqual(refused.reason, "no_space")
      const files = yield* FileSystem.FileSystem
      assert.isTrue(yield* files.exists(join(folder, spilled)))
      yield* move("b", "c", { overwrite: false })
      yield* write("d", bytes(70), over)
      assert.strictEqual((yield* Effect.flip(write("e", bytes(1), over))).reason, "no_space")
    })
  )
)

it.effect("what others write into the folder is counted in time", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const { write } = yield* agent
      yield* write("a", bytes(10), over)
      const files = yield* FileSystem.FileSystem
      yield* files.writeFile(join(folder, "theirs"), bytes(85))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual((yield* Effect.flip(write("b", bytes(10), over))).reason, "no_space")
    })
  )
)

it.live("room that others have made counts soon", () =>
  within(100, (folder) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      yield* files.makeDirectory(folder, { recursive: true })
      yield* files.writeFile(join(folder, "mine"), bytes(95))
      const { write } = yield* agent
      assert.strictEqual((yield* Effect.flip(write("a", bytes(10), over))).reason, "no_space")
      yield* files.remove(join(folder, "mine"))
      yield* Effect.repeat(Effect.exit(write("a", bytes(10), over)), {
        until: ({ _tag }) => _tag === "Success",
        schedule: Schedule.spaced("100 millis")
      })
    })
  )
)

it("the folder in the data directory has a limit, and one of somebody's own has none unless it is set", () => {
  const { tools } = Settings.defaults
  const withFiles = (file_storage: Partial<typeof tools.file_storage>) => ({
    tools: { ...tools, file_storage: { ...tools.file_storage, ...file_storage } }
  })
  assert.strictEqual(ManagedRoot.mostOf({ tools }), 20_000_000_000)
  assert.strictEqual(ManagedRoot.mostOf(withFiles({ root_dir: "/srv/papers" })), undefined)
  assert.strictEqual(ManagedRoot.mostOf(withFiles({ root_dir: "/srv/papers", max_total_bytes: 5 })), 5)
})
