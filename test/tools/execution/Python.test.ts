import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import type * as ToolResult from "../../../src/tool/ToolResult.ts"
import { PythonEnvironmentInfo } from "../../../src/tools/execution/PythonEnvironmentInfo.ts"
import { PythonExecute } from "../../../src/tools/execution/PythonExecute.ts"
import * as Needs from "../../rigs/Needs.ts"
import * as ProcessZoo from "../../rigs/ProcessZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"
import * as Setting from "./Setting.ts"

type PythonSettings = { readonly [key: string]: unknown }

const setting = (python: PythonSettings = {}, storage = true) =>
  Setting.layer({
    tools: {
      file_storage: { enabled: storage },
      python_exec: { enabled: true, max_timeout_seconds: 60, default_timeout_seconds: 60, ...python }
    }
  })

const call = (name: string, parameters: unknown) =>
  Effect.flatMap(Fixtures.startTurn(), (turn) => Fixtures.callTool(turn, name, parameters))

const decode =
  <S extends Schema.Constraint & { readonly DecodingServices: never; readonly EncodingServices: never }>(schema: S) =>
  (result: ToolResult.ToolResult) =>
    result.status === "success"
      ? Effect.orDie(Schema.decodeUnknownEffect(Schema.toCodecJson(schema))(result.data))
      : Effect.die(result.text)

const run = (parameters: typeof PythonExecute.parameters.Type) =>
  Effect.flatMap(call("python_execute", parameters), decode(PythonExecute.success))

const codeOf = (parameters: typeof PythonExecute.parameters.Type) =>
  Effect.map(call("python_execute", parameters), ({ errorCode }) => errorCode)

/** Writes files of these names, with so many bytes each. */
const writing = (files: Readonly<Record<string, number>>) =>
  `import os\nfor name, size in ${JSON.stringify(files)}.items():\n    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)\n    open(name, "wb").write(b"x" * size)\n`

