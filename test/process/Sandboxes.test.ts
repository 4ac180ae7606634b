import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Sandboxes from "../../layers/process/Sandboxes.ts"
import { Environment } from "../../src/config/Environment.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import type * as Sandbox from "../../src/process/Sandbox.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Needs from "../rigs/Needs.ts"
import * as ProcessZoo from "../rigs/ProcessZoo.ts"
import * as Setting from "./Setting.ts"

type Bash = Settings.Settings["Service"]["tools"]["bash"]
type Given = NonNullable<NonNullable<Settings.SettingsInput["tools"]>["bash"]>

/** The settings of a tool, with these in place of the usual ones. */
const wanted = (bash: Given) =>
  Effect.map(Settings.Settings, ({ tools }): Bash => tools.bash).pipe(
    Effect.provide(Settings.Settings.layer({ tools: { bash } })),
    Effect.orDie
  )

const environment = Environment.layerTable({ PATH: process.env["PATH"] ?? "/usr/bin:/bin" })
const below = Layer.provideMerge(Layer.merge(Setting.layer, environment), NodeServices.layer)

const plan = (bash: Given) =>
  Effect.gen(function* () {
    return yield* (yield* Sandboxes.make).plan(yield* wanted(bash))
  })

/** Runs a script in the sandbox, with a workspace to write to. */
const inside = Effect.fnUntraced(function* (bash: Given, script: string, view: Partial<Sandbox.View> = {}) {
  const workspace = (yield* DataDirectory).file("work")
  yield* (yield* FileSystem.FileSystem).makeDirectory(workspace, { recursive: true })
  const { prefix } = yield* plan(bash)
  const all = { cwd: workspace, home: undefined, read: [], write: [workspace], ...view }
  const [program = "", ...args] = [...prefix(all), "/bin/bash", "-c", script]
  const ended = yield* (yield* ProcessRunner).run({
    program,
    args,
    cwd: all.cwd,
    env: Setting.env,
    limits: { timeout: "10 seconds", maxOutputBytes: 20_000 }
  })
  return { ended, text: OutputText.decode(ended.stdout), errors: OutputText.decode(ended.stderr) }
})

