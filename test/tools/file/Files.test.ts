import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tools from "../../../layers/tools/Tools.ts"
import { ConfigSource } from "../../../src/config/ConfigSource.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import * as FileZoo from "../../rigs/FileZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

const record = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Json))
const entries = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ path: Schema.String, is_dir: Schema.Boolean })))

/** A turn with the tools over the files of a zoo. */
const start = Effect.fnUntraced(function* (settings: NonNullable<SettingsInput["tools"]>["file_storage"] = {}) {
  const zoo = yield* FileZoo.make
  const layer = Tools.layer.pipe(
    Layer.provideMerge(Layer.succeed(ConfigSource, { _tag: "Defaults" })),
    Layer.provideMerge(
      Fixtures.pipeline({ tools: { file_storage: { enabled: true, root_dir: zoo.root, ...settings } } })
    )
  )
  const context = yield* Layer.build(layer)
  const turn = yield* Effect.provideContext(Fixtures.startTurn(), context)
  const run = (name: string, parameters: Record<string, unknown>) =>
    Effect.provideContext(Fixtures.callTool(turn, name, parameters), context)
  const data = (name: string, parameters: Record<string, unknown>) =>
    Effect.flatMap(run(name, parameters), (result) => {
      assert.strictEqual(result.status, "success", result.text)
      return record(result.data)
    })
  const code = (name: string, parameters: Record<string, unknown>) =>
    Effect.map(run(name, parameters), ({ errorCode }) => errorCode)
  return { ...zoo, run, data, code }
})

const paths = (found: Record<string, Schema.Json>) =>
  Effect.map(entries(found["entries"]), (list) => list.map(({ path }) => path))

