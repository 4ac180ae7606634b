/** Daemons of benchmarks: a directory with settings, and the process that serves it, from the sources. */
import { spawn, type ChildProcess } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Processes from "./Processes.ts"

export interface Place {
  readonly directory: string
  readonly data: string
  readonly config: string
}

export interface Daemon {
  readonly child: ChildProcess
  readonly url: string
  readonly token: string
}

/** An empty installation, removed after its use. `settings` are more lines of its configuration. */
export const inPlace = async <A>(settings: string, use: (place: Place) => Promise<A>): Promise<A> => {
  const directory = await mkdtemp(join(tmpdir(), "troupe-bench-"))
  const place = { directory, data: join(directory, "data"), config: join(directory, "config.toml") }
  try {
    await writeFile(place.config, `[storage]\ndata_dir = "${place.data}"\n[http]\nport = 0\n${settings}`)
    return await use(place)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Starts it, and is done when it serves. `program` is the one to run, the sources when there is none. */
export const start = async (
  place: Place,
  program = "layers/cli/bin.js",
  env: NodeJS.ProcessEnv = process.env
): Promise<Daemon> => {
  const { child, line } = await Processes.startUntil(
    spawn(process.execPath, ["--expose-gc", program, "--config", place.config], {
      cwd: Processes.root,
      env,
      stdio: ["ignore", "pipe", "pipe"]
    }),
    /http:\/\/127\.0\.0\.1:\d+/
  )
  return { child, url: line, token: (await readFile(join(place.data, "token"), "utf8")).trim() }
}

/** Serves it for as long as it is used. */
export const serving = async <A>(place: Place, use: (daemon: Daemon) => Promise<A>): Promise<A> => {
  const daemon = await start(place)
  try {
    return await use(daemon)
  } finally {
    await Processes.stop(daemon.child)
  }
}
