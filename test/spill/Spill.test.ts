import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { Spill } from "../../src/spill/Spill.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Ids from "../../src/Ids.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "../tool/Fixtures.ts"

const settings = { tools: { tool_output_spill: { spill_after_chars: 1000, preview_chars: 100, subdir: "out/tmp" } } }

const declaration = {
  description: "Talks at length.",
  parameters: Schema.Struct({ length: Schema.Int, fails: Schema.optionalKey(Schema.Boolean) }),
  failure: Schema.Struct({ code: Schema.String, message: Schema.String }),
  cancellation: "interruptible",
  replay: "safe",
  capabilities: []
} as const

const Field = Tool.make("field", {
  ...declaration,
  success: Schema.Struct({ file: Schema.String, content: Schema.String, lines: Schema.Int }),
  limits: { timeout: "1 second", output: { maxChars: 200, spill: "content" } },
  text: ({ content, file }) => `${file}:\n${content}`
})

const Whole = Tool.make("whole", {
  ...declaration,
  success: Schema.Struct({ items: Schema.Array(Schema.String) }),
  limits: { timeout: "1 second", output: { maxChars: 2000 } }
})

const Excluded = Tool.make("http_request", { ...declaration, success: Whole.success, limits: Whole.limits })

const Grep = Tool.make("grep", {
  ...declaration,
  success: Schema.Struct({}),
  limits: { timeout: "1 second", output: { maxChars: 2000 } }
})

const line = "😀abcdefg"
const textOf = (length: number) => line.repeat(Math.ceil(length / line.length))

const talking = ToolRegistry.layer([Field, Whole, Excluded], {
  field: ({ length }) => Effect.succeed({ file: "a.txt", content: textOf(length), lines: 1 }),
  whole: ({ fails, length }) =>
    fails === true
      ? Effect.fail({ code: "t:x", message: textOf(length) })
      : Effect.succeed({ items: [textOf(length)] }),
  http_request: ({ length }) => Effect.succeed({ items: [textOf(length)] })
})
const reading = ToolRegistry.layer([Grep], { grep: () => Effect.succeed({}) })

const withReader = Layer.mergeAll(talking, reading).pipe(Layer.provideMerge(Fixtures.pipeline(settings)))
const withoutReader = talking.pipe(Layer.provideMerge(Fixtures.pipeline(settings)))

const record = Schema.Record(Schema.String, Schema.Json)
const call = Effect.fnUntraced(function* (name: string, parameters: unknown, parentCallId?: Ids.CallId) {
  const turn = yield* Fixtures.startTurn()
  const result = yield* Fixtures.callTool(turn, name, parameters, parentCallId === undefined ? {} : { parentCallId })
  return { result, data: yield* Schema.decodeUnknownEffect(record)(result.data) }
})

describe("a long output", () => {
  it.effect("moves to a file, and leaves its beginning and a pointer", () =>
    Effect.gen(function* () {
      const { data, result } = yield* call("whole", { length: 5000 })
      const files = yield* FileSystem.FileSystem
      const directory = yield* DataDirectory
      assert.match(String(data["output_file_path"]), /^out\/tmp\/tool-whole-[0-9a-z]{16}\.json$/)
      const path = String(data["output_file_absolute_path"])
      assert.strictEqual(path, (yield* Path.Path).join(directory.path, "files", String(data["output_file_path"])))
      const stored = yield* files.readFileString(path)
      assert.strictEqual(stored, JSON.stringify({ items: [textOf(5000)] }))
      const info = yield* files.stat(path)
      assert.strictEqual(info.mode & 0o777, 0o600)
      assert.strictEqual(Number(info.size), data["output_bytes_written"])
      assert.isTrue(stored.startsWith(String(data["output_preview"])))
      assert.deepInclude(data, { ok: true, tool: "whole", output_storage: "managed_file" })
      assert.include(String(data["output_notice"]), "grep")
      assert.strictEqual(result.text, JSON.stringify(result.data))
      assert.isTrue(result.text.isWellFormed())
      const left = yield* files.readDirectory((yield* Path.Path).dirname(path))
      assert.lengthOf(left, 1)
    }).pipe(Effect.provide(withReader))
  )

  it.effect("moves only the field that its tool names; the others stay", () =>
    Effect.gen(function* () {
      const { data, result } = yield* call("field", { length: 5000 })
      assert.deepInclude(data, { file: "a.txt", lines: 1, output_field: "content" })
      const stored = yield* (yield* FileSystem.FileSystem).readFileString(String(data["output_file_absolute_path"]))
      assert.strictEqual(stored, textOf(5000))
      assert.isAtMost(String(data["content"]).length, 100)
      assert.isTrue(result.text.startsWith(`a.txt:\n${String(data["content"])}`))
      assert.include(result.text, String(data["output_file_path"]))
    }).pipe(Effect.provide(withReader))
  )

  it.effect("stays inline up to what the settings or the tool allow, whichever is more", () =>
    Effect.gen(function* () {
      for (const [name, length] of [
        ["field", 900],
        ["whole", 1900]
      ] as const) {
        const { data } = yield* call(name, { length })
        assert.notProperty(data, "output_file_path", name)
      }
      assert.property((yield* call("field", { length: 1100 })).data, "output_file_path")
    }).pipe(Effect.provide(withReader))
  )

  it.effect("of an excluded tool, of a failure, of a script's call and of code's call is left as it is", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* call("http_request", { length: 5000 })).result.data, { items: [textOf(5000)] })
      assert.strictEqual((yield* call("whole", { length: 3000, fails: true })).data["error"], textOf(3000))
      const parent = yield* Ids.makeCallId
      assert.deepStrictEqual((yield* call("whole", { length: 5000 }, parent)).result.data, { items: [textOf(5000)] })
      const turn = yield* Fixtures.startTurn()
      assert.deepStrictEqual(yield* (yield* ToolCalls).call(turn, Whole, { length: 5000 }), { items: [textOf(5000)] })
      const directory = (yield* DataDirectory).file("files")
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(directory))
    }).pipe(Effect.provide(withReader))
  )

  it.effect("is cut in its middle where nothing could read a file back", () =>
    Effect.gen(function* () {
      for (const [name, limit] of [
        ["field", 1000],
        ["whole", 2000]
      ] as const) {
        const { data, result } = yield* call(name, { length: 5000 })
        assert.notProperty(data, "output_file_path")
        assert.isAtMost(result.text.length, limit)
        assert.isTrue(result.text.isWellFormed())
        assert.match(result.text, /\[… \d+ characters left out …\]/)
        assert.isAtMost(JSON.stringify(result.data).length, limit * 1.2)
      }
      const { data } = yield* call("field", { length: 5000 })
      assert.deepInclude(data, { file: "a.txt", lines: 1 })
      const directory = (yield* DataDirectory).file("files")
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(directory))
    }).pipe(Effect.provide(withoutReader))
  )

  it.effect("is cut where its file cannot be written, or would lie outside the managed files", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const directory = yield* DataDirectory
      const outside = yield* files.makeTempDirectoryScoped({ prefix: "troupe-outside-" })
      yield* files.makeDirectory(directory.file("files"))
      yield* files.symlink(outside, directory.file("files/out"))
      const failure = yield* Effect.flip((yield* Spill).write({ tool: "whole", content: "x", extension: "txt" }))
      assert.include(failure.message, "outside")
      assert.deepStrictEqual(yield* files.readDirectory(outside), [])
      const { data } = yield* call("whole", { length: 5000 })
      assert.strictEqual(data["output_truncated"], true)
    }).pipe(Effect.scoped, Effect.provide(withReader))
  )
})
