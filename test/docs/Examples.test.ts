/**
 * The examples of the documents: their tests are tests of this suite, their programs are run, and the pages show them as
 * they are.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import "../../docs/examples/StockTool.test.ts"
import { pages } from "./Pages.ts"

const files = globSync("docs/examples/**/*.ts").map((path) => path.replaceAll("\\", "/"))
const quotes = pages.flatMap(({ fences, path }) =>
  fences.filter(({ language }) => language === "ts").map((fence) => ({ ...fence, path }))
)

describe("the pages", () => {
  for (const file of files) {
    it(`show ${file} as it is`, () => {
      const text = readFileSync(file, "utf8")
      assert.isTrue(
        quotes.some((quote) => quote.text === text),
        "no page has a fence that says exactly what the file says"
      )
    })
  }

  for (const { before, line, path, text } of quotes) {
    const shown = /\(examples\/([\w./-]+\.ts)\)/.exec(before.trim().split("\n").at(-1) ?? "")?.[1]
    if (shown === undefined) continue
    it(`${path}:${line} quotes ${shown}`, () => {
      assert.include(readFileSync(`docs/examples/${shown}`, "utf8"), text)
    })
  }
})

describe("Embed.ts", () => {
  const run = (dataDirectory: string) =>
    promisify(execFile)(process.execPath, ["--conditions=troupe-source", "docs/examples/Embed.ts"], {
      env: { ...process.env, TROUPE_DATA_DIR: dataDirectory }
    })

  it("prints what the page says, and the second time finds the answer on disk", async () => {
    const folder = mkdtempSync(join(tmpdir(), "troupe-embed-"))
    try {
      const first = await run(folder)
      const second = await run(folder)
      const answer = 'The shelf says: {"article":"teapot","count":4}\n'
      assert.strictEqual(first.stdout, `Accepted: it is on disk.\n${answer}`)
      assert.strictEqual(second.stdout, `Asked before; the answer is on disk.\n${answer}`)
      const page = pages.find(({ path }) => path === "docs/embedding.md")
      assert.include(page?.text, first.stdout)
      assert.include(page?.text, second.stdout)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
