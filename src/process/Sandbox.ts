/**
 * Sandboxes: what a program of an agent is kept from. A mode is wished for in the settings; what really applies is found out on
 * the machine, by trying it.
 */
import * as Schema from "effect/Schema"

/**
 * From the least to the most:
 * - `basic`: the limits of the process runner and nothing else. `none` is another name for it.
 * - `rlimit`: limits of the kernel on processor time, memory, size of files, number of processes and open files.
 * - `cgroup`: limits on the memory and processor of all its processes together, by systemd.
 * - `jail`: whatever the command prefix of the settings does.
 * - `bwrap`: sees the system without being able to change it, writes to the managed files only, has no network, sees no other
 *   process.
 */
export const Mode = Schema.Literals(["none", "basic", "rlimit", "cgroup", "jail", "bwrap"])
export type Mode = typeof Mode.Type

/** What applied, as it was measured. */
export const Applied = Schema.Literals(["basic", "rlimit", "cgroup", "jail", "bwrap"])
export type Applied = typeof Applied.Type

/** A limit of 0 is none. */
export interface Rlimit {
  readonly enabled: boolean
  readonly cpu_seconds: number
  readonly memory_mb: number
  readonly fsize_mb: number
  readonly nproc: number
  readonly nofile: number
}

export interface Cgroup {
  readonly enabled: boolean
  readonly cpu_quota_percent: number
  readonly memory_max_mb: number
}

export interface Jail {
  readonly enabled: boolean
  readonly command_prefix: ReadonlyArray<string>
}

export interface Bwrap {
  readonly enabled: boolean
  readonly network: boolean
  readonly read_paths: ReadonlyArray<string>
  readonly write_paths: ReadonlyArray<string>
}

/** What the settings say of one tool's sandbox. */
export interface Wanted {
  readonly sandbox_mode: Mode
  /** Refuse rather than run with less than the mode. */
  readonly require_sandbox: boolean
  readonly rlimit: Rlimit
  readonly cgroup: Cgroup
  readonly jail: Jail
  readonly bwrap: Bwrap
}

/** The mode cannot be had here, and the settings allow no less. Nothing has run. */
export class SandboxUnavailable extends Schema.TaggedError<SandboxUnavailable>()("SandboxUnavailable", {
  mode: Mode,
  reason: Schema.String
}) {
  readonly code = "sandbox:unavailable"
  override get message() {
    return (
      `Nothing was run: the sandbox ${this.mode} cannot be had here, since ${this.reason}. ` +
      "The person who runs this installation can set it up, or allow less with require_sandbox = false."
    )
  }
}

/** The working directory is none that the sandbox shows. Nothing has run. */
export class OutsideSandbox extends Schema.TaggedError<OutsideSandbox>()("OutsideSandbox", {}) {
  readonly code = "sandbox:cwd_not_visible"
  override get message() {
    return "Nothing was run: the sandbox does not show that working directory. Leave cwd out to work among the managed files."
  }
}

/** Bounds of the kernel, as arguments of `prlimit`. */
export const prlimitArguments = (limits: Rlimit): ReadonlyArray<string> =>
  bounds(limits).map(({ flag, value }) => `--${flag}=${value}:${value}`)

/** The same bounds by the names that `/proc/<pid>/limits` has for them. */
export const bounds = (
  limits: Rlimit
): ReadonlyArray<{ readonly flag: string; readonly title: string; readonly value: number }> =>
  [
    { flag: "cpu", title: "Max cpu time", value: limits.cpu_seconds },
    { flag: "as", title: "Max address space", value: limits.memory_mb * megabyte },
    { flag: "fsize", title: "Max file size", value: limits.fsize_mb * megabyte },
    { flag: "nproc", title: "Max processes", value: limits.nproc },
    { flag: "nofile", title: "Max open files", value: limits.nofile }
  ]
    .filter(({ value }) => value > 0)
    // A dump of memory would be a file of any size.
    .concat({ flag: "core", title: "Max core file size", value: 0 })

const megabyte = 1024 * 1024

/** Arguments of `systemd-run`. The program is not shown the way to the service manager that put it there. */
export const systemdArguments = ({ cpu_quota_percent, memory_max_mb }: Cgroup): ReadonlyArray<string> => [
  "--user",
  "--scope",
  "--quiet",
  "--collect",
  `--property=MemoryMax=${memory_max_mb}M`,
  "--property=MemorySwapMax=0",
  `--property=CPUQuota=${cpu_quota_percent}%`,
  "--",
  "env",
  ...busVariables.map((name) => `--unset=${name}`),
  "--"
]

/** What `systemd-run --user` needs of the daemon's environment. */
export const busVariables = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] as const

/** Where the program's world comes from. All paths are absolute. */
export interface View {
  readonly cwd: string
  /** Covered by an empty folder, unless something below it is shown. */
  readonly home: string | undefined
  readonly read: ReadonlyArray<string>
  readonly write: ReadonlyArray<string>
}

/** Folders of the system, shown as they are; those that a machine does not have are left out. */
const system = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt",
  "/etc",
  "/nix/store",
  "/gnu/store"
]
/** With the network, names must be found too. */
const resolver = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"]

/** Arguments of `bwrap`. Later ones cover earlier ones, so what is shown of a folder comes after the folder. */
export const bwrapArguments = ({ network }: Bwrap, { cwd, home, read, write }: View): ReadonlyArray<string> => [
  "--unshare-all",
  ...(network ? ["--share-net"] : []),
  "--die-with-parent",
  "--cap-drop",
  "ALL",
  "--hostname",
  "sandbox",
  ...[...system, ...(network ? resolver : [])].flatMap((path) => ["--ro-bind-try", path, path]),
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--tmpfs",
  "/tmp",
  ...(home === undefined || home === "/" ? [] : ["--tmpfs", home]),
  ...read.flatMap((path) => ["--ro-bind", path, path]),
  ...write.flatMap((path) => ["--bind", path, path]),
  "--remount-ro",
  "/",
  "--chdir",
  cwd,
  "--"
]

/** Whether the program would find the folder. */
export const isVisible = ({ read, write }: Pick<View, "read" | "write">, folder: string): boolean =>
  folder === "/tmp" || [...system, ...read, ...write].some((path) => folder === path || folder.startsWith(`${path}/`))
