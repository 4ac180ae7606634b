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
      "Offer bash. Its commands have all the rights of the daemon's user unless a sandbox takes some."
    ),
    default_timeout_seconds: Key.key(Values.Seconds, 15, "How long a command may run unless the call asks otherwise."),
    max_timeout_seconds: Key.key(Values.Seconds, 120, "Longest a call may ask for; a longer time is cut to this."),
    max_output_bytes: Key.key(
      Values.PositiveInt,
      128_000,
      "Bytes kept of both outputs together, half from the beginning and half from the end."
    ),
    pass_parent_env: Key.key(
      Values.Bool,
      false,
      "Give commands the daemon's environment, without its secrets, in a login shell."
    ),
    env_allowlist: Key.key(
      Values.TextList,
      ["PATH", "HOME", "USER", "LANG", "LC_ALL", "SHELL"],
      "Variables of the daemon's environment that commands are given otherwise."
    ),
    spill_to_managed_file: Key.key(
      Values.Bool,
      false,
      "Write all of a long output to a managed file and give the model a preview and the path."
    ),
    spill_after_chars: Key.key(
      Values.PositiveInt,
      2000,
      "Outputs longer than this many characters are written to a file."
    ),
    spill_preview_chars: Key.key(Values.PositiveInt, 500, "Characters of such an output that the model still sees."),
    max_spill_bytes: Key.key(Values.PositiveInt, 5_000_000, "Largest such file, in bytes."),
    spill_subdir: Key.key(Values.RelativeFolder, "bash_output/tmp", "Folder for these files, below the managed files."),
    ...Sandbox.keys
  }),
  {},
  "Commands of a shell on this machine. Off unless switched on."
)

export const rules: ReadonlyArray<
  Rule<{
    readonly runtime: typeof Runtime.section.Type
    readonly tools: { readonly bash: typeof section.Type }
  }>
> = [({ runtime, tools: { bash } }, written) => HostExecution.times(["tools", "bash"], bash, runtime, written)]
