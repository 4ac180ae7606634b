import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Values from "../../Values.ts"
import type * as Runtime from "../Runtime.ts"
import * as HostExecution from "./HostExecution.ts"
import * as Sandbox from "./Sandbox.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(
      Values.Bool,
      false,
      "Offer python_execute and python_environment_info. Code has all the rights of the daemon's user unless a sandbox takes some."
    ),
    backend: Key.key(Values.Choice(["host"]), "host", "Where code runs."),
    python_path: Key.optional(
      Values.FilePath,
      "/usr/bin/python3",
      "The interpreter; without it that of venv_path, then python3 of the PATH."
    ),
    venv_path: Key.optional(Values.FilePath, "/srv/agent/venv", "A virtual environment whose interpreter is used."),
    default_timeout_seconds: Key.key(Values.Seconds, 8, "How long code may run unless the call asks otherwise."),
    max_timeout_seconds: Key.key(Values.Seconds, 20, "Longest a call may ask for; a longer time is cut to this."),
    max_output_bytes: Key.key(
      Values.PositiveInt,
      64_000,
      "Bytes kept of both outputs together, half from the beginning and half from the end."
    ),
    max_code_bytes: Key.key(Values.PositiveInt, 32_000, "Longest code taken, in bytes."),
    artifacts_enabled: Key.key(Values.Bool, true, "Let a call keep files that its code has written."),
    artifacts_default_subdir: Key.key(
      Values.RelativeFolder,
      "generated",
      "Folder for them, below the managed files, unless the call names one."
    ),
    artifacts_allowed_extensions: Key.key(
      Values.TextList,
      [".png", ".jpg", ".jpeg", ".pdf", ".csv", ".txt", ".json", ".svg"],
      "Kinds of file that may be kept."
    ),
    artifacts_max_files: Key.key(Values.PositiveInt, 5, "Most files kept of one call."),
    artifacts_max_file_bytes: Key.key(Values.PositiveInt, 5_000_000, "Largest file kept, in bytes."),
    artifacts_max_total_bytes: Key.key(Values.PositiveInt, 20_000_000, "Size of all files kept of one call, in bytes."),
    artifacts_allow_in_jail: Key.key(
      Values.Bool,
      false,
      "Whether files are kept in the mode jail, which needs artifacts_jail_shared_dir."
    ),
    artifacts_jail_shared_dir: Key.optional(
      Values.FilePath,
      "/srv/agent/shared",
      "Folder that the jail and the daemon both see; code runs in a new folder below it."
    ),
    pass_parent_env: Key.key(Values.Bool, false, "Give code the daemon's environment, without its secrets."),
    env_allowlist: Key.key(
      Values.TextList,
      ["PATH", "LANG", "LC_ALL", "PYTHONUTF8"],
      "Variables of the daemon's environment that code is given otherwise."
    ),
    ...Sandbox.keys
  }),
  {},
  "Python code on this machine. Off unless switched on."
)

export const rules: ReadonlyArray<
  Rule<{
    readonly runtime: typeof Runtime.section.Type
    readonly tools: { readonly python_exec: typeof section.Type }
  }>
> = [
  ({ runtime, tools: { python_exec } }, written) =>
    HostExecution.times(["tools", "python_exec"], python_exec, runtime, written)
]
