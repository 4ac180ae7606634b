import * as Schema from "effect/Schema"
import { FsWrite } from "../../file/Workspace.ts"
import { Process } from "../../process/Process.ts"
import * as Sandbox from "../../process/Sandbox.ts"
import * as Tool from "../../tool/Tool.ts"
import * as SecretsParameter from "../vault/SecretsParameter.ts"
import * as HostExecution from "./HostExecution.ts"
import * as Action from "../../policy/Action.ts"
import { PythonRefused } from "./PythonRefused.ts"

const fields = {
  code: HostExecution.NonBlank.annotate({ description: "A whole program; print what you want to see." }),
  stdin: Schema.optionalKey(Schema.String),
  timeout_seconds: Schema.optionalKey(HostExecution.TimeoutSeconds),
  save_artifacts: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Keep files that the code writes to its working directory." })
  ),
  artifact_globs: Schema.optionalKey(
    Schema.Array(HostExecution.NonBlank).annotate({ description: 'Which of them, such as "*.png"; all by default.' })
  ),
  artifact_subdir: Schema.optionalKey(Schema.String.annotate({ description: "Folder below the managed files." })),
  max_artifacts: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
}

export const SkipReason = Schema.Literals([
  "max_artifacts_reached",
  "extension_not_allowed",
  "file_too_large",
  "total_size_limit",
  "not_copied"
])

const success = Schema.Struct({
  ok: Schema.Boolean.annotate({ description: "The exit code is 0, and no limit ended the program." }),
  ...HostExecution.outcome,
  stdout: Schema.String,
  stderr: Schema.String,
  sandbox_mode: Sandbox.Applied.annotate({ description: "The one that applied." }),
  artifacts_saved: Schema.Array(
    Schema.Struct({ path: Schema.String, name: Schema.String, size_bytes: Schema.Int, mime: Schema.String })
  ),
  artifacts_skipped: Schema.Array(Schema.Struct({ name: Schema.String, reason: SkipReason })),
  python_executable: Schema.String
})

const declaration = {
  description:
    "Runs a Python program on this machine, in an empty directory that is removed afterwards. " +
    "What it starts in the background ends with it.",
  success,
  failure: Schema.Union([...HostExecution.Failure.members, PythonRefused]),
  // The settings allow less; this is what no setting goes beyond.
  limits: { timeout: "1 hour", output: { maxChars: 8000, spill: "stdout" }, concurrency: 8 },
  cancellation: "interruptible",
  replay: "unknown",
  capabilities: [Process, FsWrite],
  actions: ({ secrets = [] }: { readonly code: string; readonly secrets?: ReadonlyArray<string> }) => [
    Action.runUnknown("Python code"),
    ...secrets.map(Action.secret)
  ],
  identifiedBy: ["code"]
} as const

export const PythonExecute = Tool.make("python_execute", { ...declaration, parameters: Schema.Struct(fields) })

/** The same where the settings let agents give programs secrets of the vault: by these names. */
export const withSecrets = (names: ReadonlyArray<string>) =>
  Tool.make("python_execute", {
    ...declaration,
    parameters: Schema.Struct({ ...fields, secrets: SecretsParameter.programs(names) })
  })
