import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import * as ReadDocs from "../../../layers/tools/runtime/ReadDocs.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { pageChars, ReadDocs as Definition } from "../../../src/tools/runtime/ReadDocs.ts"
import * as DocSearch from "../../../src/tools/runtime/DocSearch.ts"
import * as ToolLaws from "../../laws/Tools.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

const tools = (settings: SettingsInput = {}) => ReadDocs.layer.pipe(Layer.provideMerge(Fixtures.pipeline(settings)))

ToolLaws.laws("the documentation", tools())

const decode = Schema.decodeUnknownSync(Schema.toCodecJson(Definition.success))

const read = Effect.fnUntraced(function* (parameters: object) {
  const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), "read_docs", parameters)
  assert.strictEqual(result.status, "success", result.text)
  return decode(result.data)
})

describe("read_docs", () => {
  it.live("lists the pages with their titles, and each section of the settings", () =>
    Effect.gen(function* () {
      const { pages = [] } = yield* read({})
      const titles = new Map(pages.map(({ page, title }) => [page, title]))
      assert.strictEqual(titles.get("tools"), "Tools")
      assert.strictEqual(titles.get("configuration/tools.kv_memory"), "[tools.kv_memory]")
      assert.isTrue(titles.has("decisions/README"))
      for (const { page, title } of pages) assert.isTrue(title !== "" && !page.startsWith("/") && !page.includes(".."))
    }).pipe(Effect.provide(tools()))
  )

  it.live("every page that is listed can be read, whole or said to be cut", () =>
    Effect.gen(function* () {
      const { pages = [] } = yield* read({})
      for (const { page, title } of pages) {
        const found = yield* read({ page })
        assert.deepInclude(found, { page, title })
        assert.strictEqual(found.truncated, (found.content?.length ?? 0) === pageChars && found.truncated)
        assert.isAtMost(found.content?.length ?? 0, pageChars)
        assert.isAtLeast(found.content?.trim().length ?? 0, 10, page)
      }
      const { content } = yield* read({ page: "notes", query: "ignored" })
      assert.strictEqual(content, readFileSync("docs/notes.md", "utf8"))
    }).pipe(Effect.provide(tools()))
  )

  it.live("a section of the settings is what its schema says", () =>
    Effect.gen(function* () {
      const { content = "" } = yield* read({ page: "configuration/tools.wait" })
      assert.include(content, "| `max_milliseconds` |")
      assert.include(content, "`30000`")
      const whole = (yield* read({ page: "configuration" })).content ?? ""
      assert.notInclude(whole, "| `max_milliseconds` |")
      assert.include(whole, "configuration/llm")
    }).pipe(Effect.provide(tools()))
  )

  it.live("finds the lines with all words, most of them first", () =>
    Effect.gen(function* () {
      const { query, results = [] } = yield* read({ query: " MAX_milliseconds longest " })
      assert.strictEqual(query, "MAX_milliseconds longest")
      assert.include(
        results.map(({ page }) => page),
        "configuration/tools.wait"
      )
      assert.deepStrictEqual((yield* read({ query: "xyzzy plugh" })).results, [])
    }).pipe(Effect.provide(tools()))
  )

  it.live("is there unless its skill is turned off", () =>
    Effect.gen(function* () {
      for (const [skills, offered] of [
        [{}, true],
        [{ native_disabled: ["another"] }, true],
        [{ native_disabled: ["troupe-docs"] }, false],
        [{ native: false }, false]
      ] as const) {
        const turn = yield* Effect.provide(Fixtures.startTurn(), tools({ tools: { skills } }))
        assert.strictEqual(
          turn.offers.some(({ name }) => name === "read_docs"),
          offered
        )
      }
    })
  )
})

describe("searching pages", () => {
  const page = (name: string, text: string) => ({ page: name, title: name, text })

  it("counts lines, gives three short snippets of a page and eight pages", () => {
    const long = `${"x".repeat(500)} needle ${"y".repeat(500)}`
    const pages = [
      page("a", "Needle\nno\nneedle two"),
      page("b", ["needle 1", "needle 2", long, "needle 4"].join("\n")),
      ...Array.from({ length: 9 }, (_, index) => page(`c${index}`, "a needle"))
    ]
    const found = DocSearch.search(pages, "needle")
    assert.lengthOf(found, 8)
    assert.deepInclude(found[0], { page: "b", matches: 4 })
    assert.deepInclude(found[1], { page: "a", matches: 2, snippets: ["Needle", "needle two"] })
    const [, , third = ""] = found[0]?.snippets ?? []
    assert.lengthOf(found[0]?.snippets ?? [], 3)
    assert.isAtMost(third.length, 200)
    assert.include(third, "needle")
    assert.deepStrictEqual(DocSearch.search(pages, "  "), [])
    assert.deepStrictEqual(DocSearch.search(pages, "needle two")[0]?.page, "a")
  })
})
