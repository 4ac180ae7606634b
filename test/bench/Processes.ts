/** Child processes of benchmarks. */
import { spawn, type ChildProcess } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

/** Starts a script of the repository with this Node and resolves with the first line it prints. */
export const startScript = (
  file: string,
  args: ReadonlyArray<string> = [],
  env: NodeJS.ProcessEnv = process.env
): Promise<{ readonly child: ChildProcess; readonly line: string }> =>
  startUntil(spawn(process.execPath, [file, ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] }), /^.*$/m)

/** Resolves when the output has a line that matches. */
export const startUntil = (
  child: ChildProcess,
  pattern: RegExp
): Promise<{ readonly child: ChildProcess; readonly line: string }> =>
  new Promise((resolve, reject) => {
    let output = ""
    const look = (data: Buffer) => {
      output += data.toString("utf8")
      const found = output.includes("\n") ? pattern.exec(output) : null
      if (found !== null) resolve({ child, line: found[0] })
    }
    child.stdout?.on("data", look)
    child.stderr?.on("data", look)
    child.on("error", reject)
    child.on("exit", (code) => reject(new Error(`ended with ${code} before it was ready: ${output}`)))
  })

/** Ends a child and waits until it is gone. */
export const stop = (child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.removeAllListeners("exit")
    child.on("exit", () => resolve())
    child.kill(signal)
  })

/** Resident memory of a process in MiB, as Linux counts it; undefined elsewhere. */
export const residentMiB = (pid: number): number | undefined => {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return kib === undefined ? undefined : Number(kib) / 1024
  } catch {
    return undefined
  }
}

/** Processor time a process has used so far in milliseconds, as Linux counts it; NaN elsewhere. */
export const processorMillis = (pid: number): number => {
  try {
    // The name, in parentheses, may hold anything; behind it come the state and then numbers. 100 ticks are a second.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return Number.NaN
  }
}
