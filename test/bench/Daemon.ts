/** The daemon as a process: how soon it serves, what it holds when idle, and what it costs a client to ask it something. */
import { execFile, spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Installed from "./Installed.ts"
import { median, type Measurement } from "./Report.ts"
import * as Processes from "./Processes.ts"

const rounds = 7

const run = promisify(execFile)

export const measure = (): Promise<ReadonlyArray<Measurement>> =>
  Installed.using(async (program) => [
    ...(await measureForm("source", join(Processes.root, Installed.bin), {})),
    ...(await measureForm("bundle", program, { ready: { target: 250 }, status: { target: 150 } }))
  ])

interface Targets {
  readonly ready?: { readonly target: number }
  readonly status?: { readonly target: number }
}

const measureForm = async (form: string, entry: string, targets: Targets): Promise<ReadonlyArray<Measurement>> => {
  // The first round fills it, as the first start of an installation does.
  const cache = await mkdtemp(join(tmpdir(), "troupe-bench-cache-"))
  const ready: Array<number> = []
  const memory: Array<number> = []
  const asked: Array<number> = []
  for (let i = 0; i < rounds; i++) {
    const place = await mkdtemp(join(tmpdir(), "troupe-bench-"))
    const config = join(place, "config.toml")
    const env = { ...process.env, XDG_CACHE_HOME: cache }
    await writeFile(config, `[storage]\ndata_dir = "${place}/data"\n[http]\nport = 0\n`)
    const started = performance.now()
    const { child } = await Processes.startUntil(
      spawn(process.execPath, [entry, "--config", config], {
        cwd: Processes.root,
        env,
        stdio: ["ignore", "pipe", "pipe"]
      }),
      /http:\/\/127\.0\.0\.1:\d+/
    )
    ready.push(performance.now() - started)
    const asking = performance.now()
    await run(process.execPath, [entry, "--config", config, "status"], { cwd: Processes.root, env })
    asked.push(performance.now() - asking)
    // Idle means after the work of starting has been collected.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    memory.push(Processes.residentMiB(child.pid ?? 0) ?? Number.NaN)
    await Processes.stop(child)
    await rm(place, { recursive: true, force: true })
  }
  await rm(cache, { recursive: true, force: true })
  return [
    {
      name: `daemon ready, ${form}`,
      value: median(ready),
      unit: "ms",
      note: "from process start until it serves",
      ...targets.ready
    },
    {
      name: `troupe status, ${form}`,
      value: median(asked),
      unit: "ms",
      note: "a whole client process",
      ...targets.status
    },
    { name: `daemon idle, ${form}`, value: median(memory), unit: "MiB RSS" }
  ]
}
