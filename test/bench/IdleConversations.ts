/** What ten thousand conversations cost: while they are resident, and once they are idle. */
import { spawn } from "node:child_process"
import type { Measurement } from "./Report.ts"
import * as Processes from "./Processes.ts"

const conversations = 10_000

interface Memory {
  readonly heap: number
  readonly rss: number
}

interface Result {
  readonly before: Memory
  readonly resident: Memory & { readonly count: number }
  readonly idle: Memory
  readonly served: number
}

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const child = spawn(process.execPath, ["--expose-gc", "test/bench/IdleHost.ts"], {
    cwd: Processes.root,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const { line } = await Processes.startUntil(child, /^\{"before".*$/m)
  await Processes.stop(child)
  const { before, idle, resident, served }: Result = JSON.parse(line)
  return [
    {
      name: "resident conversation",
      value: (resident.heap - before.heap) / Math.max(1, resident.count) / 1024,
      unit: "KiB heap",
      note: `${resident.count} resident`
    },
    {
      name: "idle conversation",
      value: (idle.heap - before.heap) / conversations / 1024,
      unit: "KiB heap",
      note: `${conversations} conversations served and idle`
    },
    {
      name: "10 000 idle conversations",
      value: idle.rss / 1024 / 1024,
      unit: "MiB RSS",
      note: "the whole process, once the collector has run"
    },
    {
      name: "10 000 idle conversations, above none",
      value: (idle.rss - before.rss) / 1024 / 1024,
      unit: "MiB RSS",
      target: 40
    },
    {
      name: "messages served",
      value: (conversations / served) * 1000,
      unit: "/s",
      better: "higher",
      note: "one answer each, 64 at a time, store on disk"
    }
  ]
}
