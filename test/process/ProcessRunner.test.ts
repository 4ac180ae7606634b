import { assert, describe, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { readdirSync } from "node:fs"
import * as OutputBuffer from "../../src/process/OutputBuffer.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import * as ProcessRunner from "../../src/process/ProcessRunner.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Needs from "../rigs/Needs.ts"
import * as ProcessZoo from "../rigs/ProcessZoo.ts"
import * as Setting from "./Setting.ts"

const run = (command: ProcessRunner.Command) => ProcessRunner.ProcessRunner.use((runner) => runner.run(command))

const text = (ended: ProcessRunner.Ended) => OutputText.decode(ended.stdout)

/** How long an effect took, beside its result. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([took, value]) => ({ millis: Duration.toMillis(took), value }))

/** More than this beyond the limits would be a wait for something that never comes; a busy machine stays far below. */
const slack = 3_000

const openFiles = () => readdirSync("/proc/self/fd").length

/** What Node holds of processes and pipes. */
const handles = () => process.getActiveResourcesInfo().filter((name) => /^(Process|Pipe)/.test(name))

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "ProcessRunner"), () => {
  layer(Setting.layer, { excludeTestServices: true })((it) => {
    it.effect("gives what the command wrote, and how it ended", () =>
      Effect.gen(function* () {
        const ended = yield* run(Setting.bash("echo out; echo err >&2; exit 3"))
        assert.strictEqual(text(ended), "out\n")
        assert.strictEqual(OutputText.decode(ended.stderr), "err\n")
        assert.deepStrictEqual(
          [ended.exit, ended.cause, ended.survivors, ended.unkillable, ended.pipeKeptOpen],
          [{ _tag: "code", code: 3 }, "exited", 0, 0, false]
        )
      })
    )

    it.effect("F108 hands each piece to who takes it, keeps nothing, and ends a command that has said enough", () =>
      Effect.gen(function* () {
        let taken = 0
        const endless = yield* timed(
          run(
            Setting.bash("yes & echo oops >&2; wait", {
              take: (stream, piece) => {
                if (stream === "stdout") taken += piece.length
                return taken < 100_000
              }
            })
          )
        )
        assert.deepStrictEqual(
          [endless.value.cause, text(endless.value), OutputText.decode(endless.value.stderr)],
          ["enough", "", ""]
        )
        assert.isAtLeast(taken, 100_000)
        assert.isBelow(taken, 100_000 + 1024 * 1024)
        assert.isBelow(endless.millis, slack)
        assert.deepStrictEqual([endless.value.unkillable, endless.value.pipeKeptOpen], [0, false])

        const all = { stdout: 0, stderr: 0 }
        const whole = yield* run(
          Setting.bash("head -c 300000 /dev/zero; head -c 7 /dev/zero >&2", {
            take: (stream, piece) => {
              all[stream] += piece.length
              return true
            }
          })
        )
        assert.deepStrictEqual([whole.cause, all], ["exited", { stdout: 300_000, stderr: 7 }])
      })
    )

    it.effect("gives the command its environment and nothing of this process's", () =>
      Effect.gen(function* () {
        const ended = yield* run(
          Setting.bash("env -0 | sort -z | tr '\\0' '\\n' | cut -d= -f1", { env: { ...Setting.env, OWN: "1" } })
        )
        const names = text(ended)
          .trim()
          .split("\n")
          .filter((name) => !["_", "SHLVL", "PWD"].includes(name))
        assert.deepStrictEqual(names, ["OWN", "PATH", "TROUPE_PROCESS"])
      })
    )

    it.effect("gives the command its input, and an empty one without", () =>
      Effect.gen(function* () {
        const big = new TextEncoder().encode("x".repeat(1_000_000))
        assert.strictEqual(text(yield* run(Setting.bash("wc -c", { stdin: big }))).trim(), "1000000")
        assert.strictEqual(text(yield* run(Setting.bash("wc -c < /dev/stdin", { stdin: big }))).trim(), "1000000")
        assert.strictEqual(text(yield* run(Setting.bash("wc -c"))).trim(), "0")
        assert.strictEqual(text(yield* run(Setting.bash("exec <&-; echo no", { stdin: big }))), "no\n")
      })
    )

    it.effect("lets a program open its outputs again by name", () =>
      Effect.gen(function* () {
        const ended = yield* run(Setting.bash("echo one > /dev/stderr; echo two | tee /dev/stderr"))
        assert.strictEqual(OutputText.decode(ended.stderr), "one\ntwo\n")
      })
    )

    for (const [reason, command] of [
      ["not_found", { program: "/nowhere/program" }],
      ["not_found", { program: "no-such-program-anywhere" }],
      ["permission_denied", { program: "/etc/passwd" }],
      ["cwd_missing", { cwd: "/nowhere" }],
      ["cwd_not_directory", { cwd: "/etc/passwd" }],
      ["too_large", { args: ["-c", ":", "x".repeat(4_000_000)] }],
      ["nul_character", { args: ["-c", "echo \0"] }]
    ] as const) {
      it.effect(`says why nothing was started: ${reason} ${JSON.stringify(command).slice(0, 40)}`, () =>
        Effect.gen(function* () {
          const before = openFiles()
          const failure = yield* Effect.flip(run(Setting.bash(":", command)))
          assert.deepStrictEqual([failure.reason, failure.code], [reason, `process:${reason}`])
          assert.isAtMost(openFiles(), before)
        })
      )
    }

    it.effect("names the program where an argument, or its own name, holds a NUL", () =>
      Effect.gen(function* () {
        const byArgument = yield* Effect.flip(run(Setting.bash("echo \0")))
        const byName = yield* Effect.flip(run(Setting.bash(":", { program: "/bin/ba\0sh" })))
        assert.match(byArgument.message, /bash" could not be started: .*NUL/)
        assert.match(byName.message, /^"\/bin\/bash" could not be started: .*NUL/)
      })
    )

    it.effect(
      "F039 F126 F160 F161 F159 F041 F042: of no animal of the zoo anything is left, and control comes back in time",
      () =>
        Effect.gen(function* () {
          const temporary = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
          const limits = { timeout: "1 second", terminateGrace: "200 millis", drainGrace: "100 millis" } as const
          for (const animal of ProcessZoo.animals) {
            const id = ProcessZoo.newId()
            const command = Setting.bash(ProcessZoo.scriptOf(animal, id), {
              env: { ...Setting.env, TMP: temporary },
              limits
            })
            const { millis, value: ended } = yield* timed(run(command))
            assert.deepStrictEqual(ProcessZoo.alive(id), [], animal.name)
            assert.strictEqual(ended.cause, animal.ends === "itself" ? "exited" : "timeout", animal.name)
            assert.strictEqual(ended.unkillable, 0, animal.name)
            assert.isBelow(millis, (animal.ends === "itself" ? 0 : 1_000) + 500 + slack, animal.name)
          }
        }),
      { timeout: 120_000 }
    )

    it.effect("F042: an output that is kept open holds nobody up, and is told", () =>
      Effect.gen(function* () {
        const { millis, value: ended } = yield* timed(run(Setting.bash("sleep 60 & echo hi")))
        assert.deepStrictEqual(
          [text(ended), ended.pipeKeptOpen, ended.survivors, ended.cause],
          ["hi\n", true, 1, "exited"]
        )
        assert.isBelow(millis, slack)
      })
    )

    it.effect("F041: a process that left its session is ended and counted", () =>
      Effect.gen(function* () {
        const ended = yield* run(Setting.bash("setsid sleep 60 >/dev/null 2>&1 </dev/null & sleep 0.1; echo done"))
        assert.deepStrictEqual([text(ended), ended.pipeKeptOpen, ended.survivors], ["done\n", false, 1])
      })
    )

    it.effect(
      "F039: cancelling ends all that was started, and gives back every handle",
      () =>
        Effect.gen(function* () {
          yield* run(Setting.bash(":"))
          const before = openFiles()
          for (const animal of ProcessZoo.animals.filter(({ ends }) => ends === "never")) {
            const id = ProcessZoo.newId()
            const told = yield* Deferred.make<void>()
            const command = Setting.bash(`echo begun; ${ProcessZoo.scriptOf(animal, id)}`, {
              env: { ...Setting.env, TMP: "/nowhere" },
              limits: { terminateGrace: "100 millis" },
              watch: () => Deferred.succeed(told, undefined)
            })
            const fiber = yield* Effect.forkChild(run(command))
            yield* Deferred.await(told)
            const { millis } = yield* timed(Fiber.interrupt(fiber))
            assert.deepStrictEqual(ProcessZoo.alive(id), [], animal.name)
            assert.isBelow(millis, slack, animal.name)
          }
          assert.isAtMost(openFiles(), before)
        }),
      { timeout: 120_000 }
    )

    it.effect("F106 F132: output without end is bounded before it is decoded, and others go on meanwhile", () =>
      Effect.gen(function* () {
        const before = process.memoryUsage().rss
        const pieces: Array<ProcessRunner.Piece> = []
        const command = Setting.bash("tr '\\0' 'a' < /dev/zero", {
          limits: { timeout: "2 seconds", maxOutputBytes: 10_000, maxLineBytes: 4_000 },
          watch: (piece) => Effect.sync(() => pieces.push(piece))
        })
        let ticks = 0
        const others = yield* Effect.forkChild(
          Effect.forever(
            Effect.tap(
              Effect.sleep("20 millis"),
              Effect.sync(() => ticks++)
            )
          )
        )
        const { millis, value: ended } = yield* timed(run(command))
        yield* Fiber.interrupt(others)
        assert.strictEqual(ended.cause, "timeout")
        assert.isBelow(millis, 2_000 + slack)
        assert.isAbove(ticks, 10)
        assert.isBelow(process.memoryUsage().rss - before, 200_000_000)
        assert.strictEqual(OutputBuffer.lengthOf(ended.stdout), 4_000)
        assert.isAbove(ended.stdout.omitted, 1_000_000)
        assert.isAtMost(Math.max(...pieces.map(({ text }) => text.length)), 4_096)
        assert.isAbove(
          pieces.reduce((sum, { dropped }) => sum + dropped, 0),
          1_000_000
        )
      })
    )

    it.effect("keeps the beginning and the end, and a share for errors", () =>
      Effect.gen(function* () {
        const ended = yield* run(
          Setting.bash("echo first; seq 1 100000; echo last; seq 1 100000 >&2; echo why >&2; exit 1", {
            limits: { maxOutputBytes: 2_000 }
          })
        )
        const shown = text(ended)
        assert.match(shown, /^first\n1\n[^]*\n\[… \d+ bytes left out …\]\n[^]*\n100000\nlast\n$/)
        assert.match(OutputText.decode(ended.stderr), /\n100000\nwhy\n$/)
        assert.isAtMost(OutputBuffer.lengthOf(ended.stdout) + OutputBuffer.lengthOf(ended.stderr), 2_000)
        assert.strictEqual(OutputBuffer.lengthOf(ended.stderr), 500)
      })
    )

    it.effect("F134 F135: writes all of a long output to a file, up to its quota, while the command goes on", () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = (yield* DataDirectory).file("whole.txt")
        const ended = yield* run(
          Setting.bash("seq 1 200000; echo over >&2", {
            limits: { maxOutputBytes: 100 },
            stdoutFile: { path, maxBytes: 1_000_000 }
          })
        )
        assert.deepStrictEqual(
          [ended.exit, ended.stdoutFile],
          [
            { _tag: "code", code: 0 },
            { bytes: 1_000_000, failed: false }
          ]
        )
        const written = yield* files.readFileString(path)
        assert.strictEqual(written.length, 1_000_000)
        assert.isTrue(written.startsWith("1\n2\n3\n"))
        // The file is there already: nothing is overwritten, and the command is not the worse for it.
        const again = yield* run(Setting.bash("echo hi", { stdoutFile: { path, maxBytes: 10 } }))
        assert.deepStrictEqual([text(again), again.stdoutFile], ["hi\n", { bytes: 0, failed: true }])
      })
    )

    it.effect("ends a command that is silent for too long, and not one that talks", () =>
      Effect.gen(function* () {
        const silent = yield* run(Setting.bash("echo hi; sleep 30", { limits: { idle: "300 millis" } }))
        assert.deepStrictEqual([silent.cause, text(silent)], ["idle", "hi\n"])
        const talking = yield* run(
          Setting.bash("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done", { limits: { idle: "5 seconds" } })
        )
        assert.strictEqual(talking.cause, "exited")
      })
    )

    it.effect("a command that whoever ran it has forgotten ends with the runner", () =>
      Effect.gen(function* () {
        const id = ProcessZoo.newId()
        const scope = yield* Scope.make()
        const services = yield* Layer.buildWithScope(Layer.fresh(Setting.layer), scope)
        const begun = yield* Deferred.make<void>()
        const command = Setting.bash(`trap '' TERM; echo here; setsid sleep ${id} & sleep ${id}`, {
          watch: () => Deferred.succeed(begun, undefined)
        })
        yield* Effect.forkDetach(Effect.provide(run(command), services))
        yield* Deferred.await(begun)
        assert.isNotEmpty(ProcessZoo.alive(id))
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(ProcessZoo.alive(id), [])
      })
    )

    it.effect("F132: lines without end are bounded too", () =>
      Effect.gen(function* () {
        const limits = { timeout: "1 second", maxOutputBytes: 10_000 } as const
        const { stdout } = yield* run(Setting.bash("yes", { limits }))
        assert.strictEqual(OutputBuffer.lengthOf(stdout), 10_000)
        assert.isAbove(stdout.omitted, 1_000_000)
      })
    )

    it.effect(
      "many at once leave no handle, no process and no pipe",
      () =>
        Effect.gen(function* () {
          yield* run(Setting.bash(":"))
          const before = openFiles()
          const held = handles().filter((name) => name.startsWith("Pipe"))
          const id = ProcessZoo.newId()
          const results = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, index) => index),
            (index) => run(Setting.bash(`echo ${index}; setsid sleep ${id} & exit ${index % 3}`)),
            { concurrency: 20 }
          )
          assert.deepStrictEqual(
            results.map(text),
            results.map((_, index) => `${index}\n`)
          )
          assert.deepStrictEqual(
            results.map(({ exit }) => exit),
            results.map((_, index) => ({ _tag: "code", code: index % 3 }) as const)
          )
          assert.deepStrictEqual(ProcessZoo.alive(id), [])
          assert.isAtMost(openFiles(), before)
          // Node lets go of a process a moment after it has told of its end.
          const look = Effect.delay(Effect.sync(handles), "10 millis")
          yield* Effect.repeat(look, { until: (now) => now.length <= held.length })
        }),
      { timeout: 60_000 }
    )
  })
})
