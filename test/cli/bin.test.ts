/** The `troupe` command itself: starts the program on a Node that can, and says a sentence on one that cannot. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { version } from "../../layers/cli/Version.ts"

/** Makes Node call itself another version before the command looks. */
const pretend = (node: string) =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${node}"}})`

const run = (bin: string, node?: string) =>
  spawnSync(process.execPath, [...(node === undefined ? [] : ["--import", pretend(node)]), bin, "--version"], {
    encoding: "utf8"
  })

/** The command as it lies in an installed package, with or without the bundle. */
const installed = (bundle: string | undefined, use: (bin: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-bin-"))
  try {
    const bin = join(folder, "layers/cli/bin.js")
    mkdirSync(dirname(bin), { recursive: true })
    mkdirSync(join(folder, "dist/cli"), { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    copyFileSync("layers/cli/bin.js", bin)
    if (bundle !== undefined) writeFileSync(join(folder, "dist/cli/main.js"), bundle)
    use(bin)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("troupe", () => {
  it("runs the sources in a checkout", () => {
    const { status, stderr, stdout } = run("layers/cli/bin.js")
    assert.include(stdout, version)
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  for (const node of ["22.19.0", "23.0.0", "26.10.0"]) {
    it(`starts on Node ${node}`, () =>
      installed("console.log('the bundle')", (bin) => assert.strictEqual(run(bin, node).stdout, "the bundle\n")))
  }

  for (const node of ["18.20.0", "20.20.2", "22.18.9"]) {
    it(`says what it needs on Node ${node}`, () =>
      installed("console.log('the bundle')", (bin) => {
        const { status, stderr, stdout } = run(bin, node)
        assert.strictEqual(status, 1)
        assert.strictEqual(stdout, "")
        assert.include(stderr, "needs Node 22.19 or newer")
        assert.include(stderr, node)
      }))
  }

  it("says so when the package is incomplete", () =>
    installed(undefined, (bin) => {
      const { status, stderr } = run(bin)
      assert.strictEqual(status, 1)
      assert.include(stderr, "dist/cli/main.js is missing")
    }))

  it("ends with 1 and the error when the program does not load", () =>
    installed("throw new Error('broken bundle')", (bin) => {
      const { status, stderr } = run(bin)
      assert.strictEqual(status, 1)
      assert.include(stderr, "broken bundle")
    }))
})
