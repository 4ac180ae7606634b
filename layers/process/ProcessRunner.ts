/** Child processes over Node, with everything that keeps them within their limits. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as AwakeTime from "../../src/AwakeTime.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import * as Marker from "../../src/process/Marker.ts"
import * as ProcessMetrics from "../../src/process/ProcessMetrics.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import type * as Contract from "../../src/process/ProcessRunner.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Ending from "./Ending.ts"
import * as NodeChild from "./NodeChild.ts"
import * as Orphans from "./Orphans.ts"
import * as Outputs from "./Outputs.ts"
import * as Pipes from "./Pipes.ts"
import * as Refusal from "./Refusal.ts"

const defaults = { terminateGrace: "500 millis", drainGrace: "250 millis" } as const

export const layer: Layer.Layer<ProcessRunner, never, DataDirectory | Incarnation | FileSystem.FileSystem> =
  Layer.effect(
    ProcessRunner,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const owner = yield* Orphans.owner
      yield* Orphans.end(owner)
      const { take: takePipes } = yield* Pipes.make
      let runs = 0
      // Whoever runs a command is interrupted before the runner goes, and waits for its end. What is left then has been forgotten.
      const atWork = new Set<Effect.Effect<unknown>>()
      yield* Effect.addFinalizer(() =>
        Effect.forEach(Array.from(atWork), (end) => end, { concurrency: "unbounded", discard: true })
      )

      const run = Effect.fn("ProcessRunner.run")(
        function* (command: Contract.Command) {
          yield* Refusal.before(command)
          const outputs = yield* Outputs.make(command)
          const pipes = yield* takePipes(command.stdin)
          const began = yield* Monotonic.millis
          const { child, end } = yield* Effect.acquireRelease(
            Effect.tap(start(command, Marker.ofRun(owner, runs++), pipes, outputs), ({ end }) =>
              Effect.sync(() => atWork.add(end))
            ),
            ({ end }) =>
              Effect.andThen(
                end,
                Effect.sync(() => atWork.delete(end))
              )
          )
          const cause = yield* whatEnds(command.limits, child, outputs)
          const { drainGrace = defaults.drainGrace } = command.limits
          const pipeKeptOpen = cause === "exited" && !(yield* NodeChild.drainedWithin(child, drainGrace))
          const outcome = yield* end
          yield* ProcessMetrics.endedBy(cause)
          return {
            exit: yield* child.exit,
            cause,
            ...(yield* outputs.end),
            durationMillis: Math.round((yield* Monotonic.millis) - began),
            pipeKeptOpen,
            ...outcome
          }
        },
        Effect.onInterrupt(() => ProcessMetrics.endedBy("cancelled")),
        Effect.scoped,
        Effect.provideService(FileSystem.FileSystem, files)
      )
      return ProcessRunner.of({ run: (command) => counted(run(command)) })
    })
  )

type Running = Effect.Success<ReturnType<typeof Outputs.make>>

const start = Effect.fnUntraced(function* (
  command: Contract.Command,
  mark: string,
  pipes: Pipes.Pipes,
  outputs: Running
) {
  const { terminateGrace = defaults.terminateGrace, drainGrace = defaults.drainGrace } = command.limits
  const child = yield* NodeChild.spawn({
    program: command.program,
    args: command.args,
    cwd: command.cwd,
    env: { ...command.env, [Marker.variable]: mark },
    stdin: command.stdin,
    pipes,
    onOutput: outputs.push
  }).pipe(
    Effect.mapError(Refusal.after(command.program)),
    Effect.tapError(() => ProcessMetrics.endedBy("not_started"))
  )
  return { child, ...(yield* Ending.make({ child, mark, pipes, terminateGrace, drainGrace })) }
})

/** Waits for the end of the command, or for the first of its limits. */
const whatEnds = Effect.fnUntraced(function* (limits: Contract.Limits, child: NodeChild.Child, outputs: Running) {
  const idleMillis =
    limits.idle === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(Duration.fromInputUnsafe(limits.idle))
  const beat = Effect.gen(function* () {
    yield* Effect.sleep(Outputs.beatMillis)
    const quiet = yield* outputs.beat
    yield* child.resume
    return quiet
  })
  const idle = Effect.as(Effect.repeat(beat, { until: (quiet) => quiet >= idleMillis }), "idle" as const)
  return yield* Effect.as(child.exited, "exited" as const).pipe(
    Effect.raceFirst(idle),
    Effect.raceFirst(Effect.as(outputs.enough, "enough" as const)),
    AwakeTime.timeoutOrElse({ duration: limits.timeout, orElse: () => Effect.succeed("timeout" as const) })
  )
})

const counted = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Metric.modify(ProcessMetrics.running, 1),
    () => effect,
    () => Metric.modify(ProcessMetrics.running, -1)
  )
