/** What the tools that run programs have in common. */
import * as Schema from "effect/Schema"
import * as Action from "../../policy/Action.ts"
import { StartFailed } from "../../process/ProcessRunner.ts"
import type { StartReason } from "../../process/ProcessRunner.ts"
import * as Sandbox from "../../process/Sandbox.ts"

export const NonBlank = Schema.String.check(Schema.isPattern(/\S/, { expected: "text that is not blank" }))

export const TimeoutSeconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
  description: "At least 1; cut to what the settings allow."
})

/** How a program ended, in the fields of a result. */
export const outcome = {
  exit_code: Schema.NullOr(Schema.Int).annotate({ description: "Null when a signal ended it." }),
  signal: Schema.optionalKey(Schema.String.annotate({ description: "The signal that ended it." })),
  timed_out: Schema.Boolean,
  truncated: Schema.Boolean.annotate({
    description: "More was written than is kept; a line in the text says where and how much."
  }),
  duration_ms: Schema.Int,
  survivors: Schema.optionalKey(
    Schema.Int.annotate({ description: "How many processes it had left running; they were ended." })
  ),
  unkillable: Schema.optionalKey(Schema.Int.annotate({ description: "How many of them could not be ended." })),
  pipe_kept_open: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "A process that it had left running still had its outputs open." })
  )
}

export const Failure = Schema.Union([StartFailed, Sandbox.SandboxUnavailable, Sandbox.OutsideSandbox])

/** Code → meaning of these failures. */
export const failures: Readonly<Record<string, string>> = {
  ...({
    "process:not_found": "there is no such program",
    "process:not_executable": "it is no program of this machine",
    "process:permission_denied": "this user may not run it, or may not enter the directory",
    "process:cwd_missing": "the working directory does not exist",
    "process:cwd_not_directory": "it is no directory",
    "process:too_large": "arguments and environment are longer than the system takes",
    "process:nul_character": "an argument or a variable holds a NUL character",
    "process:bad_variable": "a name of a variable is empty or holds an equals sign",
    "process:out_of_resources": "the machine has no room for another process",
    "process:unknown": "the system refused for another reason"
  } satisfies Readonly<Record<`process:${StartReason}`, string>>),
  "sandbox:unavailable": "the sandbox of the settings cannot be had here, and they allow no less",
  "sandbox:cwd_not_visible": "the sandbox does not show the working directory"
}

/** Variables by which a shell or a program is told to run something, or something else. */
const telling =
  /^(BASH_ENV|ENV|BASH_FUNC_.*|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PATH|IFS|LD_.*|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL.*|RUBYOPT|EDITOR|VISUAL|PAGER|.*_PAGER)$/

/** What variables hide from who reads the command only. */
export const hiddenIn = (env: Readonly<Record<string, string>>): ReadonlyArray<Action.Action> =>
  Object.entries(env)
    .filter(([name, value]) => telling.test(name) || /\$\(|`/.test(value))
    .map(([name]) => Action.runUnknown(`what the variable ${name} brings about`))
