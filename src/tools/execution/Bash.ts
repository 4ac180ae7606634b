import * as Schema from "effect/Schema"
import { Process } from "../../process/Process.ts"
import * as Sandbox from "../../process/Sandbox.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as SecretsParameter from "../vault/SecretsParameter.ts"
import * as HostExecution from "./HostExecution.ts"

const fields = {
  command: HostExecution.NonBlank.annotate({ description: "For /bin/bash -c." }),
  timeout_seconds: Schema.optionalKey(HostExecution.TimeoutSeconds),
  cwd: Schema.optionalKey(
    HostExecution.NonBlank.annotate({ description: "An existing directory; that of the managed files by default." })
  ),
  env: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({ description: "Further environment variables." })
  )
}

const success = Schema.Struct({
  ok: Schema.Boolean.annotate({ description: "The exit code is 0, and no limit ended the command." }),
  ...HostExecution.outcome,
  stdout: Schema.String,
  stderr: Schema.String,
  cwd: Schema.String,
  command: Schema.String,
  sandbox_applied: Sandbox.Applied,
  stdout_storage: Schema.optionalKey(
    Schema.Literal("managed_file").annotate({
      description: "Standard output was long and is in a file; `stdout` is empty."
    })
  ),
  stdout_file_path: Schema.optionalKey(Schema.String.annotate({ description: "Below the managed files." })),
  stdout_file_absolute_path: Schema.optionalKey(Schema.String),
  stdout_bytes_written: Schema.optionalKey(Schema.Int),
  stdout_preview: Schema.optionalKey(Schema.String),
  stdout_notice: Schema.optionalKey(Schema.String)
})

const declaration = {
  description:
    "Runs a command of the shell on this machine and waits for it. It has no input. " +
    "What it starts in the background ends with it.",
  success,
  failure: HostExecution.Failure,
  // The settings allow less; this is what no setting goes beyond.
  limits: { timeout: "1 hour", output: { maxChars: 8000, spill: "stdout" }, concurrency: 8 },
  cancellation: "interruptible",
  replay: "unknown",
  capabilities: [Process],
  actions: ({
    command,
    cwd,
    env = {},
    secrets = []
  }: {
    readonly command: string
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string>>
    readonly secrets?: ReadonlyArray<string>
  }) => [Action.shell(command, cwd), ...HostExecution.hiddenIn(env), ...secrets.map(Action.secret)],
  identifiedBy: ["command"]
} as const

export const Bash = Tool.make("bash", { ...declaration, parameters: Schema.Struct(fields) })

/** The same where the settings let agents give programs secrets of the vault: by these names. */
export const withSecrets = (names: ReadonlyArray<string>) =>
  Tool.make("bash", {
    ...declaration,
    parameters: Schema.Struct({ ...fields, secrets: SecretsParameter.programs(names) })
  })
