/** The capability to run programs on this machine: what the tools of host execution require. */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Ids from "../Ids.ts"
import * as Capability from "../tool/Capability.ts"
import type * as ProcessRunner from "./ProcessRunner.ts"
import type * as Sandbox from "./Sandbox.ts"

/** What of the daemon's environment a program may see. */
export interface Inheritance {
  /** All of it, without the daemon's own secrets. */
  readonly pass_parent_env: boolean
  /** Otherwise these variables, where they are set. */
  readonly env_allowlist: ReadonlyArray<string>
}

/** A program to run for a call. */
export interface Request {
  readonly callId: Ids.CallId
  /** An absolute path, or a name that is looked for in the PATH that the program is given; in a sandbox, a path. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** As it was asked for: `~` and relative paths are allowed; the folder of managed files when absent. */
  readonly cwd?: string | undefined
  readonly inherit: Inheritance
  /** Set beside what is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Set beside those, last. */
  readonly secrets?: Readonly<Record<string, Redacted.Redacted>> | undefined
  readonly stdin?: Uint8Array | undefined
  readonly limits: ProcessRunner.Limits
  readonly sandbox: Sandbox.Wanted
  /** Further folders that a sandbox shows, and those that it lets the program write to; absolute. */
  readonly show?: ReadonlyArray<string> | undefined
  readonly writable?: ReadonlyArray<string> | undefined
  /** All of standard output goes to a managed file when it is longer than this. */
  readonly spill?: Spill | undefined
}

export interface Spill {
  readonly tool: string
  /** Below the managed files. */
  readonly subdir: string
  readonly afterChars: number
  readonly previewChars: number
  readonly maxBytes: number
}

/** A program that has run. Outputs are text with the daemon's secrets masked. */
export interface Finished {
  readonly ended: ProcessRunner.Ended
  readonly stdout: string
  readonly stderr: string
  /** The directory it ran in. */
  readonly cwd: string
  readonly sandbox: Sandbox.Applied
  readonly spilled?: Spilled | undefined
}

export interface Spilled {
  /** Below the managed files. */
  readonly path: string
  readonly absolutePath: string
  readonly bytes: number
  readonly preview: string
}

export class Process extends Capability.Service<
  Process,
  {
    /** Runs it and waits; what it says meanwhile goes to those who watch the turn. */
    readonly run: (
      request: Request
    ) => Effect.Effect<Finished, ProcessRunner.StartFailed | Sandbox.SandboxUnavailable | Sandbox.OutsideSandbox>
  }
>()("Process") {}
