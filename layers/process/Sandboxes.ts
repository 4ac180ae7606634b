/** Which sandboxes this machine really has: each is tried with the settings it is wanted with, and looked at from inside. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { Environment } from "../../src/config/Environment.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import * as Sandbox from "../../src/process/Sandbox.ts"

/** How a program is started in its sandbox. */
export interface Plan {
  readonly applied: Sandbox.Applied
  /** What stands before the program: empty when nothing does. */
  readonly prefix: (view: Sandbox.View) => ReadonlyArray<string>
  /** What the prefix itself needs of the daemon's environment. */
  readonly env: Readonly<Record<string, string>>
}

/** A sandbox that may be there: how to start it, what to run in it, and what is wrong with the answer. */
interface Candidate extends Plan {
  readonly script: string
  readonly problem: (answer: string) => string | undefined
}

const basic: Plan = { applied: "basic", prefix: () => [], env: {} }

/** How long a measurement is believed. */
const believed = "1 minute"

const probeLimits = { timeout: "10 seconds", maxOutputBytes: 16_384 } as const

export const make = Effect.gen(function* () {
  const runner = yield* ProcessRunner
  const environment = yield* Environment
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const plans = new WeakMap<Sandbox.Wanted, Effect.Effect<Plan, Sandbox.SandboxUnavailable>>()

  const variable = (name: string) => Effect.map(environment.get(name), Option.getOrUndefined)

  /** The path of a program of the system. */
  const locate = Effect.fnUntraced(function* (name: string) {
    if (paths.isAbsolute(name)) return (yield* Effect.orElseSucceed(files.exists(name), () => false)) ? name : undefined
    const folders = `${(yield* variable("PATH")) ?? ""}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`.split(":")
    for (const folder of folders.filter(paths.isAbsolute)) {
      const path = paths.join(folder, name)
      if (yield* Effect.orElseSucceed(files.exists(path), () => false)) return path
    }
    return undefined
  })

  const candidate = Effect.fnUntraced(function* (wanted: Sandbox.Wanted): Effect.fn.Return<Candidate | string> {
    const mode = wanted.sandbox_mode
    if (mode === "none" || mode === "basic") return "it is none"
    if (!wanted[mode].enabled) return `its own section has enabled = false`
    const [name = "", ...fixed] = programOf(wanted)
    if (name === "") return "command_prefix is empty"
    const program = yield* locate(name)
    if (program === undefined) return `${name} is not installed`
    if (mode === "rlimit") {
      return {
        applied: mode,
        prefix: () => [program, ...Sandbox.prlimitArguments(wanted.rlimit)],
        env: {},
        script: "cat /proc/self/limits",
        problem: (answer) => wrongBound(answer, wanted.rlimit)
      }
    }
    if (mode === "cgroup") {
      const env: Record<string, string> = {}
      for (const bus of Sandbox.busVariables) {
        const value = yield* variable(bus)
        if (value !== undefined) env[bus] = value
      }
      return {
        applied: mode,
        prefix: () => [program, ...Sandbox.systemdArguments(wanted.cgroup)],
        env,
        script: `cat "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max" 2>/dev/null || :`,
        problem: (answer) =>
          answer.trim() === `${wanted.cgroup.memory_max_mb * 1024 * 1024}`
            ? undefined
            : "its memory is not limited inside"
      }
    }
    if (mode === "jail") {
      return { applied: mode, prefix: () => [program, ...fixed], env: {}, script: ":", problem: () => undefined }
    }
    return {
      applied: mode,
      prefix: (view) => [program, ...Sandbox.bwrapArguments(wanted.bwrap, view)],
      env: {},
      script: lookAround,
      problem: (answer) => whatIsOpen(answer, wanted.bwrap)
    }
  })

  /** Why it does not work here; undefined when it does. */
  const tried = Effect.fnUntraced(function* ({ env, prefix, problem, script }: Candidate, { bwrap }: Sandbox.Wanted) {
    const view = { cwd: "/tmp", home: undefined, read: bwrap.read_paths, write: bwrap.write_paths }
    const [program = "", ...args] = [...prefix(view), "/bin/sh", "-c", script]
    const path = yield* variable("PATH")
    return yield* runner
      .run({
        program,
        args,
        cwd: "/",
        env: { PATH: path ?? "/usr/bin:/bin", ...env },
        limits: probeLimits
      })
      .pipe(
        Effect.map(({ exit, stderr, stdout }) =>
          exit._tag === "code" && exit.code === 0
            ? problem(OutputText.decode(stdout))
            : `a trial of it failed (${firstLine(OutputText.decode(stderr)) || "without a word"})`
        ),
        Effect.catchTag("StartFailed", (failure) => Effect.succeed(`a trial of it failed (${failure.reason})`))
      )
  })

  const measure = Effect.fn("Sandboxes.measure")(function* (wanted: Sandbox.Wanted) {
    const { require_sandbox, sandbox_mode: mode } = wanted
    if (mode === "none" || mode === "basic") return basic
    const found = yield* candidate(wanted)
    const reason = typeof found === "string" ? found : yield* tried(found, wanted)
    if (reason === undefined && typeof found !== "string") return found
    const missing = new Sandbox.SandboxUnavailable({ mode, reason: reason ?? "it cannot be tried" })
    if (require_sandbox) return yield* missing
    yield* Effect.logWarning("Programs run without the sandbox that the settings name", {
      sandbox: mode,
      reason: missing.reason
    })
    return basic
  })

  return {
    /** The sandbox of these settings as it is here. `wanted` is one and the same object for each tool. */
    plan: Effect.fnUntraced(function* (wanted: Sandbox.Wanted) {
      const known = plans.get(wanted)
      const plan = known ?? (yield* Effect.cachedWithTTL(measure(wanted), believed))
      if (known === undefined) plans.set(wanted, plan)
      return yield* plan
    })
  }
})

