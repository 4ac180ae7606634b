#!/usr/bin/env node
// The `troupe` command. Plain JavaScript that old versions of Node can read, so that they get a sentence instead of a
// stack trace. In a checkout it runs the sources (main.ts is beside this file), in the installed package the bundle.
import { spawn } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import module from "node:module"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import { fileURLToPath } from "node:url"

const oldest = [22, 19]
const source = new URL("./main.ts", import.meta.url)
const bundle = new URL("../../dist/cli/main.js", import.meta.url)
const carried = fileURLToPath(new URL("../../node_modules/node/bin/node", import.meta.url))
const inCheckout = existsSync(source)

if (isNewEnough(process.versions.node)) start()
else if (inCheckout && existsSync(carried) && process.execPath !== carried) runAgainWith(carried)
else refuse()

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

function start() {
  keepCompiled()
  silence("SQLite is an experimental feature")
  if (!inCheckout && !existsSync(bundle)) {
    console.error("troupe: the package is incomplete: dist/cli/main.js is missing. Install it again.")
    process.exit(1)
  }
  import((inCheckout ? source : bundle).href).catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

/**
 * Compiled code is kept for the next start, which is faster by a third. It is kept in the user's own cache and not in the
 * temporary directory, where Node would keep it: whoever else can write there could put other code in its place.
 */
function keepCompiled() {
  try {
    const base = cacheBase()
    const folder = join(base, "troupe")
    // One by one: where a folder above is missing or on a file system that cannot have folders, nothing is kept.
    for (const path of [base, folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
    module.enableCompileCache(folder)
  } catch {
    // Starting is slower and works.
  }
}

function cacheBase() {
  const { LOCALAPPDATA, XDG_CACHE_HOME = "" } = process.env
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME
  if (process.platform === "win32") return LOCALAPPDATA ?? join(homedir(), "AppData", "Local")
  return join(homedir(), ...(process.platform === "darwin" ? ["Library", "Caches"] : [".cache"]))
}

/**
 * The Node 22 and 24 lines warn at every start about a module that Node 26 calls stable.
 * @param {string} beginning
 */
function silence(beginning) {
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith(beginning)) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

/**
 * A checkout carries a current Node as a development dependency; npm scripts and npx find it by themselves.
 * @param {string} node
 */
function runAgainWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" })
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  // A terminal sends Ctrl+C to both of us; the child decides what it means.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT")
  })
  child.on("error", refuse)
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function refuse() {
  console.error(
    `troupe needs Node ${oldest.join(".")} or newer, and this is Node ${process.versions.node} (${process.execPath}).\n` +
      (inCheckout
        ? "In this checkout, `npm ci` installs a current Node: use `npx troupe` or `npm start` after it."
        : "Install a current Node from https://nodejs.org and run troupe with it.")
  )
  process.exit(1)
}
