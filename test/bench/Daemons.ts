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

/** Serves it for as long as it is used. */
export const serving = async <A>(place: Place, use: (daemon: Daemon) => Promise<A>): Promise<A> => {
  const { child, line } = await Processes.startUntil(
    spawn(process.execPath, ["--expose-gc", "layers/cli/bin.js", "--config", place.config], {
      cwd: Processes.root,
      stdio: ["ignore", "pipe", "pipe"]
    }),
    /http:\/\/127\.0\.0\.1:\d+/
  )
  try {
    return await use({ child, url: line, token: (await readFile(join(place.data, "token"), "utf8")).trim() })
  } finally {
    await Processes.stop(child)
  }
}
