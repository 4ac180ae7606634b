/** A run of the rig: a process that serves many turns, the samples it gives of itself, and what grows in them. */
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Model from "./Model.ts"
import * as Protocol from "./Protocol.ts"
import * as Slope from "./Slope.ts"

export interface Growth {
  readonly series: keyof Protocol.Sample
  readonly first: number
  readonly last: number
  readonly perTurn: number
  /** What it may grow with each turn; absent for what only informs. */
  readonly bound?: number
}

export type Bounds = Partial<Record<keyof Protocol.Sample, number>>

export interface Result {
  readonly samples: ReadonlyArray<Protocol.Sample>
  readonly growth: ReadonlyArray<Growth>
  readonly seconds: number
}

/** What may grow with each turn, in bytes or pieces. A turn stores its messages; nothing else of it stays. */
export const bounds: Bounds = {
  heapBytes: 1_000,
  externalBytes: 1_000,
  // V8 keeps pages that it emptied, more of them in the first thousands of turns than afterwards.
  residentBytes: 16_000,
  descriptors: 0.001,
  fibers: 0.001,
  timers: 0.001,
  databaseBytes: 10_000,
  walBytes: 1_000,
  // Other programs on the machine are in this figure, too.
  loopDelayMillis: 0.05
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Protocol.Sample))

export const run = async (
  work: Protocol.Work,
  bounds: Bounds,
  onSample: (sample: Protocol.Sample) => void = () => {}
): Promise<Result> => {
  const model = await Model.open()
  const directory = mkdtempSync(join(tmpdir(), "troupe-soak-"))
  const started = performance.now()
  try {
    writeFileSync(join(directory, "config.toml"), settings(model.url))
    const samples: Array<Protocol.Sample> = []
    await serve(directory, work, (line) => {
      samples.push(decode(line))
      onSample(decode(line))
    })
    return { samples, growth: growthOf(samples, bounds), seconds: (performance.now() - started) / 1000 }
  } finally {
    await model.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What grew by more than it may. */
export const tooMuch = (growth: ReadonlyArray<Growth>): ReadonlyArray<Growth> =>
  growth.filter(({ bound, perTurn }) => bound !== undefined && !(perTurn <= bound))

const series = [
  "heapBytes",
  "externalBytes",
  "residentBytes",
  "descriptors",
  "fibers",
  "timers",
  "databaseBytes",
  "walBytes",
  "spilledBytes",
  "loopDelayMillis"
] as const satisfies ReadonlyArray<keyof Protocol.Sample>

const growthOf = (samples: ReadonlyArray<Protocol.Sample>, bounds: Bounds): ReadonlyArray<Growth> =>
  series.map((name) => {
    const values = Slope.warm(samples.map((sample) => ({ turns: sample.turns, value: sample[name] })))
    const bound = bounds[name]
    return {
      series: name,
      first: values[0]?.value ?? Number.NaN,
      last: values.at(-1)?.value ?? Number.NaN,
      perTurn: Slope.slope(values),
      ...(bound === undefined ? {} : { bound })
    }
  })

const settings = (model: string) => `[llm]
provider = "soak"
model = "soak"
[providers.soak]
base_url = "${model}/v1"
api_key = "none"
[runtime]
conversation_idle_seconds = 0.5
max_concurrent_turns = 64
`

/** Runs the process to its end and gives its lines. */
const serve = (directory: string, work: Protocol.Work, onLine: (line: string) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--expose-gc", fileURLToPath(new URL("Host.ts", import.meta.url))], {
      cwd: directory,
      env: {
        PATH: process.env["PATH"],
        HOME: directory,
        TROUPE_DATA_DIR: join(directory, "data"),
        SOAK_RIG: JSON.stringify(work)
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = `${errors}${text}`.slice(-10_000)))
    createInterface({ input: child.stdout }).on("line", onLine)
    child.on("error", reject)
    child.on("close", (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`the process ended with ${code ?? signal}: ${errors}`))
    )
  })
