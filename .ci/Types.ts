/**
 * `npm run types`: the TypeScript compiler with the diagnostics of Effect in it.
 *
 * The compiler loads no plugins by itself, so the language service of Effect writes itself into the compiler's file. That is done here, when it is needed, and not at install, where everybody would wait for it.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const require = createRequire(import.meta.url)
const cache = join(root, "node_modules/.cache/tsc")
const compiler = join(dirname(require.resolve("typescript/package.json")), "lib/_tsc.js")

patchCompiler()
forgetEarlierResults()
process.exit(run(join(dirname(compiler), "tsc.js"), process.argv.slice(2)))

/** Puts the Effect diagnostics into the compiler, unless this version of them is already there. */
function patchCompiler(): void {
  const service = dirname(require.resolve("@effect/language-service/package.json"))
  const version = String(require("@effect/language-service/package.json").version)
  if (readFileSync(compiler, "utf8").includes(`use effect-lsp-patch-version ${version}"`)) return
  if (run(join(service, "cli.js"), ["patch", "--module", "tsc"]) !== 0) process.exit(1)
}

/** The incremental state keeps no diagnostics of plugins: what it takes for checked would not be reported again. */
function forgetEarlierResults(): void {
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
}

function run(script: string, args: ReadonlyArray<string>): number {
  return spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" }).status ?? 1
}
