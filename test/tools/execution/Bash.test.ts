import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import type * as ToolResult from "../../../src/tool/ToolResult.ts"
import { Bash } from "../../../src/tools/execution/Bash.ts"
import * as Needs from "../../rigs/Needs.ts"
import * as ProcessZoo from "../../rigs/ProcessZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"
import * as Setting from "./Setting.ts"

type BashSettings = { readonly [key: string]: unknown }

const setting = (bash: BashSettings = {}, others: BashSettings = {}) =>
  Setting.layer({ tools: { bash: { enabled: true, ...bash }, ...others } })

const call = (parameters: typeof Bash.parameters.Type) =>
  Effect.flatMap(Fixtures.startTurn(), (turn) => Fixtures.callTool(turn, "bash", parameters))

const data = (result: ToolResult.ToolResult) =>
  result.status === "success"
    ? Effect.orDie(Schema.decodeUnknownEffect(Schema.toCodecJson(Bash.success))(result.data))
    : Effect.die(result.text)

const run = (parameters: typeof Bash.parameters.Type) => Effect.flatMap(call(parameters), data)

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "bash"), () => {
  it.live("gives outputs, exit code and place", () =>
    Effect.gen(function* () {
      const root = (yield* DataDirectory).file("files")
      const result = yield* run({ command: "pwd; echo oops >&2; exit 3" })
      const { duration_ms, ...rest } = result
      assert.isAtLeast(duration_ms, 0)
      assert.deepStrictEqual(rest, {
        ok: false,
        exit_code: 3,
        timed_out: false,
        truncated: false,
        stdout: `${root}\n`,
        stderr: "oops\n",
        cwd: root,
        command: "pwd; echo oops >&2; exit 3",
        sandbox_applied: "basic"
      })
      assert.isTrue((yield* run({ command: "true" })).ok)
      const signalled = yield* run({ command: "kill -9 $$" })
      assert.deepStrictEqual([signalled.ok, signalled.exit_code, signalled.signal], [false, null, "SIGKILL"])
      // A command may begin with what looks like an option of the shell.
      assert.strictEqual((yield* run({ command: "-x 2>/dev/null; echo went on" })).stdout, "went on\n")
    }).pipe(Effect.provide(setting()))
  )

  it.live("a directory: home, below the managed files, absolute, and none", () =>
    Effect.gen(function* () {
      const root = (yield* DataDirectory).file("files")
      yield* run({ command: "mkdir inner" })
      assert.strictEqual((yield* run({ command: "pwd", cwd: "~" })).stdout, `${Setting.parentEnvironment.HOME}\n`)
      assert.strictEqual((yield* run({ command: "pwd", cwd: "inner" })).stdout, `${root}/inner\n`)
      assert.strictEqual((yield* run({ command: "pwd", cwd: "/usr" })).stdout, "/usr\n")
      const missing = yield* call({ command: "pwd", cwd: "/nowhere" })
      assert.deepStrictEqual([missing.status, missing.errorCode], ["error", "process:cwd_missing"])
      const file = yield* call({ command: "pwd", cwd: "/etc/passwd" })
      assert.strictEqual(file.errorCode, "process:cwd_not_directory")
    }).pipe(Effect.provide(setting()))
  )

  const names = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=", 1)[0] ?? "")

  it.live("sees of the daemon's environment what is listed, and never its secrets", () =>
    Effect.gen(function* () {
      const seen = names((yield* run({ command: "env", env: { GIVEN: "1" } })).stdout)
      assert.includeMembers(seen, ["PATH", "HOME", "LANG", "GIVEN"])
      assert.notIncludeMembers(seen, ["EDITOR", "OPENAI_API_KEY"])
    }).pipe(Effect.provide(setting()))
  )

  it.live("sees all of it but secrets when the settings say so; a secret that is listed is seen, and masked", () =>
    Effect.gen(function* () {
      const seen = names((yield* run({ command: "env" })).stdout)
      assert.includeMembers(seen, ["PATH", "EDITOR"])
      assert.notInclude(seen, "OPENAI_API_KEY")
      const told = yield* run({ command: "shopt -q login_shell && echo login" })
      assert.strictEqual(told.stdout, "login\n")
    }).pipe(
      Effect.provide(setting({ pass_parent_env: true })),
      Effect.andThen(
        Effect.gen(function* () {
          const result = yield* run({ command: "echo ${#OPENAI_API_KEY} $OPENAI_API_KEY; echo $OPENAI_API_KEY >&2" })
          assert.deepStrictEqual(
            [result.stdout, result.stderr],
            [`${Setting.secret.length} [redacted]\n`, "[redacted]\n"]
          )
        }).pipe(Effect.provide(setting({ env_allowlist: ["PATH", "OPENAI_API_KEY"] })))
      )
    )
  )

  it.live("F039 F160: the time limit is that of the call, cut to that of the settings; what was said is kept", () =>
    Effect.gen(function* () {
      const id = ProcessZoo.newId()
      const result = yield* run({ command: `echo begun; sleep ${id} & sleep ${id}`, timeout_seconds: 100 })
      assert.deepStrictEqual([result.ok, result.timed_out, result.stdout], [false, true, "begun\n"])
      assert.isBelow(result.duration_ms, 4_000)
      assert.deepStrictEqual(ProcessZoo.alive(id), [])
    }).pipe(Effect.provide(setting({ default_timeout_seconds: 1, max_timeout_seconds: 1 })))
  )

  it.live("F042: a background process holds nobody up, and the model is told", () =>
    Effect.gen(function* () {
      const id = ProcessZoo.newId()
      const result = yield* run({ command: `sleep ${id} & echo hi` })
      assert.deepStrictEqual(
        [result.ok, result.stdout, result.survivors, result.pipe_kept_open],
        [true, "hi\n", 1, true]
      )
      assert.deepStrictEqual(ProcessZoo.alive(id), [])
    }).pipe(Effect.provide(setting()))
  )

  it.live("stopping the turn ends all of it", () =>
    Effect.gen(function* () {
      const id = ProcessZoo.newId()
      const events = yield* Fixtures.recordEvents
      const fiber = yield* Effect.forkChild(call({ command: `echo here; setsid sleep ${id} & sleep ${id}` }))
      const begun = Effect.map(events.all, (all) => all.some((event) => event._tag === "ToolOutput"))
      yield* Effect.repeat(Effect.delay(begun, "20 millis"), { until: (isThere) => isThere })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(ProcessZoo.alive(id), [])
    }).pipe(Effect.scoped, Effect.provide(setting()))
  )

  it.live("tells those who watch what it says while it runs, with secrets masked", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const result = yield* run({ command: `for i in 1 2 3; do echo "$i ${Setting.secret}"; sleep 0.15; done` })
      const told = (yield* events.all).flatMap((event) => (event._tag === "ToolOutput" ? [event] : []))
      assert.isAtLeast(told.length, 2)
      assert.strictEqual(told.map(({ text }) => text).join(""), result.stdout)
      assert.strictEqual(result.stdout, "1 [redacted]\n2 [redacted]\n3 [redacted]\n")
    }).pipe(Effect.scoped, Effect.provide(setting()))
  )

  it.live("F059 a secret that is written in pieces, or that a limit cuts, is nowhere seen in part", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const half = Setting.secret.length / 2
      const [first, second] = [Setting.secret.slice(0, half), Setting.secret.slice(half)]
      // The last one stands where the output is cut, in the middle, and the other way round where its rest is kept.
      const filler = "echo ---------------------------------"
      const result = yield* run({
        command: `printf '${first}'; sleep 0.25; printf '${second}\n'; for i in $(seq 60); do ${filler}; echo ${Setting.secret}; done`
      })
      const told = (yield* events.all).flatMap((event) => (event._tag === "ToolOutput" ? [event.text] : [])).join("")
      for (const text of [told, result.stdout]) {
        assert.include(text, "[redacted]")
        for (let at = 0; at + 8 <= Setting.secret.length; at++) {
          assert.notInclude(text, Setting.secret.slice(at, at + 8))
        }
      }
      assert.isTrue(result.truncated)
      // What may have been the beginning of one is not lost when it was not, and not shown when it is too much of one.
      const [begins, begun] = [Setting.secret.slice(0, 7), Setting.secret.slice(0, 12)]
      assert.strictEqual((yield* run({ command: `printf 'a word ${begins}'` })).stdout, `a word ${begins}`)
      assert.strictEqual((yield* run({ command: `printf 'a word ${begun}'` })).stdout, "a word [redacted]")
    }).pipe(Effect.scoped, Effect.provide(setting({ max_output_bytes: 500 })))
  )

  it.live("F057 a managed file of a long output holds no secret, in whatever form", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const base64 = Buffer.from(Setting.secret).toString("base64")
      const result = yield* run({ command: `for i in $(seq 200); do echo "$i ${Setting.secret} ${base64}"; done` })
      const written = yield* files.readFileString(result.stdout_file_absolute_path ?? "")
      assert.include(written, "200 [redacted] [redacted]")
      assert.notInclude(written, Setting.secret.slice(0, 8))
      assert.notInclude(written, base64.slice(0, 12))
    }).pipe(Effect.provide(setting({ spill_to_managed_file: true, spill_after_chars: 100, spill_preview_chars: 10 })))
  )

  it.live("F106 F135: more than is kept is marked, and the command is not ended for it", () =>
    Effect.gen(function* () {
      const result = yield* run({ command: "seq 1 1000000; echo end" })
      assert.deepStrictEqual([result.ok, result.truncated], [true, true])
      assert.match(result.stdout, /^1\n2\n[^]*bytes left out[^]*\nend\n$/)
      assert.isBelow(result.stdout.length, 2_100)
    }).pipe(Effect.provide(setting({ max_output_bytes: 2_000 })))
  )

  it.live("F135: a long output goes to a managed file whole, and a short one leaves none", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const result = yield* run({ command: "seq 1 100000" })
      assert.deepStrictEqual(
        [result.stdout, result.stdout_storage, result.stdout_bytes_written],
        ["", "managed_file", 588_895]
      )
      assert.strictEqual(result.stdout_preview, "1\n2\n3\n4\n5\n")
      const written = yield* files.readFileString(result.stdout_file_absolute_path ?? "")
      assert.strictEqual(written.length, 588_895)
      assert.isTrue(written.endsWith("\n100000\n"))
      assert.strictEqual((yield* run({ command: "echo short" })).stdout, "short\n")
      const folder = (yield* DataDirectory).file("files/bash_output/tmp")
      assert.deepStrictEqual(yield* files.readDirectory(folder), [result.stdout_file_path?.split("/").at(-1) ?? ""])
      // The file can be read back by the path that the model was told.
      assert.strictEqual((yield* run({ command: `tail -n 1 ${result.stdout_file_path}` })).stdout, "100000\n")
    }).pipe(
      Effect.provide(
        setting({
          max_output_bytes: 3_000,
          spill_to_managed_file: true,
          spill_after_chars: 100,
          spill_preview_chars: 10
        })
      )
    )
  )

  it.live("F044: what is no text becomes text once, here", () =>
    Effect.gen(function* () {
      const result = yield* run({
        command: String.raw`printf '\x00\xff\x1b[31mred\x1b[0m\x07\n'; printf '\xff\xfeh\x00i\x00' >&2`
      })
      assert.deepStrictEqual([result.stdout, result.stderr], ["\uFFFD\uFFFDred\uFFFD\n", "hi"])
    }).pipe(Effect.provide(setting()))
  )

  it.effect(
    "F032 F033: is not offered unless it is switched on, and asks nobody's leave where nobody can be asked",
    () =>
      Effect.gen(function* () {
        const off = yield* Effect.provide(Fixtures.startTurn(), Setting.layer({}))
        assert.notIncludeMembers(
          off.offers.map(({ name }) => name),
          ["bash", "python_execute", "python_environment_info"]
        )
      }).pipe(
        Effect.andThen(
          Effect.gen(function* () {
            const id = ProcessZoo.newId()
            for (const channel of ["rpc", "schedule", "task"]) {
              const turn = yield* Fixtures.startTurn(Fixtures.everything, channel)
              const denied = yield* Fixtures.callTool(turn, "bash", { command: `setsid sleep ${id} &` })
              assert.deepStrictEqual([denied.status, denied.errorCode], ["error", "tool_approval:denied"])
            }
            assert.deepStrictEqual(ProcessZoo.alive(id), [])
          }).pipe(Effect.provide(setting({}, { approval: { require_approval: ["bash"] } })))
        )
      )
  )

  it.live("refuses a name of a variable that is none", () =>
    Effect.gen(function* () {
      const refused = yield* call({ command: "env", env: { "A=B": "c" } })
      assert.deepStrictEqual([refused.status, refused.errorCode], ["error", "process:bad_variable"])
    }).pipe(Effect.provide(setting()))
  )
})