const live = <E>(title: string, effect: Effect.Effect<void, E, Layer.Success<typeof below>>) =>
  it.live(title, () => Effect.provide(effect, below))

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "sandboxes"), () => {
  live(
    "none is wanted: none applies",
    Effect.gen(function* () {
      for (const sandbox_mode of ["none", "basic"] as const)
        assert.strictEqual((yield* plan({ sandbox_mode })).applied, "basic")
    })
  )

  const impossible: ReadonlyArray<readonly [string, Given, string]> = [
    ["a section that is off", { sandbox_mode: "rlimit", rlimit: { enabled: false } }, "enabled = false"],
    ["a jail without a command", { sandbox_mode: "jail" }, "command_prefix is empty"],
    [
      "a jail whose program is not there",
      { sandbox_mode: "jail", jail: { command_prefix: ["no-such-jail"] } },
      "no-such-jail is not installed"
    ],
    ["a jail that fails", { sandbox_mode: "jail", jail: { command_prefix: ["/bin/false"] } }, "a trial of it failed"],
    [
      "a folder to show that is not there",
      { sandbox_mode: "bwrap", bwrap: { read_paths: ["/nowhere/at/all"] } },
      "bwrap is not installed|a trial of it failed"
    ]
  ]
  for (const [title, settings, reason] of impossible) {
    live(
      `${title}: refused with the reason, and run with less only where the settings allow it`,
      Effect.gen(function* () {
        const refused = yield* Effect.flip(plan(settings))
        assert.strictEqual(refused.code, "sandbox:unavailable")
        assert.match(refused.message, new RegExp(reason))
        assert.strictEqual((yield* plan({ ...settings, require_sandbox: false })).applied, "basic")
      })
    )
  }

  live(
    "a cgroup that limits nothing is found out, and the program is not shown the way to the service manager",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped()
      // Takes the arguments of systemd-run, notes them, and only runs what follows.
      const fake = `#!/bin/sh\necho "$@" > ${folder}/told\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n`
      yield* files.writeFileString(`${folder}/systemd-run`, fake, { mode: 0o755 })
      const bus = { XDG_RUNTIME_DIR: "/run/user/1", DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1/bus" }
      const environment = Environment.layerTable({ PATH: `${folder}:/usr/bin:/bin`, ...bus })
      const bash: Given = { sandbox_mode: "cgroup", cgroup: { memory_max_mb: 123, cpu_quota_percent: 50 } }
      const refused = yield* Effect.flip(Effect.provide(plan(bash), environment))
      assert.match(refused.message, /its memory is not limited inside/)
      const told = yield* files.readFileString(`${folder}/told`)
      for (const part of ["--user --scope", "MemoryMax=123M", "MemorySwapMax=0", "CPUQuota=50%"])
        assert.include(told, part)
      for (const name of Object.keys(bus)) assert.include(told, `--unset=${name}`)
    }).pipe(Effect.scoped)
  )

  describe.skipIf(Needs.prlimit.missing)(Needs.titled(Needs.prlimit, "rlimit"), () => {
    live(
      "sets every limit that the settings name, and no dumps of memory",
      Effect.gen(function* () {
        const rlimit = { cpu_seconds: 7, memory_mb: 300, fsize_mb: 1, nproc: 500, nofile: 77 }
        const bash: Given = { sandbox_mode: "rlimit", rlimit }
        assert.strictEqual((yield* plan(bash)).applied, "rlimit")
        const { text } = yield* inside(
          bash,
          "ulimit -H -t; ulimit -H -v; ulimit -H -f; ulimit -H -u; ulimit -H -n; ulimit -H -c"
        )
        assert.deepStrictEqual(text.trim().split("\n"), ["7", `${300 * 1024}`, "1024", "500", "77", "0"])
        const { ended } = yield* inside(bash, "head -c 2000000 /dev/zero > big")
        assert.notDeepEqual(ended.exit, { _tag: "code", code: 0 })
        const unlimited: Given = { sandbox_mode: "rlimit", rlimit: { ...rlimit, fsize_mb: 0 } }
        const { text: still } = yield* inside(unlimited, "head -c 2000000 /dev/zero > big; stat -c %s big")
        assert.strictEqual(still.trim(), "2000000")
      })
    )

    live(
      "F038: a program that uses up its processor time is ended by the kernel",
      Effect.gen(function* () {
        const { ended } = yield* inside({ sandbox_mode: "rlimit", rlimit: { cpu_seconds: 1 } }, "while :; do :; done")
        assert.deepStrictEqual([ended.cause, ended.exit._tag], ["exited", "signal"])
      })
    )
  })

  live(
    "a jail is the command of the settings, and nothing of what ran in it is left",
    Effect.gen(function* () {
      const bash: Given = { sandbox_mode: "jail", jail: { command_prefix: ["env", "IN_JAIL=yes"] } }
      assert.strictEqual((yield* plan(bash)).applied, "jail")
      const id = ProcessZoo.newId()
      assert.strictEqual((yield* inside(bash, `echo $IN_JAIL; setsid sleep ${id} &`)).text, "yes\n")
      assert.deepStrictEqual(ProcessZoo.alive(id), [])
    })
  )

  describe.skipIf(Needs.bubblewrap.missing)(Needs.titled(Needs.bubblewrap, "bwrap"), () => {
    const bash: Given = { sandbox_mode: "bwrap" }

    live(
      "writes to its workspace only, and has a /tmp of its own",
      Effect.gen(function* () {
        assert.strictEqual((yield* plan(bash)).applied, "bwrap")
        const id = ProcessZoo.newId()
        const { text } = yield* inside(
          bash,
          `for place in /usr /etc /var /root /home /; do (: > "$place/x${id}") 2>/dev/null && echo "wrote to $place"; done
           echo mine > x${id} && echo "wrote here"; echo t > /tmp/x${id} && ls /tmp`
        )
        const files = yield* FileSystem.FileSystem
        assert.include(text, `\nx${id}\n`)
        assert.notInclude(text, "wrote to")
        assert.isTrue(text.startsWith("wrote here\n"))
        assert.isFalse(yield* files.exists(`/tmp/x${id}`))
        assert.isFalse(yield* files.exists(`/x${id}`))
        assert.strictEqual(yield* files.readFileString((yield* DataDirectory).file(`work/x${id}`)), "mine\n")
      })
    )

    live(
      "sees neither the data directory, nor the home, nor other processes; F038: cannot signal the daemon",
      Effect.gen(function* () {
        const secret = (yield* DataDirectory).file("token")
        const files = yield* FileSystem.FileSystem
        yield* files.writeFileString(secret, "the token")
        const home = yield* files.makeTempDirectoryScoped()
        yield* files.writeFileString(`${home}/.ssh-key`, "key")
        const { text } = yield* inside(
          bash,
          `cat ${secret} ${home}/.ssh-key 2>/dev/null; ls -A ${home}; kill -0 ${process.pid} 2>/dev/null && echo reached; ls /proc | grep -c '^[0-9]'`,
          { home }
        )
        assert.isBelow(Number(text.trim()), 6, text)
      }).pipe(Effect.scoped)
    )

    live(
      "has no network unless the settings give it",
      Effect.gen(function* () {
        const server = createServer((_, response) => response.end("reached"))
        yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
        yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
        const { port } = server.address() as AddressInfo
        const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`
        assert.strictEqual((yield* inside(bash, ask)).text, "")
        assert.include((yield* inside({ ...bash, bwrap: { network: true } }, ask)).text, "reached")
      }).pipe(Effect.scoped)
    )

    live(
      "shows and opens the folders of the settings",
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const [read, write] = [yield* files.makeTempDirectoryScoped(), yield* files.makeTempDirectoryScoped()]
        yield* files.writeFileString(`${read}/shown`, "shown")
        const { text } = yield* inside(
          { ...bash, bwrap: { read_paths: [read], write_paths: [write] } },
          `cat ${read}/shown; (: > ${read}/x) 2>/dev/null && echo wrote; echo mine > ${write}/x`,
          { read: [read], write: [write], cwd: write }
        )
        assert.strictEqual(text, "shown")
        assert.strictEqual(yield* files.readFileString(`${write}/x`), "mine\n")
      }).pipe(Effect.scoped)
    )

    it.live(
      "of no animal of the zoo anything is left, not even of one that hides from the runner",
      () =>
        Effect.gen(function* () {
          const hidden = {
            name: "hidden",
            script: "env -i PATH=$PATH setsid bash -c '(sleep $ID >/dev/null 2>&1 </dev/null &)'; echo done",
            ends: "itself"
          } as const
          for (const animal of [...ProcessZoo.animals.filter(({ ends }) => ends === "itself"), hidden]) {
            const id = ProcessZoo.newId()
            const { ended } = yield* inside(bash, ProcessZoo.scriptOf(animal, id))
            assert.deepStrictEqual(ProcessZoo.alive(id), [], animal.name)
            assert.strictEqual(ended.unkillable, 0)
          }
        }).pipe(Effect.provide(below)),
      { timeout: 60_000 }
    )
  })
})