describe.skipIf(Needs.python.missing)(Needs.titled(Needs.python, "python_execute"), () => {
  it.live("gives what the program wrote, its exit code, and the Python it ran in", () =>
    Effect.gen(function* () {
      const result = yield* run({
        code: "import sys\nprint('größe', sys.stdin.read())\nsys.stderr.write('e')\nsys.exit(4)",
        stdin: "in"
      })
      const { duration_ms, python_executable, ...rest } = result
      assert.isAbove(duration_ms, 0)
      assert.match(python_executable, /^\/.*python/)
      assert.deepStrictEqual(rest, {
        ok: false,
        exit_code: 4,
        stdout: "größe in\n",
        stderr: "e",
        timed_out: false,
        truncated: false,
        sandbox_mode: "basic",
        artifacts_saved: [],
        artifacts_skipped: []
      })
    }).pipe(Effect.provide(setting()))
  )

  it.live("runs isolated, in an empty directory that is gone afterwards, without the daemon's environment", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { stdout } = yield* run({
        code: "import os, sys, json\nprint(json.dumps([os.getcwd(), os.listdir('.'), sys.flags.isolated, sys.flags.dont_write_bytecode, sorted(os.environ)]))"
      })
      const [cwd, listed, isolated, noBytecode, names] = yield* Schema.decodeUnknownEffect(
        Schema.fromJsonString(
          Schema.Tuple([
            Schema.String,
            Schema.Array(Schema.String),
            Schema.Int,
            Schema.Int,
            Schema.Array(Schema.String)
          ])
        )
      )(stdout)
      assert.deepStrictEqual([listed, isolated, noBytecode], [[], 1, 1])
      assert.isFalse(yield* files.exists(cwd))
      assert.notIncludeMembers([...names], ["OPENAI_API_KEY", "EDITOR", "HOME"])
      assert.includeMembers([...names], ["PATH", "LANG", "PYTHONUNBUFFERED"])
    }).pipe(Effect.orDie, Effect.provide(setting()))
  )

  it.live("F039 F160: is ended with all that it started at its time limit", () =>
    Effect.gen(function* () {
      const id = ProcessZoo.newId()
      const result = yield* run({
        code: `import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint("begun", flush=True)\nsubprocess.Popen(["sleep", "${id}"], start_new_session=True)\ntime.sleep(1000)`
      })
      assert.deepStrictEqual([result.ok, result.timed_out, result.stdout], [false, true, "begun\n"])
      assert.deepStrictEqual(ProcessZoo.alive(id), [])
    }).pipe(Effect.provide(setting({ default_timeout_seconds: 2 })))
  )

  it.live("refuses code that is blank or too long, and says so where there is no Python", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* codeOf({ code: " \n" }), "invalid_tool_arguments")
      assert.strictEqual(yield* codeOf({ code: "#".repeat(101) }), "python_exec:code_too_long")
    }).pipe(
      Effect.provide(setting({ max_code_bytes: 100 })),
      Effect.andThen(
        Effect.gen(function* () {
          assert.strictEqual(yield* codeOf({ code: "1" }), "python_exec:no_interpreter")
        }).pipe(Effect.provide(setting({ python_path: "/nowhere/python3" })))
      ),
      Effect.andThen(
        Effect.gen(function* () {
          assert.strictEqual(yield* codeOf({ code: "1" }), "python_exec:no_answer")
        }).pipe(Effect.provide(setting({ python_path: "/bin/true" })))
      )
    )
  )

  it.live("keeps files in the order of the patterns, each once, and says why not the others", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = (yield* DataDirectory).file("files")
      const code = writing({
        "b.csv": 10,
        "deep/a.txt": 20,
        "c.png": 30,
        "huge.txt": 2000,
        "program.exe": 1,
        "last.json": 5
      })
      const result = yield* run({
        code,
        save_artifacts: true,
        artifact_globs: ["*.png", "*.txt", "*"],
        artifact_subdir: "out"
      })
      assert.deepStrictEqual(result.artifacts_saved, [
        { path: "out/c.png", name: "c.png", size_bytes: 30, mime: "image/png" },
        { path: "out/a.txt", name: "a.txt", size_bytes: 20, mime: "text/plain" },
        { path: "out/b.csv", name: "b.csv", size_bytes: 10, mime: "text/csv" }
      ])
      assert.deepStrictEqual(
        result.artifacts_skipped.toSorted((a, b) => a.name.localeCompare(b.name)),
        [
          { name: "huge.txt", reason: "file_too_large" },
          { name: "last.json", reason: "max_artifacts_reached" },
          { name: "program.exe", reason: "extension_not_allowed" }
        ]
      )
      const again = yield* run({ code: writing({ "c.png": 31 }), save_artifacts: true, artifact_subdir: "out" })
      assert.deepStrictEqual(
        again.artifacts_saved.map(({ path }) => path),
        ["out/c-1.png"]
      )
      const third = yield* run({ code: writing({ "c.png": 32 }), save_artifacts: true, artifact_subdir: "out" })
      assert.deepStrictEqual(
        third.artifacts_saved.map(({ path }) => path),
        ["out/c-2.png"]
      )
      assert.deepStrictEqual((yield* files.readDirectory(`${root}/out`)).toSorted(), [
        "a.txt",
        "b.csv",
        "c-1.png",
        "c-2.png",
        "c.png"
      ])
      const total = yield* run({ code: writing({ "a.txt": 900, "b.txt": 900 }), save_artifacts: true })
      assert.deepStrictEqual(
        [total.artifacts_saved.length, total.artifacts_skipped[0]?.reason],
        [1, "total_size_limit"]
      )
    }).pipe(
      Effect.orDie,
      Effect.provide(
        setting({ artifacts_max_files: 3, artifacts_max_file_bytes: 1000, artifacts_max_total_bytes: 1000 })
      )
    )
  )

  it.live("keeps nothing that a link leads to, and writes nowhere that a link leads to", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = (yield* DataDirectory).file("files")
      const result = yield* run({
        code: "import os\nos.symlink('/etc/passwd', 'a.txt')\nos.symlink('/etc', 'b')\nos.mkfifo('c.txt')\nopen('d.txt','w').write('d')",
        save_artifacts: true
      })
      assert.deepStrictEqual(
        result.artifacts_saved.map(({ name }) => name),
        ["d.txt"]
      )
      const outside = yield* files.makeTempDirectoryScoped()
      yield* files.symlink(outside, `${root}/leads-out`)
      const refused = yield* run({ code: writing({ "a.txt": 1 }), save_artifacts: true, artifact_subdir: "leads-out" })
      assert.deepStrictEqual(
        [refused.artifacts_saved, refused.artifacts_skipped],
        [[], [{ name: "a.txt", reason: "not_copied" }]]
      )
      assert.deepStrictEqual(yield* files.readDirectory(outside), [])
    }).pipe(Effect.scoped, Effect.orDie, Effect.provide(setting()))
  )

  it.live("refuses options that cannot be", () =>
    Effect.gen(function* () {
      for (const artifact_subdir of ["../out", "/etc", "a/../../b", "a//b"]) {
        assert.strictEqual(
          yield* codeOf({ code: "1", save_artifacts: true, artifact_subdir }),
          "python_exec:invalid_artifact_options",
          artifact_subdir
        )
      }
      assert.strictEqual(yield* codeOf({ code: "1", artifact_globs: ["*"] }), "python_exec:invalid_artifact_options")
    }).pipe(
      Effect.provide(setting()),
      Effect.andThen(
        Effect.gen(function* () {
          assert.strictEqual(yield* codeOf({ code: "1", save_artifacts: true }), "python_exec:artifacts_disabled")
        }).pipe(Effect.provide(setting({ artifacts_enabled: false })))
      ),
      Effect.andThen(
        Effect.gen(function* () {
          const code = yield* codeOf({ code: "1", save_artifacts: true })
          assert.strictEqual(code, "python_exec:file_storage_unavailable")
        }).pipe(Effect.provide(setting({}, false)))
      ),
      Effect.andThen(
        Effect.gen(function* () {
          assert.strictEqual(
            yield* codeOf({ code: "1", save_artifacts: true }),
            "python_exec:artifacts_not_supported_in_jail"
          )
        }).pipe(Effect.provide(setting({ sandbox_mode: "jail", jail: { command_prefix: ["env"] } })))
      ),
      Effect.andThen(
        Effect.gen(function* () {
          assert.strictEqual(
            yield* codeOf({ code: "1", save_artifacts: true }),
            "python_exec:artifact_export_unreachable"
          )
        }).pipe(
          Effect.provide(
            setting({
              sandbox_mode: "jail",
              jail: { command_prefix: ["env"] },
              artifacts_allow_in_jail: true,
              artifacts_jail_shared_dir: "/nowhere/shared"
            })
          )
        )
      )
    )
  )

  it.live("F032: a sandbox that cannot be had keeps both tools from running", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* codeOf({ code: "print(1)" }), "sandbox:unavailable")
      assert.strictEqual((yield* call("python_environment_info", {})).errorCode, "sandbox:unavailable")
    }).pipe(Effect.provide(setting({ sandbox_mode: "jail", jail: { command_prefix: ["no-such-jail"] } })))
  )

  it.live("python_environment_info: version, packages, and a part of them", () =>
    Effect.gen(function* () {
      const info = (parameters: typeof PythonEnvironmentInfo.parameters.Type) =>
        Effect.flatMap(call("python_environment_info", parameters), decode(PythonEnvironmentInfo.success))
      const all = yield* info({ limit: 500 })
      assert.match(all.python_version, /^3\.\d+\.\d+/)
      assert.strictEqual(all.implementation, "CPython")
      assert.deepStrictEqual([all.package_count, all.truncated_packages], [all.packages.length, false])
      for (const name of all.packages) assert.match(name, /^[^=]+==[^=]+$/)
      const none = yield* info({ include_packages: false })
      assert.deepStrictEqual([none.packages, none.package_count], [[], 0])
      const [first = "pip==1"] = all.packages
      const prefix = first.slice(0, 3).toUpperCase()
      const some = yield* info({ name_prefix: prefix, limit: 1 })
      const matching = all.packages.filter((name) => name.toUpperCase().startsWith(prefix))
      assert.deepStrictEqual(
        [some.packages, some.package_count, some.truncated_packages],
        [matching.slice(0, 1), matching.length, matching.length > 1]
      )
    }).pipe(Effect.provide(setting()))
  )

  describe.skipIf(Needs.bubblewrap.missing)(Needs.titled(Needs.bubblewrap, "in bwrap"), () => {
    it.live("finds its library, keeps its files, and cannot read the daemon's", () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const token = (yield* DataDirectory).file("token")
        yield* files.writeFileString(token, "the token")
        const result = yield* run({
          code: `import decimal, json, os\nprint(decimal.Decimal(1), os.path.exists(${JSON.stringify(token)}))\nopen("a.json", "w").write("[]")`,
          save_artifacts: true
        })
        assert.deepStrictEqual([result.stdout, result.stderr, result.sandbox_mode], ["1 False\n", "", "bwrap"])
        assert.deepStrictEqual(
          result.artifacts_saved.map(({ path }) => path),
          ["generated/a.json"]
        )
      }).pipe(Effect.orDie, Effect.provide(setting({ sandbox_mode: "bwrap" })))
    )
  })

  describe.skipIf(Needs.prlimit.missing)(Needs.titled(Needs.prlimit, "with rlimit"), () => {
    it.live("ends where its memory ends", () =>
      Effect.gen(function* () {
        const result = yield* run({ code: "x = bytearray(600 * 1024 * 1024)" })
        assert.deepStrictEqual([result.ok, result.sandbox_mode], [false, "rlimit"])
        assert.include(result.stderr, "MemoryError")
      }).pipe(Effect.provide(setting({ sandbox_mode: "rlimit", rlimit: { cpu_seconds: 20 } })))
    )
  })
})
