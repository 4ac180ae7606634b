/** What the pages name exists: files, headings, npm scripts; and settings they show are settings that work. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { existsSync, globSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import * as ConfigFile from "../../layers/config/ConfigFile.ts"
import manifest from "../../package.json" with { type: "json" }
import { Environment } from "../../src/config/Environment.ts"
import { pages } from "./Pages.ts"
import type { Page } from "./Pages.ts"

/** What is known to be there only after `npm run build` or a start of the program. */
const made = /^dist(\/|$)/

describe("links", () => {
  for (const page of pages) {
    it(page.path, () => assert.deepStrictEqual(links(page).filter(isBroken(page)), []))
  }
})

describe("files that are named", () => {
  for (const page of pages) {
    it(page.path, () => {
      const named = [...page.text.matchAll(/(?<![\w./-])(?:src|layers|test|docs|\.ci)\/[\w./-]*\w/g)].map(
        ([path]) => path
      )
      assert.deepStrictEqual(
        named.filter((path) => !existsSync(path) && !made.test(path)),
        []
      )
    })
  }
})

describe("pages that the code names", () => {
  it("exist", () => {
    const sources = globSync("{src,layers,.ci}/**/*.{ts,js}")
    const named = sources.flatMap((file) => readFileSync(file, "utf8").match(/\bdocs\/[\w/.-]+\.\w+/g) ?? [])
    assert.isAbove(named.length, 0)
    assert.deepStrictEqual(
      named.filter((path) => !existsSync(path)),
      []
    )
  })
})

describe("npm scripts that are named", () => {
  const scripts = new Set([...Object.keys(manifest.scripts), "ci", "install", "pack"])
  for (const page of pages) {
    it(page.path, () => {
      const run = [...page.text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name)
      const short = [...page.text.matchAll(/\bnpm (?!run\b)([\w:-]+)(?=[`\s])/g)].map(([, name = ""]) => name)
      const known = [...run, ...(page.path === "CHANGELOG.md" ? [] : short.filter(isCommand(page)))]
      assert.deepStrictEqual(
        known.filter((name) => !scripts.has(name)),
        []
      )
    })
  }
})

describe("settings that are shown", () => {
  for (const { fences, path } of pages) {
    for (const [index, { before, language, line, text }] of fences.entries()) {
      if (language !== "toml") continue
      const report = fences[index + 1]?.text ?? ""
      const source = /^troupe: (\S+\.toml): \d+ problems?\n/.exec(report)?.[1]
      it.effect(`${path}:${line} ${source === undefined ? "are accepted" : "give the report below them"}`, () =>
        Effect.gen(function* () {
          const result = yield* Effect.result(ConfigFile.fromText(withoutVault(text), source ?? "config.toml"))
          if (source === undefined)
            assert.strictEqual(result._tag, "Success", Option.getOrUndefined(failure(result))?.message)
          else assert.strictEqual(`troupe: ${Option.getOrUndefined(failure(result))?.message}\n`, report)
        }).pipe(Effect.provide(source === undefined ? everythingSet : Environment.layerTable(setIn(before))))
      )
    }
  }
})

/** A reader has a vault as well; here variables stand in for it. */
const withoutVault = (text: string) => text.replaceAll("${secret:", "${")

const failure = <E>(result: { readonly _tag: "Success" } | { readonly _tag: "Failure"; readonly failure: E }) =>
  result._tag === "Failure" ? Option.some(result.failure) : Option.none<E>()

/** A reader sets the variables that a snippet asks for. */
const everythingSet = Layer.succeed(Environment, {
  get: () => Effect.succeedSome("a-long-enough-secret-of-a-reader"),
  all: Effect.succeed({})
})

/** The variables that the text before a snippet says are set: "`PORT` is set to `http`". */
const setIn = (prose: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...prose.matchAll(/`(\w+)` is set to\s+`([^`]*)`/g)].map(([, name = "", value = ""]) => [name, value])
  )

interface Link {
  readonly target: string
  readonly anchor: string | undefined
}

const links = (page: Page): ReadonlyArray<Link> =>
  [...page.prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, address = ""]) => address)
    .filter((address) => !/^[a-z]+:/.test(address))
    .map((address) => {
      const [target = "", anchor] = address.split("#")
      return { target, anchor }
    })

const isBroken =
  (page: Page) =>
  ({ anchor, target }: Link) => {
    const path = target === "" ? page.path : posix.join(posix.dirname(page.path), target)
    if (!existsSync(path)) return true
    if (anchor === undefined) return false
    return !headings(pages.find((other) => other.path === path)).includes(anchor)
  }

/** The anchors of a page, as GitHub makes them. */
const headings = (page: Page | undefined): ReadonlyArray<string> =>
  [...(page?.prose.matchAll(/^#+ (.*)$/gm) ?? [])].map(([, title = ""]) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-")
  )

/** Words after "npm" count where they are code: "npm packages" in a sentence is no command. */
const isCommand = (page: Page) => (name: string) =>
  page.fences.some(({ text }) => text.includes(`npm ${name}`)) || page.prose.includes(`\`npm ${name}`)
