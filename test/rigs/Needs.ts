/** What some tests need of the machine. Where it is missing they are skipped, and their titles say why. */
import { spawnSync } from "node:child_process"

export interface Need {
  readonly missing: boolean
  /** Why a test is skipped, as the rest of "skipped: ". */
  readonly reason: string
}

export const linux: Need = { missing: process.platform !== "linux", reason: "this is not Linux" }

export const tmux: Need = { missing: spawnSync("tmux", ["-V"]).status !== 0, reason: "tmux is not installed" }

export const openssl: Need = {
  missing: spawnSync("openssl", ["version"]).status !== 0,
  reason: "openssl is not installed"
}

export const python: Need = {
  missing: spawnSync("python3", ["-I", "-c", ""]).status !== 0,
  reason: "python3 is not installed"
}

/** Not the one that packages put into the PATH of npm scripts: that is a script. */
export const ripgrep: Need = {
  missing: spawnSync("/usr/bin/rg", ["--version"]).status !== 0,
  reason: "ripgrep is not installed in /usr/bin"
}

/** Tried, since a system may have the program and not let it make namespaces. */
const bwrapTrial = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], { encoding: "utf8" })

export const bubblewrap: Need = {
  missing: bwrapTrial.status !== 0,
  reason: `bubblewrap does not work here: ${bwrapTrial.error?.message ?? bwrapTrial.stderr.trim()}`
}

export const prlimit: Need = {
  missing: spawnSync("prlimit", ["--version"]).status !== 0,
  reason: "prlimit is not installed"
}

/** The title of a test or a block that needs this. */
export const titled = (need: Need, title: string): string =>
  need.missing ? `${title} (skipped: ${need.reason})` : title
