/**
 * The examples of the documents: their tests are tests of this suite, their programs are run, and the pages show them as
 * they are.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { watch } from "node:fs/promises"
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

describe("README.md", () => {
  it("shows what the command prints", () =>
    inTemporary(async (folder) => {
      const readme = readFileSync("README.md", "utf8")
      const chat = ["layers/cli/bin.js", "chat", "--once", "what is 12*(3+4)?"]
      const first = await node(folder, ...chat)
      assert.include(readme, `$ npx troupe chat --once "what is 12*(3+4)?"\n${first.stdout}`)
      // For programs, and the second time in the thread. Long values are shortened on the page; what is left must be there.
      const second = await node(folder, ...chat, "--json")
      const page = /--json\n(.*?)```/s.exec(readme)?.[1] ?? ""
      // Words that come while others are being shown are shown together: into how many pieces, the machine's speed decides.
      const shown = withoutDeltas(page)
      const printed = withoutDeltas(second.stdout)
      assert.deepStrictEqual(kinds(shown), kinds(printed))
      assert.isAbove(kinds(shown).length, 0)
      assert.deepStrictEqual(deltas(page), deltas(second.stdout))
      const lines = printed.split("\n")
      shown.split("\n").forEach((line, index) => {
        for (const value of wholeValues(line)) assert.include(lines[index], value)
      })
    }))
})

describe("Embed.ts", () => {
  it("prints what the page says, and the second time finds the answer on disk", () =>
    inTemporary(async (folder) => {
      const first = await node(folder, "docs/examples/Embed.ts")
      const second = await node(folder, "docs/examples/Embed.ts")
      const answer = 'The shelf says: {"article":"teapot","count":4}\n'
      assert.strictEqual(first.stdout, `Accepted: it is on disk.\n${answer}`)
      assert.strictEqual(second.stdout, `Asked before; the answer is on disk.\n${answer}`)
      const page = readFileSync("docs/embedding.md", "utf8")
      assert.include(page, first.stdout)
      assert.include(page, second.stdout)
    }))
})

describe("DaemonWithTool.ts", () => {
  it("is a daemon that has the tool beside the built-in ones", () =>
    inTemporary(async (folder) => {
      const up = appears(folder, "endpoint.json")
      const daemon = spawn(process.execPath, ["--conditions=troupe-source", "docs/examples/DaemonWithTool.ts"], {
        env: environment(folder),
        stdio: ["ignore", "ignore", "inherit"]
      })
      const ended = once(daemon, "exit")
      try {
        await Promise.race([up, ended])
        const { stdout } = await node(folder, "layers/cli/bin.js", "tools")
        assert.include(stdout, "\nstock_level (at most 2 seconds; interruptible; replay safe; may use Shelf)\n")
        assert.include(stdout, "calculate_expression")
        const second = spawnSync(process.execPath, ["--conditions=troupe-source", "docs/examples/DaemonWithTool.ts"], {
          env: environment(folder),
          encoding: "utf8"
        })
        assert.strictEqual(second.status, 1)
        assert.include(second.stderr, "is in use by process")
        assert.notInclude(second.stderr, "    at ")
      } finally {
        daemon.kill("SIGINT")
        await ended
      }
    }))
})

describe("the programs that talk to a daemon", () => {
  for (const [program, page] of [
    ["Promises.ts", "docs/client.md"],
    ["Client.ts", "docs/rpc.md"],
    ["OpenAiClient.ts", "docs/openai.md"]
  ] as const) {
    it(`${program}, started as ${page} says, prints what it says`, () =>
      inTemporary(async (folder) => {
        const up = appears(folder, "endpoint.json")
        const daemon = spawn(process.execPath, ["--conditions=troupe-source", "layers/cli/bin.js"], {
          env: environment(folder),
          stdio: ["ignore", "ignore", "ignore"]
        })
        const ended = once(daemon, "exit")
        try {
          await Promise.race([up, ended])
          const { url } = JSON.parse(readFileSync(join(folder, "endpoint.json"), "utf8"))
          const text = readFileSync(page, "utf8")
          const printed =
            new RegExp(`^\\$ npx node (.*docs/examples/${program} .*)$`, "m").exec(text)?.[1] ?? "no command"
          const here = printed.replace("http://127.0.0.1:7433", url).replace("~/.local/share/troupe", folder)
          const { stdout } = await promisify(execFile)("sh", ["-c", `"$NODE" ${here}`], {
            env: { ...environment(folder), NODE: process.execPath }
          })
          assert.include(text, `\n$ npx node ${printed}\n${stdout}\`\`\``)
        } finally {
          daemon.kill("SIGINT")
          await ended
        }
      }))
  }
})

const isDelta = (line: string): boolean => line.includes('"_tag":"ModelDelta"')

const withoutDeltas = (lines: string): string =>
  lines
    .split("\n")
    .filter((line) => !isDelta(line))
    .join("\n")

/** The text of all pieces. */
const deltas = (lines: string): string =>
  lines
    .split("\n")
    .filter(isDelta)
    .map((line) => /"text":"([^"]*)"/.exec(line)?.[1] ?? assert.fail(line))
    .join("")

/** What each line of JSON is, in order; the lines may be shortened. */
function kinds(lines: string): ReadonlyArray<string> {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [, type = line, seq = "", tag = ""] =
        /^\{"type":"(\w+)"(?:,"seq":(\d+))?(?:.*?"(?:_tag|state)":"(\w+)")?/.exec(line) ?? []
      return `${type} ${seq} ${tag}`
    })
}

/** The fields with a value that is shown whole and is the same each time. */
function wholeValues(line: string): ReadonlyArray<string> {
  const fields = line.match(/"\w+":(?:"(?:[^"\\…]|\\.)*"|\d+|true|null)/g) ?? []
  return fields.filter((field) => !field.startsWith('"at":'))
}

/** A data directory for one test, with settings that keep its daemons off the usual port. */
async function inTemporary(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "troupe-examples-"))
  try {
    writeFileSync(join(folder, "config.toml"), "[http]\nport = 0\n")
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function environment(folder: string) {
  return { ...process.env, TROUPE_DATA_DIR: folder, TROUPE_CONFIG: join(folder, "config.toml") }
}

function node(folder: string, ...args: ReadonlyArray<string>) {
  return promisify(execFile)(process.execPath, ["--conditions=troupe-source", ...args], { env: environment(folder) })
}

/** Resolves when the folder has the file. */
async function appears(folder: string, file: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === file && existsSync(join(folder, file))) return
}
