/** The `troupe` command itself: starts the program on a Node that can, and says a sentence on one that cannot. */
import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { version } from "../../layers/cli/Version.ts"

/** Makes Node call itself another version before the command looks. */
const pretend = (node: string) =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${node}"}})`

const run = (bin: string, node?: string, env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [...(node === undefined ? [] : ["--import", pretend(node)]), bin, "--version"], {
    encoding: "utf8",
    env: { ...process.env, ...env }
  })

/** A folder with the command and nothing else of the package. */
const place = () => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-bin-"))
  const bin = join(folder, "layers/cli/bin.js")
  mkdirSync(dirname(bin), { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  copyFileSync("layers/cli/bin.js", bin)
  return { folder, bin }
}

/** The command as it lies in an installed package, with or without the bundle. */
const installed = (bundle: string | undefined, use: (bin: string) => void) => {
  const { bin, folder } = place()
  try {
    mkdirSync(join(folder, "dist/cli"), { recursive: true })
    if (bundle !== undefined) writeFileSync(join(folder, "dist/cli/main.js"), bundle)
    use(bin)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The command in a checkout that carries a Node, started by one that is too old; `main` is the program. */
const rerun = (main: string) => {
  const { bin, folder } = place()
  writeFileSync(join(dirname(bin), "main.ts"), main)
  mkdirSync(join(folder, "node_modules/node/bin"), { recursive: true })
  symlinkSync(process.execPath, join(folder, "node_modules/node/bin/node"))
  const child = spawn(process.execPath, ["--import", pretend("20.20.2"), bin, "hello"], { stdio: "pipe" })
  const output: Array<string> = []
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.push(text)
    if (text.includes("ready")) child.kill("SIGTERM")
  })
  return new Promise<{ readonly code: number | null; readonly signal: string | null; readonly output: string }>(
    (done) =>
      child.on("close", (code, signal) => {
        rmSync(folder, { recursive: true })
        done({ code, signal, output: output.join("") })
      })
  )
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

  describe("keeps compiled code", () => {
    const kept = "console.log((await import('node:module')).getCompileCacheDir() ?? 'nowhere')"
    const where = (base: (folder: string) => string) => {
      const folder = mkdtempSync(join(tmpdir(), "troupe-bin-cache-"))
      const seen: Array<string> = []
      writeFileSync(join(folder, "file"), "")
      const env = { XDG_CACHE_HOME: base(folder), HOME: join(folder, "home"), NODE_COMPILE_CACHE: undefined }
      try {
        installed(kept, (bin) => seen.push(run(bin, undefined, env).stdout.trim().replace(folder, "")))
        return seen[0] ?? ""
      } finally {
        rmSync(folder, { recursive: true })
      }
    }

    it("in the user's cache", () =>
      assert.match(
        where((folder) => join(folder, "cache")),
        /^.cache.troupe./
      ))
    // The home of this process is not there.
    it("nowhere else", () =>
      assert.strictEqual(
        where(() => "relative"),
        "nowhere"
      ))
    it("nowhere when the cache cannot be written", () =>
      assert.strictEqual(
        where((folder) => join(folder, "file")),
        "nowhere"
      ))
    it("nowhere when the cache cannot be made", () =>
      assert.strictEqual(
        where(() => "/proc/none/cache"),
        "nowhere"
      ))
  })

  it("in a checkout, runs again on the Node it carries, with its arguments and its exit code", () =>
    rerun(`console.log(process.argv[2]); process.exitCode = 7`).then((result) =>
      assert.deepStrictEqual(result, { code: 7, signal: null, output: "hello\n" })
    ))

  it("hands a stop on to the program and waits for its end", () =>
    rerun(
      `process.on("SIGTERM", () => { console.log("stopping"); process.exit(3) }); setInterval(() => {}, 1000); console.log("ready")`
    ).then((result) => assert.deepStrictEqual(result, { code: 3, signal: null, output: "ready\nstopping\n" })))

  it("ends by the same signal as the program", () =>
    rerun(`setInterval(() => {}, 1000); console.log("ready")`).then(({ signal }) =>
      assert.strictEqual(signal, "SIGTERM")
    ))
})
