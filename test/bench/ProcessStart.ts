/**
 * What the process runner adds to starting a program that does nothing: against Node's own way, which waits for the exit and
 * keeps to no limit, and against Effect's.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import * as Setting from "../process/Setting.ts"
import { median, quantile } from "./Report.ts"
import type { Measurement } from "./Report.ts"

const warmUp = 30
const runs = 200

const bare = Effect.promise(async () => {
  const child = spawn("/bin/true", [], {
    cwd: "/",
    env: Setting.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"]
  })
  child.stdout.resume()
  child.stderr.resume()
  await once(child, "close")
})

const runner = ProcessRunner.use((runner) => runner.run({ ...Setting.bash(""), program: "/bin/true", args: [] }))

const effects = Effect.scoped(
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner
    const handle = yield* spawner.spawn(
      ChildProcess.make("/bin/true", [], { cwd: "/", env: Setting.env, stdin: "ignore", forceKillAfter: "1 second" })
    )
    yield* Effect.all([Stream.runDrain(handle.all), handle.exitCode], { concurrency: 2 })
  })
)

const timed = <A, E, R>(times: Array<number>, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* effect
    times.push(performance.now() - began)
  })

/** Milliseconds of each run. The three take turns, so that what else the machine does falls on all of them. */
const samples = Effect.gen(function* () {
  const times = { bare: Array.of<number>(), runner: Array.of<number>(), effects: Array.of<number>() }
  for (let index = 0; index < warmUp + runs; index++) {
    yield* timed(times.bare, bare)
    yield* timed(times.runner, runner)
    yield* timed(times.effects, effects)
  }
  return {
    bare: times.bare.slice(warmUp),
    runner: times.runner.slice(warmUp),
    effects: times.effects.slice(warmUp)
  }
})

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const { bare, effects, runner } = await Effect.runPromise(Effect.provide(samples, Setting.layer))
  return [
    {
      name: "process",
      value: median(runner),
      unit: "ms",
      note: "a program that does nothing, under the process runner"
    },
    { name: "process p99", value: quantile(runner, 0.99), unit: "ms" },
    { name: "process, bare", value: median(bare), unit: "ms", note: "the same by node:child_process" },
    { name: "process, Effect's", value: median(effects), unit: "ms", note: "the same by effect/process" },
    { name: "process / bare", value: median(runner) / median(bare), unit: "×", target: 1.5 }
  ]
}