describe("list_files and file_info", () => {
  it.live("tell what is there, and where", () =>
    Effect.gen(function* () {
      const { data, folder, put, root } = yield* start()
      put("b.PNG", "12345")
      put("A.txt")
      folder("c")
      const listed = yield* data("list_files", {})
      assert.deepStrictEqual(yield* paths(listed), ["A.txt", "b.PNG", "c"])
      assert.include(listed, { action: "list", root_dir: root, folder: ".", count: 3, total: 3, truncated: false })
      const info = yield* data("file_info", { path: "./c/../b.PNG" })
      assert.include(info, {
        action: "info",
        ok: true,
        path: "b.PNG",
        path_relative: "b.PNG",
        path_absolute: path.join(root, "b.PNG"),
        path_scope: "inside_root",
        name: "b.PNG",
        extension: ".PNG",
        mime: "image/png",
        is_image: true,
        size_bytes: 5
      })
      assert.match(String(info["modified_at"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    })
  )

  it.live("F108 give a large folder in parts", () =>
    Effect.gen(function* () {
      const { data, put } = yield* start()
      for (let index = 0; index < 450; index++) put(`many/${String(index).padStart(4, "0")}`, "")
      const last = yield* data("list_files", { folder: "many", offset: 400 })
      assert.include(last, { count: 50, total: 450, truncated: false })
      assert.include(yield* data("list_files", { folder: "many" }), { count: 200, total: 450, truncated: true })
    })
  )
})

describe("write_file", () => {
  it.live("writes what it is given, byte for byte, and once", () =>
    Effect.gen(function* () {
      const { code, data, text } = yield* start({ max_write_bytes: 20 })
      const content = "  caf\u00e9 \n\n"
      assert.include(yield* data("write_file", { path: "a/b.txt", content }), {
        action: "write",
        ok: true,
        path: "a/b.txt",
        bytes_written: 10,
        overwrite: false,
        change: "created"
      })
      assert.strictEqual(text("a/b.txt"), content)
      assert.include(yield* data("write_file", { path: "a/b.txt", content }), { change: "unchanged" })
      assert.strictEqual(yield* code("write_file", { path: "a/b.txt", content: "x" }), "file:already_exists")
      assert.strictEqual(yield* code("write_file", { path: "a/c.txt", content: "\u00e9".repeat(11) }), "file:too_large")
      yield* data("write_file", { path: "a/b.txt", content: "x", overwrite: true })
      assert.strictEqual(text("a/b.txt"), "x")
    })
  )

  it.live("makes an empty file, and empties none", () =>
    Effect.gen(function* () {
      const { code, data, put, text } = yield* start()
      put("full.txt", "full")
      assert.include(yield* data("write_file", { path: "__init__.py", content: "" }), { bytes_written: 0 })
      assert.include(yield* data("write_file", { path: "__init__.py", content: "", overwrite: true }), { ok: true })
      assert.strictEqual(
        yield* code("write_file", { path: "full.txt", content: "", overwrite: true }),
        "file:empty_content"
      )
      assert.strictEqual(text("full.txt"), "full")
    })
  )
})

describe("move_file and delete_file", () => {
  it.live("change what is named and nothing else", () =>
    Effect.gen(function* () {
      const { code, data, folder, has, put } = yield* start()
      put("a.txt")
      put("keep/b.txt")
      folder("empty")
      assert.include(yield* data("move_file", { source_path: "a.txt", destination_path: "new/c.txt" }), {
        action: "move",
        ok: true,
        source_path: "a.txt",
        destination_path: "new/c.txt",
        source_path_scope: "inside_root",
        destination_path_relative: "new/c.txt",
        overwrite: false
      })
      assert.strictEqual(
        yield* code("move_file", { source_path: "new/c.txt", destination_path: "keep/b.txt" }),
        "file:already_exists"
      )
      assert.strictEqual(yield* code("delete_file", { path: "keep" }), "file:folder_not_empty")
      assert.strictEqual(yield* code("delete_file", { path: "keep", target: "file" }), "file:path_is_not_a_file")
      assert.strictEqual(yield* code("delete_file", { path: "." }), "file:root_itself")
      assert.include(yield* data("delete_file", { path: "none" }), { deleted: false, target_type: null })
      assert.include(yield* data("delete_file", { path: "empty" }), { deleted: true, deleted_count: 1 })
      assert.include(yield* data("delete_file", { path: "keep", recursive: true }), {
        deleted: true,
        deleted_count: 2,
        target: "any",
        target_type: "folder",
        recursive: true
      })
      assert.isFalse(has("keep"))
      assert.isTrue(has("new/c.txt"))
    })
  )
})

describe("read_file", () => {
  it.live("F044 F047 F048 reads texts of all kinds as they are", () =>
    Effect.gen(function* () {
      const { code, data, put } = yield* start()
      const { texts } = FileZoo
      const content = (bytes: string | Uint8Array) =>
        Effect.gen(function* () {
          put("text.txt", bytes)
          const { content, encoding } = yield* data("read_file", { path: "text.txt" })
          return [content, encoding]
        })
      assert.deepStrictEqual(yield* content(texts.lineEnds), [texts.lineEnds, "utf-8"])
      assert.deepStrictEqual(yield* content(texts.marked), ["marked", "utf-8"])
      assert.deepStrictEqual(yield* content(texts.utf16), ["hello", "utf-16le"])
      assert.deepStrictEqual(yield* content(texts.utf16BigEndian), ["hello", "utf-16be"])
      assert.deepStrictEqual(yield* content(""), ["", "utf-8"])
      assert.deepStrictEqual(yield* content("\ufffd"), ["\ufffd", "utf-8"])
      assert.deepStrictEqual(yield* content(texts.control.repeat(2)), [
        texts.control.repeat(2).replaceAll("\0", "\u2400"),
        "utf-8"
      ])
      for (const bytes of [texts.latin1, texts.gbk, texts.utf16.subarray(2), Uint8Array.of(0, 1, 2, 255)]) {
        put("text.txt", bytes)
        assert.strictEqual(yield* code("read_file", { path: "text.txt" }), "file:not_text")
        assert.strictEqual(yield* code("code_read", { path: "text.txt" }), "file:not_text")
      }
    })
  )

  it.live("F048 says what a file that is no UTF-8 seems to be, and repeats none of it", () =>
    Effect.gen(function* () {
      const { put, run } = yield* start()
      const said = (bytes: Uint8Array) => {
        put("text.txt", bytes)
        return Effect.map(run("read_file", { path: "text.txt" }), ({ text }) => text)
      }
      assert.include(yield* said(FileZoo.texts.latin1), "Latin-1")
      assert.notInclude(yield* said(FileZoo.texts.latin1), "lait")
      assert.include(yield* said(FileZoo.texts.gbk), "GBK")
      assert.include(yield* said(FileZoo.texts.utf16.subarray(2)), "UTF-16 (little endian)")
      assert.include(yield* said(FileZoo.texts.utf16BigEndian.subarray(2)), "UTF-16 (big endian)")
      assert.include(yield* said(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0)), "binary")
    })
  )

  it.live("F107 reads the beginning of a file of any size, and never half a character", () =>
    Effect.gen(function* () {
      const { data, put, root } = yield* start()
      put("long.txt", `x${"\u20ac".repeat(50_000)}`)
      const { content, size_bytes, truncated } = yield* data("read_file", { path: "long.txt" })
      assert.deepStrictEqual([String(content).length, size_bytes, truncated], [1 + 43_690, 150_001, true])
      fs.truncateSync(path.join(root, "long.txt"), 4 * 1024 ** 3)
      assert.include(yield* data("read_file", { path: "long.txt" }), { size_bytes: 4 * 1024 ** 3, truncated: true })
    })
  )
})

describe("code_read", () => {
  it.live("gives the lines that are asked for, as they stand", () =>
    Effect.gen(function* () {
      const { code, data, put } = yield* start()
      put("a.txt", "one\r\ntwo\nthree\u2028still three\nfour")
      assert.include(yield* data("code_read", { path: "a.txt", offset: 1, limit: 2 }), {
        ok: true,
        offset: 1,
        limit: 2,
        start_line: 2,
        end_line: 3,
        total_lines: 4,
        has_more: true,
        content: "two\nthree\u2028still three\n"
      })
      assert.include(yield* data("code_read", { path: "a.txt" }), {
        start_line: 1,
        end_line: 4,
        has_more: false,
        content: "one\r\ntwo\nthree\u2028still three\nfour"
      })
      assert.include(yield* data("code_read", { path: "a.txt", offset: 9 }), {
        start_line: null,
        end_line: null,
        total_lines: 4,
        has_more: false,
        content: ""
      })
      put("a.txt", FileZoo.texts.utf16)
      assert.include(yield* data("code_read", { path: "a.txt" }), { content: "hello", total_lines: 1 })
      assert.strictEqual(yield* code("code_read", { path: "a.txt", limit: 401 }), "invalid_tool_arguments")
    })
  )

  it.live("F107 cuts lines without an end, and gives less where they are long", () =>
    Effect.gen(function* () {
      const { data, put, root } = yield* start()
      put("long.txt", `first\n${`${"x".repeat(20_000)}\n`.repeat(100)}`)
      const found = yield* data("code_read", { path: "long.txt" })
      assert.include(found, { start_line: 1, end_line: 8, total_lines: 101, has_more: true })
      assert.isAtMost(String(found["content"]).length, 131_072)
      put("sparse", "first\n")
      fs.truncateSync(path.join(root, "sparse"), 4 * 1024 ** 3)
      assert.include(yield* data("code_read", { path: "sparse", limit: 1 }), {
        content: "first\n",
        total_lines: null,
        has_more: true
      })
      put("cut.txt", `${"\u20ac".repeat(6000)}\nnext`)
      const cut = String((yield* data("code_read", { path: "cut.txt" }))["content"])
      assert.match(cut, /^\u20ac+\nnext$/u)
    })
  )
})

describe("glob_files", () => {
  it.live("finds files by name and by path, in order", () =>
    Effect.gen(function* () {
      const { code, data, put } = yield* start()
      for (const name of ["b.md", "a.txt", "docs/c.md", "docs/deep/d.md", ".git/e.md", "docs/.f.md"]) put(name)
      const found = (pattern: string, folder?: string) =>
        Effect.flatMap(data("glob_files", folder === undefined ? { pattern } : { pattern, folder }), paths)
      assert.deepStrictEqual(yield* found("*.md"), ["b.md", "docs/c.md", "docs/deep/d.md"])
      assert.deepStrictEqual(yield* found("docs/*.md"), ["docs/c.md"])
      assert.deepStrictEqual(yield* found("**/d*"), ["docs/deep/d.md"])
      assert.deepStrictEqual(yield* found("docs/**"), ["docs/c.md", "docs/deep/d.md"])
      assert.deepStrictEqual(yield* found(".git/*"), [".git/e.md"])
      assert.deepStrictEqual(yield* found("{a,b}.*"), ["a.txt", "b.md"])
      assert.deepStrictEqual(yield* found("*.md", "docs/deep"), ["docs/deep/d.md"])
      assert.deepStrictEqual(yield* found("none/*.md"), [])
      assert.deepStrictEqual(yield* found("docs"), [])
      for (const wrong of ["", "/etc/*", "../*", "**/".repeat(5), "x".repeat(301)]) {
        assert.strictEqual(yield* code("glob_files", { pattern: wrong }), "file:invalid_pattern")
      }
      assert.strictEqual(yield* code("glob_files", { pattern: "*", folder: "none" }), "file:folder_not_found")
    })
  )
})
