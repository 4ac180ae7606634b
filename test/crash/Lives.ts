/** The lives of the process under test: one data directory, one port, one life after the other. */
import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Points from "./Points.ts"

export const token = "crash-rig"

export interface Place {
  readonly directory: string
  readonly data: string
  readonly url: string
  readonly remove: () => void
}

export interface Life {
  readonly child: ChildProcess
  /** Milliseconds from the start of the process until it was ready. */
  readonly ready: Promise<number>
  /** Resolves when it has come to the point it was armed with. */
  readonly arrived: Promise<void>
  readonly hasArrived: () => boolean
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** The points it has passed, as far as it could say. */
  readonly passed: () => ReadonlyArray<string>
  readonly output: () => string
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A directory with the settings of a process that talks to this world. */
export const place = async (
  world: string,
  options: { readonly turns?: number; readonly turnSeconds?: number } = {}
): Promise<Place> => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-crash-"))
  const port = await freePort()
  writeFileSync(
    join(directory, "config.toml"),
    `[http]
port = ${port}
auth_token = "${token}"
[llm]
provider = "rig"
model = "rig"
retry_delay_seconds = 0.1
max_tool_iterations = 500
[providers.rig]
base_url = "${world}/v1"
api_key = "none"
[runtime]
sweep_interval_seconds = 1
shutdown_grace_seconds = 1
turn_crash_limit = 1000
agent_timeout_seconds = ${options.turnSeconds ?? 600}
conversation_idle_seconds = 2
max_concurrent_turns = ${options.turns ?? 64}
[tools.approval]
require_approval = ["careful"]
timeout_seconds = 3
`
  )
  return {
    directory,
    data: join(directory, "data"),
    url: `http://127.0.0.1:${port}`,
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}

/** Begins a life. */
export const begin = (at: Place, world: string, armed?: Points.Armed): Life => {
  const started = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(new URL("Host.ts", import.meta.url))], {
    cwd: at.directory,
    env: {
      PATH: process.env["PATH"],
      HOME: at.directory,
      TROUPE_DATA_DIR: at.data,
      CRASH_RIG: JSON.stringify({ world, ...(armed === undefined ? {} : { armed }) })
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  let passed: ReadonlyArray<string> = []
  const ready = Promise.withResolvers<number>()
  const arrived = Promise.withResolvers<void>()
  const line = (text: string) => {
    if (text === "ready") ready.resolve(performance.now() - started)
    if (text.startsWith(Points.arrivedMark)) {
      there = true
      arrived.resolve()
    }
    if (text.startsWith(Points.passedMark)) passed = JSON.parse(text.slice(Points.passedMark.length))
  }
  let there = false
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    lines.forEach(line)
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output = `${output}${text}`.slice(-20_000)))
  const ended = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve) => {
    child.on("close", (code, signal) => {
      ready.resolve(Number.POSITIVE_INFINITY)
      resolve({ code, signal })
    })
  })
  return {
    child,
    ready: ready.promise,
    arrived: arrived.promise,
    hasArrived: () => there,
    ended,
    passed: () => passed,
    output: () => output
  }
}
