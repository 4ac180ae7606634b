import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { codeOf } from "../../src/cli/CommandFailed.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Program from "./Program.ts"

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const linesOf = (text: string) =>
  Effect.forEach(text.trimEnd().split("\n"), (line) => Schema.decodeUnknownEffect(Line)(line))

type Body<E> = Effect.Effect<void, E, FileSystem.FileSystem | Scope.Scope>

const ready = <E>(body: Body<E>) => body.pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const test = <E>(name: string, body: Body<E>) => it.live(name, () => ready(body), 60_000)

const onLinux = <E>(name: string, body: Body<E>) =>
  it.live.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, name), () => ready(body), 60_000)

describe("without a daemon", () => {
  test(
    "help, version, and what was mistyped",
    Effect.gen(function* () {
      const at = yield* Program.place
      const help = yield* Program.run(at, ["--help"])
      assert.strictEqual(help.code, 0)
      for (const word of ["chat", "status", "threads", "history", "tools", "config", "--config", "--data-dir"]) {
        assert.include(help.stdout, word)
      }
      assert.strictEqual((yield* Program.run(at, ["chat", "--help"])).code, 0)
      const version = yield* Program.run(at, ["--version"])
      assert.strictEqual(version.code, 0)
      assert.match(version.stdout, /\d+\.\d+\.\d+/)
      for (const args of [
        ["nonsense"],
        ["chat", "--nonsense"],
        ["history"],
        ["threads", "--limit", "0"],
        ["threads", "--limit", "x"],
        ["status", "--data-dir", ""],
        ["--config="],
        ["config"]
      ]) {
        const wrong = yield* Program.run(at, args)
        assert.strictEqual(wrong.code, 2, args.join(" "))
        assert.strictEqual(wrong.stdout, "", args.join(" "))
        assert.notStrictEqual(wrong.stderr, "", args.join(" "))
        assert.notInclude(wrong.stderr, "    at ", args.join(" "))
      }
      // Nothing of this needs a data directory.
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(at.data))
    })
  )

  test(
    "the commands that need one say so",
    Effect.gen(function* () {
      const at = yield* Program.place
      for (const args of [["status"], ["threads"], ["history", "main"], ["tools"]]) {
        const result = yield* Program.run(at, args)
        assert.strictEqual(result.code, 4, args.join(" "))
        assert.strictEqual(result.stdout, "")
        assert.include(result.stderr, "No daemon is running")
        assert.include(result.stderr, at.data)
      }
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(at.data))
    })
  )

  onLinux(
    "a place that takes no directory is named",
    Effect.gen(function* () {
      const at = yield* Program.place
      for (const args of [[], ["chat", "--once", "hi"]]) {
        const nowhere = yield* Program.run(at, [...args, "--data-dir", "/proc/1/x"])
        assert.strictEqual(nowhere.code, 5, args.join(" "))
        assert.include(nowhere.stderr, "The data directory /proc/1/x cannot be used: it cannot be created")
      }
    })
  )

  test(
    "chat sends files along, and says which cannot be sent",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      const [notes, empty] = [join(at.data, "../notes.txt"), join(at.data, "../empty.png")]
      yield* files.writeFileString(notes, "Buy milk.")
      yield* files.writeFileString(empty, "")
      const sent = yield* Program.run(at, ["chat", "--once", "what is 1+1?", "--attach", notes, "--json"])
      assert.strictEqual(sent.code, 0, sent.stderr)
      assert.include(sent.stdout, '"name":"notes.txt","mediaType":"text/plain"')
      assert.notInclude(sent.stdout, "Buy milk")
      for (const [path, words] of [
        [join(at.data, "none.png"), "none.png cannot be read."],
        [at.data, "is no file."],
        [empty, "attachments[0]: Expected a file with something in it"]
      ] as const) {
        const refused = yield* Program.run(at, ["chat", "--once", "look", "--attach", path])
        assert.strictEqual(refused.code, 1, path)
        assert.include(refused.stderr, words)
      }
      assert.strictEqual((yield* Program.run(at, ["chat", "--attach", notes])).code, 2)
    })
  )

  test(
    "chat answers with one of its own, which leaves nothing behind",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      const answer = yield* Program.run(at, ["chat", "--once", "what is 12*(3+4)?"])
      assert.strictEqual(answer.code, 0, answer.stderr)
      assert.include(answer.stdout, "84")
      assert.strictEqual(answer.stderr, "")
      assert.notInclude(answer.stdout, "\u001b")
      assert.isFalse(yield* files.exists(join(at.data, "endpoint.json")))
      const piped = yield* Program.run(at, ["chat", "--once", "-", "--json"], { input: "what is 1+1?\n" })
      assert.strictEqual(piped.code, 0, piped.stderr)
      const lines = yield* linesOf(piped.stdout)
      assert.isTrue(lines.every(({ type }) => type === "entry" || type === "event" || type === "result"))
      const last = lines.at(-1)
      assert.strictEqual(last?.["type"], "result")
      assert.strictEqual(last?.["state"], "answered")
      assert.include(String(last?.["text"]), "2")
      assert.include(piped.stdout, `"name":"calculate_expression"`)
      assert.deepStrictEqual(
        lines.filter(({ type }) => type === "entry").map(({ entry }) => (isTagged(entry) ? entry._tag : "")),
        ["UserMessage", "TurnStarted", "AssistantMessage", "ToolResult", "AssistantMessage", "TurnEnded"]
      )
    })
  )

  test(
    "usage errors of chat",
    Effect.gen(function* () {
      const at = yield* Program.place
      const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, string | Uint8Array, string]> = [
        [["chat", "--once", ""], "", "blank"],
        [["chat", "--once", " \n\t"], "", "blank"],
        [["chat", "--once", "-"], "  \n", "blank"],
        [["chat", "--once", "-"], "x".repeat(1_000_001), "longer"],
        [
          ["chat", "--once", "-"],
          Uint8Array.from([0x61, 0x0a, 0xe4]),
          "Standard input is not UTF-8 (line 2, column 1)"
        ],
        [["chat", "--once", "x", "--thread", "two words"], "", "no name of a thread"],
        [["chat", "--json"], "", "--json needs --once"],
        [["chat", "--timeout", "5"], "", "--timeout needs --once"],
        [["chat"], "hello\n", "no terminal"]
      ]
      for (const [args, input, words] of wrong) {
        const result = yield* Program.run(at, args, { input })
        assert.strictEqual(result.code, 2, result.stderr)
        assert.include(result.stderr, words)
        assert.strictEqual(result.stdout, "")
      }
    })
  )

  test(
    "config check and show; errors are 2 and never show a value",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      assert.strictEqual((yield* Program.run(at, ["config", "check"])).code, 0)
      const path = join(at.home, "mine.toml")
      yield* files.writeFileString(path, `[http]\nauth_token = "a-secret-token-123456"\nporrt = 1\n`)
      const check = yield* Program.run(at, ["config", "check", "--config", path])
      assert.strictEqual(check.code, 2)
      assert.include(check.stderr, "porrt")
      assert.notInclude(check.stderr, "a-secret-token")
      yield* files.writeFileString(path, `[http]\nauth_token = "a-secret-token-123456"\n`)
      const show = yield* Program.run(at, ["config", "show"], { env: { TROUPE_CONFIG: path } })
      assert.strictEqual(show.code, 0, show.stderr)
      assert.notInclude(show.stdout, "a-secret-token")
      const daemon = yield* Program.run(at, ["--config", join(at.home, "missing.toml")])
      assert.strictEqual(daemon.code, 2)
    })
  )

  test(
    "an endpoint that a killed process left behind is no daemon",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      yield* Program.run(at, ["chat", "--once", "hello"])
      const endpoint = { url: "http://127.0.0.1:9", incarnation: `inc_${"0".repeat(26)}`, version: "0" }
      for (const pid of [2 ** 22 + 1, process.pid]) {
        yield* files.writeFileString(join(at.data, "endpoint.json"), JSON.stringify({ ...endpoint, pid }))
        const status = yield* Program.run(at, ["status"])
        assert.strictEqual(status.code, 4, status.stderr)
        const answer = yield* Program.run(at, ["chat", "--once", "what is 2+3?"])
        assert.strictEqual(answer.code, 0, answer.stderr)
        assert.include(answer.stdout, "5")
      }
    })
  )
})