/** The program that makes the sandbox, with what the settings add to it. */
const programOf = ({ jail, sandbox_mode }: Sandbox.Wanted): ReadonlyArray<string> => {
  if (sandbox_mode === "rlimit") return ["prlimit"]
  if (sandbox_mode === "cgroup") return ["systemd-run"]
  return sandbox_mode === "bwrap" ? ["bwrap"] : jail.command_prefix
}

const wrongBound = (answer: string, rlimit: Sandbox.Rlimit): string | undefined => {
  const rows = answer.split("\n")
  const wrong = Sandbox.bounds(rlimit).find(({ title, value }) => {
    const row = rows.find((line) => line.startsWith(title)) ?? ""
    return row.slice(title.length).trim().split(/\s+/, 1)[0] !== `${value}`
  })
  return wrong === undefined ? undefined : `the limit ${wrong.flag} did not apply inside`
}

/** Says what can be written, how many network interfaces there are, and how many processes. */
const lookAround = `
for folder in / /usr /etc; do if [ -w $folder ]; then echo "writable $folder"; fi; done
interfaces=-2; while read -r line; do interfaces=$((interfaces+1)); done < /proc/net/dev; echo "interfaces $interfaces"
set -- /proc/[0-9]*; echo "processes $#"
`

const whatIsOpen = (answer: string, { network }: Sandbox.Bwrap): string | undefined => {
  const count = (word: string) => Number(new RegExp(`^${word} (\\d+)$`, "m").exec(answer)?.[1] ?? Number.NaN)
  const writable = /^writable (.*)$/m.exec(answer)?.[1]
  if (writable !== undefined) return `${writable} can be written inside`
  if (!network && !(count("interfaces") <= 1)) return "the network is there inside"
  return count("processes") <= 4 ? undefined : "other processes are seen inside"
}

const firstLine = (text: string): string => text.trim().split("\n", 1).join("").slice(0, 200)
