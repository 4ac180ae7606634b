/** The keys of a sandbox, the same in each section whose tools run programs. */
import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

/** A number of something that the kernel counts; 0 for no limit of its own. */
const limit = (fallback: number, meaning: string) =>
  Key.key(Values.NonNegativeInt, fallback, `${meaning}; 0 for no limit.`)

const enabled = Key.key(Values.Bool, true, "Whether sandbox_mode may choose it.")

const absolutePaths = (meaning: string) => Key.key(Values.AbsolutePaths, [], meaning)

export const keys = {
  sandbox_mode: Key.key(
    Values.Choice(["basic", "none", "rlimit", "cgroup", "jail", "bwrap"]),
    "basic",
    "What programs are kept from; docs/execution.md says what each mode does. basic and none add nothing."
  ),
  require_sandbox: Key.key(
    Values.Bool,
    true,
    "Refuse the call where the mode cannot be had on this machine; false runs the program without it, and says so in the result."
  ),
  rlimit: Key.key(
    Key.table({
      enabled,
      cpu_seconds: limit(2, "Processor time of each process, in seconds"),
      memory_mb: limit(256, "Address space of each process, in MiB"),
      fsize_mb: limit(16, "Size of a file that it writes, in MiB"),
      nproc: limit(64, "Processes of this user"),
      nofile: limit(256, "Open files of each process")
    }),
    {},
    "Limits of the kernel, by prlimit of util-linux."
  ),
  cgroup: Key.key(
    Key.table({
      enabled,
      driver: Key.key(Values.Choice(["systemd"]), "systemd", "What makes the group."),
      cpu_quota_percent: Key.key(
        Values.PositiveInt,
        100,
        "Processor time of all its processes, in percent of one processor."
      ),
      memory_max_mb: Key.key(Values.PositiveInt, 256, "Memory of all its processes, in MiB.")
    }),
    {},
    "Limits on all processes of a program together, by systemd-run --user; Linux with a systemd user session."
  ),
  jail: Key.key(
    Key.table({
      enabled,
      command_prefix: Key.key(
        Values.TextList,
        [],
        'Stands before the program, such as ["firejail", "--quiet", "--net=none"]; what it keeps programs from is its own affair.'
      )
    }),
    {},
    "A command of your own around the program."
  ),
  bwrap: Key.key(
    Key.table({
      enabled,
      network: Key.key(Values.Bool, false, "Whether programs have the network of the machine."),
      read_paths: absolutePaths("Further folders that programs may read."),
      write_paths: absolutePaths("Further folders that programs may write to; the managed files are always one.")
    }),
    {},
    "A world of its own, by bubblewrap: the system read-only, a private /tmp and home, writes to the managed files only."
  )
}