describe("the exit code", () => {
  it("tells settings that are wrong from a store that cannot be used", () => {
    for (const tag of ["ConfigError", "PromptUnreadable"]) assert.strictEqual(codeOf(tag), 2, tag)
    for (const tag of ["DatabaseUnusable", "DataDirectoryUnusable", "SchemaTooNew", "MigrationFailed"])
      assert.strictEqual(codeOf(tag), 5, tag)
    assert.strictEqual(codeOf("ListenFailed"), 1)
  })
})

describe("the greeting", () => {
  test(
    "names the flags that a chat needs to find this daemon",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      const config = join(at.home, "my settings.toml")
      yield* files.writeFileString(config, "[http]\nport = 0\n")
      const daemon = yield* Program.start(at, ["--config", config, "--data-dir", "elsewhere"])
      yield* daemon.says("Ctrl+C stops it.")
      assert.include(daemon.output(), `npx troupe chat --config '${config}' --data-dir elsewhere\n`)
    })
  )
})

describe("with a daemon", () => {
  test(
    "its greeting says where it is and how to talk to it; it ends cleanly when asked to",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      const daemon = yield* Program.daemon(at)
      assert.match(daemon.output(), /http:\/\/127\.0\.0\.1:\d+/)
      assert.include(daemon.output(), at.data)
      assert.include(daemon.output(), "offline helper, not a language model")
      assert.include(daemon.output(), "npx troupe chat")
      const token = (yield* files.readFileString(join(at.data, "token"))).trim()
      assert.notInclude(daemon.output(), token)
      for (const name of ["token", "endpoint.json"]) {
        assert.strictEqual((yield* files.stat(join(at.data, name))).mode & 0o777, 0o600)
      }

      const second = yield* Program.run(at, [])
      assert.strictEqual(second.code, 3)
      assert.include(second.stderr, String(daemon.process.pid))

      daemon.process.kill("SIGTERM")
      const result = yield* daemon.ended
      assert.strictEqual(result.code, 0, result.stderr)
      assert.isTrue(result.stdout.endsWith("\nStopping.\nStopped.\n"), result.stdout)
      assert.isFalse(yield* files.exists(join(at.data, "endpoint.json")))
      assert.notInclude(yield* files.readFileString(join(at.data, "logs", "troupe.log")), token)
    })
  )

  test(
    "asking needs nothing of the settings but the place and the token",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      const key = `[providers.openai]\napi_key = "\${OPENAI_API_KEY}"\n`
      yield* Program.daemon(at, key, { OPENAI_API_KEY: "sk-0123456789" })
      for (const args of [["status"], ["held"], ["chat", "--once", "what is 1+1?"]]) {
        const result = yield* Program.run(at, args)
        assert.strictEqual(result.code, 0, result.stderr)
      }
      const check = yield* Program.run(at, ["config", "check"])
      assert.strictEqual(check.code, 2)
      assert.include(check.stderr, "OPENAI_API_KEY")
      const alone = yield* Program.run(at, ["chat", "--once", "hi", "--data-dir", join(at.home, "other")])
      assert.strictEqual(alone.code, 2)
      assert.isFalse(yield* files.exists(join(at.home, "other")))
    })
  )

  onLinux(
    "output that cannot be written is a failure",
    Effect.gen(function* () {
      const at = yield* Program.place
      yield* Program.daemon(at)
      for (const args of [["status"], ["--help"], ["chat", "--once", "what is 1+1?"]]) {
        const result = yield* Program.run(at, args, { stdout: "/dev/full" })
        assert.strictEqual(result.code, 1, args.join(" "))
        assert.include(result.stderr, "Standard output cannot be written (ENOSPC)", args.join(" "))
      }
    })
  )

  test(
    "a port that is taken is named",
    Effect.gen(function* () {
      const at = yield* Program.place
      const daemon = yield* Program.daemon(at)
      const port = /127\.0\.0\.1:(\d+)/.exec(daemon.output())?.[1]
      const other = yield* Program.place
      yield* (yield* FileSystem.FileSystem).writeFileString(join(other.home, "config.toml"), `[http]\nport = ${port}\n`)
      const result = yield* Program.run(other, [])
      assert.strictEqual(result.code, 1)
      assert.include(result.stderr, `127.0.0.1:${port}`)
      assert.notInclude(result.stderr, "    at ")
    })
  )

  test(
    "a token file that others can read is refused",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      yield* Program.run(at, ["chat", "--once", "hello"])
      yield* files.chmod(join(at.data, "token"), 0o644)
      const result = yield* Program.run(at, [])
      assert.strictEqual(result.code, 1)
      assert.include(result.stderr, "chmod 600")
    })
  )

  test(
    "the commands show what is there, for people and for programs",
    Effect.gen(function* () {
      const at = yield* Program.place
      yield* Program.daemon(at)
      const answer = yield* Program.run(at, ["chat", "--thread", "work", "--once", "what is 6*7?"])
      assert.include(answer.stdout, "42")

      const status = yield* Program.run(at, ["status", "--json"])
      const [state] = yield* linesOf(status.stdout)
      assert.strictEqual(state?.["threads"], 1)
      assert.strictEqual(state?.["oldestOwedMillis"], null)
      assert.include((yield* Program.run(at, ["status"])).stdout, "nothing")

      const threads = yield* Program.run(at, ["threads", "--json"])
      assert.strictEqual((yield* linesOf(threads.stdout))[0]?.["key"], "console:work")
      assert.include((yield* Program.run(at, ["threads"])).stdout, "console:work")

      const history = yield* Program.run(at, ["history", "work"])
      assert.strictEqual(history.stdout.match(/✓ calculate_expression/g)?.length, 1)
      assert.include(history.stdout, "› what is 6*7?")
      const entries = yield* linesOf((yield* Program.run(at, ["history", "console:work", "--json"])).stdout)
      assert.deepStrictEqual(
        entries.map(({ seq }) => seq),
        entries.map((_, index) => index + 1)
      )
      const last = yield* Program.run(at, ["history", "work", "--limit", "2"])
      assert.match(last.stdout, /^── 4 entries above; --limit 6 shows all ──\n6\*7 = 42\n/)
      assert.notInclude(history.stdout, "above")
      yield* Program.run(at, ["chat", "--thread", "more", "--once", "hello"])
      const one = yield* Program.run(at, ["threads", "--limit", "1"])
      assert.match(one.stdout, /^\S+ \S+ {2}console:more .*\n── there are more; --limit shows up to 1000 ──\n$/)
      assert.notInclude((yield* Program.run(at, ["threads"])).stdout, "──")
      assert.strictEqual(
        (yield* linesOf((yield* Program.run(at, ["threads", "--limit", "1", "--json"])).stdout)).length,
        1
      )
      const missing = yield* Program.run(at, ["history", "nowhere"])
      assert.strictEqual(missing.code, 1)
      assert.include(missing.stderr, "console:nowhere")

      const tools = yield* linesOf((yield* Program.run(at, ["tools", "--json"])).stdout)
      assert.isTrue(tools.some(({ name }) => name === "calculate_expression"))
      const listed = (yield* Program.run(at, ["tools"])).stdout
      assert.include(listed, "calculate_expression (at most")
      assert.include(listed, "wait (off: see [tools.wait].enabled; at most")
    })
  )

  test(
    "a token that the daemon does not take is named, at once",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      yield* Program.daemon(at)
      yield* files.writeFileString(join(at.data, "token"), "another-token-0123456789abcdef\n")
      for (const args of [["status"], ["chat", "--once", "hi"]]) {
        const result = yield* Program.run(at, args)
        assert.strictEqual(result.code, 4, args.join(" "))
        assert.strictEqual(result.stdout, "")
        assert.include(result.stderr, "does not accept the token of this data directory")
        assert.include(result.stderr, "Delete the file `token`")
        assert.include(result.stderr, "[http].auth_token")
      }
    })
  )

  test(
    "a stopped daemon does not keep a chat longer than it may take",
    Effect.gen(function* () {
      const at = yield* Program.place
      const daemon = yield* Program.daemon(at)
      daemon.process.kill("SIGSTOP")
      const brief = yield* Program.run(at, ["chat", "--once", "hi", "--timeout", "2"])
      assert.strictEqual(brief.code, 4, brief.stderr)
      assert.include(brief.stderr, "within 2 s")
      const patient = yield* Program.run(at, ["chat", "--once", "hi"])
      assert.strictEqual(patient.code, 4, patient.stderr)
      assert.include(patient.stderr, "said nothing for 10 s")
    })
  )

  test(
    "the daemon says that others can look into its directory, and commands do not repeat it",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      yield* files.makeDirectory(at.data, { mode: 0o755 })
      const daemon = yield* Program.daemon(at)
      assert.include(daemon.output(), "chmod 700")
      const commands = [
        ["status", "--json"],
        ["threads"],
        ["history", "main"],
        ["verify"],
        ["backup", join(at.home, "copy")]
      ]
      for (const command of commands) {
        const { stderr } = yield* Program.run(at, command)
        assert.notInclude(stderr, "Other users", command[0])
      }
    })
  )

  test(
    "an endpoint that is no file, or no small one, is not read",
    Effect.gen(function* () {
      const at = yield* Program.place
      const files = yield* FileSystem.FileSystem
      yield* files.makeDirectory(at.data, { mode: 0o700 })
      const path = join(at.data, "endpoint.json")
      const pipe = spawnSync("mkfifo", [path])
      assert.strictEqual(pipe.status, 0)
      assert.include((yield* Program.run(at, ["status"])).stderr, "No daemon is running")
      yield* files.remove(path)
      const endpoint = {
        url: "http://127.0.0.1:9",
        pid: process.pid,
        incarnation: `inc_${"0".repeat(26)}`,
        version: "0"
      }
      yield* files.writeFileString(path, JSON.stringify(endpoint) + " ".repeat(64 * 1024))
      assert.include((yield* Program.run(at, ["status"])).stderr, "No daemon is running")
    })
  )

  test(
    "a reader that goes away is no error",
    Effect.gen(function* () {
      const at = yield* Program.place
      yield* Program.daemon(at)
      yield* Program.run(at, ["chat", "--once", "what is 1+1?"])
      const reading = yield* Program.start(at, ["history", "main", "--json"])
      reading.process.stdout?.destroy()
      const result = yield* reading.ended
      assert.strictEqual(result.stderr, "")
      assert.strictEqual(result.code, 0)
    })
  )

  test(
    "Ctrl+C stops the turn of --once; nobody to ask means no; time can run out",
    Effect.gen(function* () {
      const at = yield* Program.place
      yield* Program.daemon(at, `[tools.wait]\nenabled = true\n[tools.approval]\nrequire_approval = ["calculate*"]\n`)
      const denied = yield* Program.run(at, ["chat", "--once", "what is 1+1?"])
      assert.include(denied.stderr, "Denied, since nobody can be asked here: calculate_expression")

      const late = yield* Program.run(at, ["chat", "--thread", "slow", "--once", "wait 20 seconds", "--timeout", "1"])
      assert.strictEqual(late.code, 1)
      assert.include(late.stderr, "troupe history console:slow")

      const waiting = yield* Program.start(at, ["chat", "--thread", "other", "--once", "wait 20 seconds", "--json"])
      yield* waiting.says(`"calls":[{`)
      waiting.process.kill("SIGINT")
      assert.strictEqual((yield* waiting.ended).code, 130)
      const after = yield* Program.run(at, ["history", "other"])
      assert.include(after.stdout, "[stopped")
    })
  )

  test(
    "a daemon that goes away with a message has it: the exit code does not ask to send it again",
    Effect.gen(function* () {
      const at = yield* Program.place
      const daemon = yield* Program.daemon(at, `[tools.wait]\nenabled = true\n`)
      const asking = yield* Program.start(at, ["chat", "--once", "wait 20 seconds", "--json"])
      yield* asking.says(`"calls":[{`)
      daemon.process.kill("SIGKILL")
      const result = yield* asking.ended
      assert.strictEqual(result.code, 1, result.stderr)
      assert.include(result.stderr, "The message is kept")
    })
  )

  test(
    "a daemon that is asked to stop says what it waits for, and goes on with it at the next start",
    Effect.gen(function* () {
      const at = yield* Program.place
      const settings = `[runtime]\nshutdown_grace_seconds = 0.1\n[tools.wait]\nenabled = true\n`
      const daemon = yield* Program.daemon(at, settings)
      const asking = yield* Program.start(at, ["chat", "--once", "wait 1 second", "--json"])
      yield* asking.says(`"calls":[{`)
      daemon.process.kill("SIGINT")
      const result = yield* daemon.ended
      assert.strictEqual(result.code, 0, result.stderr)
      assert.include(result.stdout, "Stopping: waiting for 1 running turn, Ctrl+C again to stop at once.\nStopped.\n")
      yield* Program.daemon(at, settings)
      // The next message is answered after the first, or with it.
      yield* Program.run(at, ["chat", "--once", "what is 1+1?"])
      assert.include((yield* Program.run(at, ["history", "main"])).stdout, "I waited 1000 ms.")
    })
  )

  test(
    "two consoles without a daemon share one",
    Effect.gen(function* () {
      const at = yield* Program.place
      const [first, second] = yield* Effect.all(
        [Program.run(at, ["chat", "--once", "what is 1+1?"]), Program.run(at, ["chat", "--once", "what is 2+2?"])],
        { concurrency: 2 }
      )
      for (const result of [first, second]) {
        // The one may end while the other asks it; then it says so, and nothing is lost.
        assert.include([0, 4, 130, 1], result.code ?? -1, result.stderr)
        assert.notInclude(result.stderr, "    at ")
      }
      assert.isTrue(first.code === 0 || second.code === 0)
    })
  )
})

const isTagged = Schema.is(Schema.Struct({ _tag: Schema.String }))
