/**
 * The edge to `node:child_process`. A child gets a session of its own, and its outputs are read as they come by a plain
 * function: nothing is queued between the pipe and the limits.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { spawn as nodeSpawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import type { Readable } from "node:stream"
import type * as ProcessRunner from "../../src/process/ProcessRunner.ts"
import type * as Pipes from "./Pipes.ts"

export interface Options {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array | undefined
  readonly pipes: Pipes.Pipes
  /** Takes each piece of output as it is read; false when reading should rest until `resume`. */
  readonly onOutput: (stream: ProcessRunner.StreamName, chunk: Uint8Array) => boolean
}

export interface Child {
  /** Its id, and that of its group and session. The id is free again once it has exited and its group is empty. */
  readonly pid: number
  /** Waits for the end of the command itself, whatever becomes of its outputs. */
  readonly exited: Effect.Effect<ProcessRunner.Exit>
  readonly hasExited: () => boolean
  /** How it ended; `unknown` while it runs. */
  readonly exit: Effect.Effect<ProcessRunner.Exit>
  /** Waits until nobody can write to its outputs any more, or until they were closed here. */
  readonly drained: Effect.Effect<void>
  /** Reads its outputs again after a rest, in which it waits when it writes. */
  readonly resume: Effect.Effect<void>
  /** Closes this side of everything, whoever holds the other. */
  readonly close: Effect.Effect<void>
}

/** The system did not start it. `code` is the system's own, such as `ENOENT`. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { code: Schema.String }) {}

export const spawn = Effect.fnUntraced(function* (options: Options) {
  const { pipes } = options
  const child = yield* Effect.try({ try: () => begin(options), catch: refusedBy }).pipe(
    Effect.ensuring(pipes.closeChildEnds),
    Effect.onError(() => pipes.closeReaders)
  )
  const adopted = adopt(child, pipes.readers(child), options)
  yield* started(child).pipe(Effect.onError(() => adopted.close))
  return adopted
})

const begin = ({ args, cwd, env, pipes, program }: Options): ChildProcess =>
  nodeSpawn(program, args, {
    cwd,
    env: { ...env },
    detached: true,
    windowsHide: true,
    stdio: [...pipes.stdio]
  })

const started = (child: ChildProcess): Effect.Effect<void, Refused> =>
  Effect.callback((resume) => {
    child.once("spawn", () => resume(Effect.void))
    child.once("error", (error) => resume(Effect.fail(refusedBy(error))))
  })

const adopt = (
  child: ChildProcess,
  [stdout, stderr]: readonly [Readable, Readable],
  { onOutput, stdin }: Options
): Child => {
  const exited = Deferred.makeUnsafe<ProcessRunner.Exit>()
  let exit: ProcessRunner.Exit = { _tag: "unknown" }
  // A signal that could not be sent is told by whoever sends it.
  child.on("error", ignore)
  child.once("exit", (code, signal) => {
    exit = exitOf(code, signal)
    Deferred.doneUnsafe(exited, Effect.succeed(exit))
  })

  const take = (stream: ProcessRunner.StreamName) => (chunk: Uint8Array) => {
    if (onOutput(stream, chunk)) return
    stdout.pause()
    stderr.pause()
  }
  const drained = [reading(stdout, take("stdout")), reading(stderr, take("stderr"))].map(Deferred.await)

  // Whoever does not read its input breaks the pipe, which is no failure.
  child.stdin?.on("error", ignore).end(stdin)

  return {
    pid: child.pid ?? 0,
    exited: Deferred.await(exited),
    hasExited: () => Deferred.isDoneUnsafe(exited),
    exit: Effect.sync(() => exit),
    drained: Effect.all(drained, { discard: true }),
    resume: Effect.sync(() => {
      stdout.resume()
      stderr.resume()
    }),
    close: Effect.sync(() => {
      for (const stream of [child.stdin, stdout, stderr]) stream?.destroy()
    })
  }
}

/** How often reading is taken up again that rested, in milliseconds. */
const resumeMillis = 20

/** Whether the outputs come to their end in this time. What rests is read on. */
export const drainedWithin = (child: Child, time: Duration.Input): Effect.Effect<boolean> =>
  Effect.raceFirst(
    Effect.as(child.drained, true),
    Effect.timeoutOrElse(Effect.forever(Effect.andThen(child.resume, Effect.sleep(resumeMillis))), {
      duration: time,
      orElse: () => Effect.succeed(false)
    })
  )

/** Done when the stream has no more to give. */
const reading = (stream: Readable, onChunk: (chunk: Uint8Array) => void): Deferred.Deferred<void> => {
  const ended = Deferred.makeUnsafe<void>()
  stream.on("data", onChunk)
  stream.on("error", ignore)
  stream.once("close", () => Deferred.doneUnsafe(ended, Effect.void))
  return ended
}

const exitOf = (code: number | null, signal: string | null): ProcessRunner.Exit => {
  if (code !== null) return { _tag: "code", code }
  return signal === null ? { _tag: "unknown" } : { _tag: "signal", signal }
}

const refusedBy = (cause: unknown): Refused =>
  new Refused({ code: Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown" })

const ignore = (): void => {}
