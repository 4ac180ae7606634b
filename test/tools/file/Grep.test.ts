/** The tool over the real search: what a model asks for, what it is given, and what it reads. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as ProcessRunnerLive from "../../../layers/process/ProcessRunner.ts"
import * as FileSearchLive from "../../../layers/search/FileSearch.ts"
import * as GrepLive from "../../../layers/tools/file/Grep.ts"
import { Environment } from "../../../src/config/Environment.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { Grep } from "../../../src/tools/file/Grep.ts"
import * as ProcessSetting from "../../process/Setting.ts"
import * as FileZoo from "../../rigs/FileZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

const start = Effect.fnUntraced(function* (grep: NonNullable<SettingsInput["tools"]>["grep"] = {}) {
  const zoo = yield* FileZoo.make
  const tools = { file_storage: { enabled: true, root_dir: zoo.root }, grep: { enabled: true, ...grep } }
  const layer = Layer.mergeAll(GrepLive.layer, FileSearchLive.grant).pipe(
    Layer.provideMerge(ProcessRunnerLive.layer),
    Layer.provideMerge(Layer.merge(ProcessSetting.incarnation, Environment.layerTable({ PATH: "/usr/bin:/bin" }))),
    Layer.provideMerge(Fixtures.pipeline({ tools }))
  )
  const context = yield* Layer.build(layer)
  const turn = yield* Effect.provideContext(Fixtures.startTurn(), context)
  const run = (parameters: typeof Grep.parameters.Encoded) =>
    Effect.provideContext(Fixtures.callTool(turn, "grep", parameters), context)
  const found = (parameters: typeof Grep.parameters.Encoded) =>
    Effect.flatMap(run(parameters), ({ data, status, text }) => {
      assert.strictEqual(status, "success", text)
      return Effect.orDie(Schema.decodeUnknownEffect(Grep.success)(data))
    })
  return { ...zoo, run, found }
})

describe("grep", () => {
  it.live("gives what was asked for, what was found, and where", () =>
    Effect.gen(function* () {
      const { found, put, root } = yield* start()
      put("notes/a.txt", "one\ntwo foo\nthree\n")
      const { files_scanned, ...rest } = yield* found({
        pattern: "fo+",
        path: "notes",
        context_before: 1,
        context_after: 2
      })
      assert.include([1, null], files_scanned)
      assert.deepStrictEqual(rest, {
        ok: true,
        pattern: "fo+",
        path: "notes",
        path_relative: "notes",
        path_absolute: `${root}/notes`,
        path_scope: "inside_root",
        recursive: true,
        ignore_case: false,
        fixed_string: false,
        include_hidden: false,
        include_ignored: false,
        context_before: 1,
        context_after: 2,
        max_matches: 200,
        max_file_size_bytes: 1_000_000,
        count: 1,
        files_skipped: 0,
        truncated: false,
        matches: [
          {
            path: "notes/a.txt",
            line: 2,
            column: 5,
            match: "two foo",
            context_before: ["one"],
            context_after: ["three"]
          }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.live("takes every switch", () =>
    Effect.gen(function* () {
      const { found, put } = yield* start({ engine: "wasm" })
      put(".gitignore", "b.txt\n")
      for (const name of ["a.txt", "b.txt", ".c", "d/e.txt"]) put(name, "A.B\n")
      const paths = (parameters: Omit<typeof Grep.parameters.Encoded, "pattern">) =>
        Effect.map(found({ pattern: "a.b", ...parameters }), ({ matches }) => matches.map(({ path }) => path))
      assert.deepStrictEqual(yield* paths({}), [])
      const any = { ignore_case: true }
      assert.deepStrictEqual(yield* paths(any), ["a.txt", "d/e.txt"])
      assert.deepStrictEqual(yield* paths({ ...any, recursive: false }), ["a.txt"])
      assert.deepStrictEqual(yield* paths({ ...any, include_hidden: true }), [".c", "a.txt", "d/e.txt"])
      assert.deepStrictEqual(yield* paths({ ...any, include_ignored: true }), ["a.txt", "b.txt", "d/e.txt"])
      assert.deepStrictEqual(yield* paths({ ...any, fixed_string: true, path: "d/e.txt" }), ["d/e.txt"])
      put("f.txt", "AxB\n")
      assert.deepStrictEqual(yield* paths({ ...any, fixed_string: true, path: "f.txt" }), [])
    }).pipe(Effect.scoped)
  )

  it.live("the settings limit matches and sizes; a call may ask for other matches", () =>
    Effect.gen(function* () {
      const { found, put, run } = yield* start({ max_matches: 2, max_file_size_bytes: 500 })
      put("a.txt", "foo\n".repeat(5))
      put("large.txt", "foo\n".repeat(500))
      const two = yield* found({ pattern: "foo" })
      assert.deepInclude(two, { count: 2, max_matches: 2, truncated: true, files_scanned: null })
      assert.match(two.notice ?? "", /There are more\./)
      const five = yield* found({ pattern: "foo", max_matches: 5 })
      assert.deepInclude(five, { count: 5, truncated: false, files_skipped: 1 })
      assert.match(five.notice ?? "", /^Left out, larger .*: large\.txt\.$/)
      assert.strictEqual((yield* run({ pattern: "foo", max_matches: 0 })).errorCode, "invalid_tool_arguments")
      assert.strictEqual((yield* run({ pattern: "(" })).errorCode, "grep:invalid_pattern")
      assert.strictEqual((yield* run({ pattern: "a", path: "nowhere" })).errorCode, "file:file_not_found")
    }).pipe(Effect.scoped)
  )

  it.live("the model reads lines as such programs print them", () =>
    Effect.gen(function* () {
      const { put, run } = yield* start({ engine: "wasm" })
      put("a.txt", "1\nfoo\n3\n4\n5\nfoo\nfoo\n")
      put("b.txt", "foo\nx\nfoo\n")
      assert.strictEqual(
        (yield* run({ pattern: "foo", context_before: 1 })).text,
        "5 lines match, 2 files searched.\n\na.txt\n1- 1\n2: foo\n--\n5- 5\n6: foo\n7: foo\n\nb.txt\n1: foo\n2- x\n3: foo"
      )
      assert.strictEqual((yield* run({ pattern: "nothing" })).text, "0 lines match, 2 files searched.")
    }).pipe(Effect.scoped)
  )
})
