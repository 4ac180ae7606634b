/**
 * The only way to start a child process. Whatever the child does, control comes back within its limits and nothing of it is
 * left running: not what it started in the background, nor what left its session, nor what ignores signals.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Masking from "../secret/Masking.ts"
import type * as OutputBuffer from "./OutputBuffer.ts"

/** A program to run. Nothing of this process reaches it but what is written here. */
export interface Command {
  /** A path, or a name that is looked for in the `PATH` of `env`. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** An absolute path of a directory. */
  readonly cwd: string
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** What it can read; its standard input is empty when absent. */
  readonly stdin?: Uint8Array | undefined
  readonly limits: Limits
  /** Told what the command says, while it says it. */
  readonly watch?: ((piece: Piece) => Effect.Effect<void>) | undefined
  /**
   * What each output passes through before anything of it is kept, told or written; as it is when absent. What is cut off an
   * output later was masked before.
   */
  readonly mask?: (() => Masking.Masking<Uint8Array>) | undefined
  /**
   * Takes all that the command writes, as it is read and unmasked, and nothing of it is kept or told. It is called between pieces of
   * the pipe and not by a fiber: it must be quick and never throw. False when it has enough: the command is ended then.
   */
  readonly take?: ((stream: StreamName, piece: Uint8Array) => boolean) | undefined
  /** A new file for all that the command writes to standard output, up to a size; the path is absolute. */
  readonly stdoutFile?: { readonly path: string; readonly maxBytes: number } | undefined
}

export interface Limits {
  /** From the start. Then the command and all that it started are ended. */
  readonly timeout: Duration.Input
  /** Longest time without a byte of output; unlimited when absent. */
  readonly idle?: Duration.Input | undefined
  /** Bytes kept of both outputs together; more is read and let go, so that the command goes on. */
  readonly maxOutputBytes: number
  /** Bytes kept of one line; unlimited when absent. */
  readonly maxLineBytes?: number | undefined
  /** Between asking to end and killing; half a second when absent. */
  readonly terminateGrace?: Duration.Input | undefined
  /** How long outputs may stay open after the command itself has ended; a quarter of a second when absent. */
  readonly drainGrace?: Duration.Input | undefined
}

export type StreamName = "stdout" | "stderr"

/** A piece of live output. Between two pieces at most `watchBytes` are told; `dropped` counts the bytes left out before it. */
export interface Piece {
  readonly stream: StreamName
  readonly text: string
  readonly dropped: number
}

/** How the command itself ended. `unknown`: it could not be killed, or nobody could say. */
export type Exit =
  | { readonly _tag: "code"; readonly code: number }
  | { readonly _tag: "signal"; readonly signal: string }
  | { readonly _tag: "unknown" }

/** A command that was started and is over. */
export interface Ended {
  readonly exit: Exit
  /** `exited`: by itself. `timeout`, `idle`: a limit ended it. `enough`: who took its output did not want more. */
  readonly cause: "exited" | "timeout" | "idle" | "enough"
  readonly stdout: OutputBuffer.Captured
  readonly stderr: OutputBuffer.Captured
  readonly durationMillis: number
  /** Something that it started kept its output open after it had ended. */
  readonly pipeKeptOpen: boolean
  /** How many of the processes that it started were still running when it had ended, and were ended. */
  readonly survivors: number
  /** How many of them are still there, since they cannot be killed. */
  readonly unkillable: number
  /** Present when `stdoutFile` was asked for. */
  readonly stdoutFile?: { readonly bytes: number; readonly failed: boolean } | undefined
}

/** Why there is no process. */
export const StartReason = Schema.Literals([
  "not_found",
  "not_executable",
  "permission_denied",
  "cwd_missing",
  "cwd_not_directory",
  "too_large",
  "nul_character",
  "bad_variable",
  "out_of_resources",
  "unknown"
])
export type StartReason = typeof StartReason.Type

/** There is no process: nothing has happened. */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", {
  program: Schema.String,
  reason: StartReason,
  /** What the system says, such as `EACCES`; never an argument or a value. */
  detail: Schema.optionalKey(Schema.String)
}) {
  get code(): `process:${StartReason}` {
    return `process:${this.reason}`
  }
  override get message() {
    const detail = this.detail === undefined ? "" : ` (${this.detail})`
    return `${JSON.stringify(this.program)} could not be started: ${why[this.reason]}${detail}`
  }
}

const why: Readonly<Record<StartReason, string>> = {
  not_found: "there is no such program. Check its name, and whether the PATH of the call has its folder.",
  not_executable: "the file is no program that this machine can run.",
  permission_denied: "this user may not run it, or may not enter the working directory.",
  cwd_missing: "the working directory does not exist. Make it first, or name another.",
  cwd_not_directory: "the working directory is not a directory.",
  too_large:
    "its arguments and environment are longer than the system takes. Put long text into a file or standard input.",
  nul_character: "an argument or an environment variable holds a NUL character.",
  bad_variable: "the name of an environment variable is empty or holds an equals sign.",
  out_of_resources: "the machine has no room for another process or file. Try again when others have ended.",
  unknown: "the system refused."
}

export class ProcessRunner extends Context.Service<
  ProcessRunner,
  {
    /**
     * Starts the command and waits until it and everything that it started is gone. Interrupting ends all of it first, within
     * the grace of its limits.
     */
    readonly run: (command: Command) => Effect.Effect<Ended, StartFailed>
  }
>()("troupe/process/ProcessRunner") {}
