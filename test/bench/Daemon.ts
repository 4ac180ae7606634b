/** The daemon as a process: how soon it serves, what it holds when idle, and what it costs a client to ask it something. */
import { execFile, spawn } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { median, type Measurement } from "./Report.ts"
import * as Processes from "./Processes.ts"

const rounds = 7
const bin = "layers/cli/bin.js"

const run = promisify(execFile)

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  await run("npm", ["run", "build"], { cwd: Processes.root })
  const installed = await install()
  const figures = [
    ...(await measureForm("source", join(Processes.root, bin))),
    ...(await measureForm("bundle", join(installed, bin)))
  ]
  await rm(installed, { recursive: true, force: true })
  return figures
}

/** The package as it is installed: the program without the sources beside it. */
const install = async (): Promise<string> => {
  const place = await mkdtemp(join(tmpdir(), "troupe-bench-package-"))
  await mkdir(join(place, "layers/cli"), { recursive: true })
  await copyFile(join(Processes.root, bin), join(place, bin))
  await copyFile(join(Processes.root, "package.json"), join(place, "package.json"))
  await symlink(join(Processes.root, "dist"), join(place, "dist"))
  return place
}

const measureForm = async (form: string, entry: string): Promise<ReadonlyArray<Measurement>> => {
  const ready: Array<number> = []
  const memory: Array<number> = []
  const asked: Array<number> = []
  for (let i = 0; i < rounds; i++) {
    const place = await mkdtemp(join(tmpdir(), "troupe-bench-"))
    const config = join(place, "config.toml")
    await writeFile(config, `[storage]\ndata_dir = "${place}/data"\n[http]\nport = 0\n`)
    const started = performance.now()
    const { child } = await Processes.startUntil(
      spawn(process.execPath, [entry, "--config", config], {
        cwd: Processes.root,
        stdio: ["ignore", "pipe", "pipe"]
      }),
      /http:\/\/127\.0\.0\.1:\d+/
    )
    ready.push(performance.now() - started)
    const asking = performance.now()
    await run(process.execPath, [entry, "--config", config, "status"], { cwd: Processes.root })
    asked.push(performance.now() - asking)
    // Idle means after the work of starting has been collected.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    memory.push(Processes.residentMiB(child.pid ?? 0) ?? Number.NaN)
    await Processes.stop(child)
    await rm(place, { recursive: true, force: true })
  }
  return [
    { name: `daemon ready, ${form}`, value: median(ready), unit: "ms", note: "from process start until it serves" },
    { name: `troupe status, ${form}`, value: median(asked), unit: "ms", note: "a whole client process" },
    { name: `daemon idle, ${form}`, value: median(memory), unit: "MiB RSS" }
  ]
}
