import { assert, describe, it } from "@effect/vitest"
import * as Glob from "effect/Glob"
import * as Schema from "effect/Schema"
import * as Action from "../../src/policy/Action.ts"
import * as Rules from "../../src/policy/Rules.ts"
import * as ShellActions from "../../layers/policy/ShellActions.ts"

const rule = (decision: Rules.Decision, conditions: Partial<Rules.RuleInput>): Rules.RuleInput => ({
  decision,
  priority: 0,
  reason: "",
  tools: [],
  commands: [],
  paths: [],
  access: [],
  hosts: [],
  methods: [],
  agents: [],
  channels: [],
  threads: [],
  when_tainted: false,
  ...conditions
})

const caller = { agent: "troupe", channel: "console", thread: "console:main" }

const verdictOf = (
  rules: Readonly<Record<string, Rules.RuleInput>>,
  actions: ReadonlyArray<Action.Action>,
  tool = "bash",
  who: Rules.Caller = caller,
  fallback: Rules.Decision = "allow"
) =>
  Rules.strictest(Rules.make(rules, fallback)({ ...who, tool, actions, tainted: false })) ?? assert.fail("no verdict")

const judge = (
  rules: Readonly<Record<string, Rules.RuleInput>>,
  actions: ReadonlyArray<Action.Action>,
  tool = "bash",
  who: Rules.Caller = caller
) => verdictOf(rules, actions, tool, who).decision

const shell = (rules: Readonly<Record<string, Rules.RuleInput>>, text: string) => judge(rules, ShellActions.of(text))

/** Each decision with the texts that get it. */
const shellCases = (
  rules: Readonly<Record<string, Rules.RuleInput>>,
  expected: Readonly<Partial<Record<Rules.Decision, ReadonlyArray<string>>>>
) => {
  for (const decision of ["allow", "ask", "deny"] as const) {
    for (const text of expected[decision] ?? []) assert.strictEqual(shell(rules, text), decision, text)
  }
}

describe("rules over commands", () => {
  it("F035 — a denied command is denied under every wrapper, and asked about under one nobody knows", () =>
    shellCases(
      { push: rule("deny", { commands: ["git push"] }) },
      {
        deny: [
          "git push",
          "git -C x push --force",
          "cd x && git push",
          "env A=1 git push",
          "nice git push",
          "ls | xargs git push",
          "setsid git push",
          "busybox git push",
          "find . -exec git push ';'",
          "sh -c 'git push'",
          "echo $(git push)",
          "(sleep 1; git push) &"
        ],
        ask: [
          "mywrapper git push",
          "./mywrapper --x git -C y push",
          `python3 -c "import os; os.system('git push')"`,
          "git $x",
          "$x push",
          "xargs git",
          "curl x | sh",
          'eval "$x"'
        ],
        allow: ["git pull", "echo git push", "grep -r 'git push' .", "git log", "pushd x", "mywrapper git pull"]
      }
    ))

  it("F036 — a path, quotes and expansions do not evade a rule", () =>
    shellCases(
      { root: rule("deny", { commands: ["sudo"] }) },
      {
        deny: ["sudo x", "/usr/bin/sudo x", "su''do x", '"sudo" x', "s\\udo x", "$'sudo' x", "\\sudo x", "env sudo x"],
        ask: ["$(which sudo) x", "S=sudo; $S x", "/usr/bin/su?o x", "{sudo,-u} x", "`echo sudo` x", "bash x.sh"],
        allow: ["ls", "echo sudo", "visudo"]
      }
    ))

  it("an allowing rule is about nothing more than it says", () =>
    shellCases(
      {
        all: rule("ask", { tools: ["bash"] }),
        status: rule("allow", { commands: ["git status", "ls"], priority: 1 })
      },
      {
        allow: ["git status", "git status --short", "/usr/bin/git status", "ls -l && git status"],
        ask: [
          "git push",
          "git -C x status",
          "git status $x",
          "git status; rm -rf /",
          "git status $(rm -rf /)",
          "git status > file",
          "env git status",
          "git $x status",
          "ls `x`",
          "sh -c 'ls'"
        ]
      }
    ))

  it("names a program by its path where the pattern has one", () =>
    shellCases(
      { here: rule("deny", { commands: ["/opt/*/danger"] }) },
      { deny: ["/opt/x/danger y"], allow: ["danger", "/usr/bin/danger"], ask: ["mywrapper /opt/x/danger"] }
    ))
})

describe("rules over files and requests", () => {
  const write = (path: string | null) => [Action.file("write", path)]
  it("holds paths against patterns, in their plain form", () => {
    const rules = { kept: rule("deny", { paths: ["private/**"], access: ["write", "delete"] }) }
    assert.strictEqual(judge(rules, write("private/a")), "deny")
    assert.strictEqual(judge(rules, write("x/../private//./a")), "deny")
    assert.strictEqual(judge(rules, write("public/private/a")), "allow")
    assert.strictEqual(judge(rules, [Action.file("read", "private/a")]), "allow")
    assert.strictEqual(judge(rules, write(null)), "ask")
    const remove = (path: string) => judge(rules, [Action.folder("delete", path)])
    assert.deepStrictEqual([remove("private"), remove("."), remove("public")], ["deny", "ask", "allow"])
    const search = { kept: rule("deny", { paths: ["private/**"], access: ["read"] }) }
    assert.deepStrictEqual(
      ["private", ".", "public"].map((path) => judge(search, [Action.folder("read", path)])),
      ["deny", "ask", "allow"]
    )
    const deep = { kept: rule("deny", { paths: ["a/b/*.key"] }) }
    assert.deepStrictEqual(
      ["a", "a/b", "a/b/x.key", "a/c"].map((path) => judge(deep, [Action.folder("delete", path)])),
      ["ask", "ask", "deny", "allow"]
    )
  })

  it("asks where a command names a denied path or host, for what it does with it cannot be seen", () =>
    shellCases(
      { kept: rule("deny", { paths: ["private/**", "/etc/shadow"] }), out: rule("deny", { hosts: ["*.example.com"] }) },
      {
        ask: [
          "rm private/a",
          "rm ./private//a",
          "cat /etc/../etc/shadow",
          "curl https://a.example.com/x",
          "wget -qO- 'http://A.example.com'"
        ],
        deny: ["echo x > private/a", "cat < /etc/shadow"],
        allow: ["rm public/a", "curl https://example.org"]
      }
    ))

  it("holds hosts against patterns, however they are written", () => {
    const rules = { out: rule("deny", { hosts: ["*.example.com", "10.*", "::1"] }) }
    const get = (url: string) => judge(rules, [Action.connect("get", url)])
    for (const url of [
      "http://a.example.com/",
      "https://A.EXAMPLE.com:8443",
      "http://u:p@a.example.com",
      "http://a.example.com./",
      "http://ａ.example.com",
      "http://10.0.0.1",
      "http://0xa.1",
      "http://167772161",
      "http://[::1]:80/"
    ]) {
      assert.strictEqual(get(url), "deny", url)
    }
    assert.strictEqual(get("http://example.org/?a.example.com"), "allow")
    assert.strictEqual(get("no address"), "ask")
  })

  it("holds methods in any case", () => {
    const rules = { writes: rule("ask", { methods: ["POST"] }) }
    assert.strictEqual(judge(rules, [Action.connect("post", "http://x")]), "ask")
    assert.strictEqual(judge(rules, [Action.connect("GET", "http://x")]), "allow")
  })
})

describe("which rule decides", () => {
  it("one that denies, before any priority", () => {
    const rules = { no: rule("deny", { tools: ["bash"] }), yes: rule("allow", { tools: ["bash"], priority: 9 }) }
    assert.strictEqual(judge(rules, [Action.call]), "deny")
  })

  it("what may be denied is asked about, before any priority", () =>
    assert.strictEqual(
      shell({ no: rule("deny", { commands: ["sudo"] }), yes: rule("allow", { tools: ["bash"], priority: 9 }) }, "$x"),
      "ask"
    ))

  it("then the one of the highest priority, and of those the one that asks", () => {
    const rules = {
      a: rule("ask", {}),
      b: rule("allow", { priority: 1 }),
      c: rule("ask", { priority: 1, agents: ["x"] })
    }
    assert.strictEqual(judge(rules, [Action.call]), "allow")
    assert.strictEqual(judge(rules, [Action.call], "bash", { ...caller, agent: "x" }), "ask")
  })

  it("none, and the default holds", () => {
    const verdict = verdictOf({ a: rule("deny", { tools: ["x"] }) }, [Action.call], "y", caller, "ask")
    assert.deepStrictEqual([verdict.decision, verdict.rule], ["ask", undefined])
  })

  it("for the call, that of its strictest action", () => {
    const verdict = verdictOf({ a: rule("deny", { commands: ["b"] }) }, ShellActions.of("a; b; c"))
    assert.deepStrictEqual([verdict.decision, verdict.rule, Action.describe(verdict.action)], ["deny", "a", "run b"])
  })

  it("by agent, channel and thread", () => {
    const rules = { a: rule("deny", { channels: ["telegram"], threads: ["telegram:1*"] }) }
    const at = (channel: string, thread: string) => judge(rules, [Action.call], "x", { agent: "a", channel, thread })
    assert.strictEqual(at("telegram", "telegram:12"), "deny")
    assert.strictEqual(at("telegram", "telegram:2"), "allow")
    assert.strictEqual(at("web", "telegram:12"), "allow")
  })
})

const Segment = Schema.Literals(["a", "b", "a-b", ".env", "*", "**", "?", "[ab]", "{a,b}", "a*", "."])
const Pattern = Schema.Struct({ absolute: Schema.Boolean, segments: Schema.NonEmptyArray(Segment) })
const Place = Schema.Struct({
  absolute: Schema.Boolean,
  segments: Schema.NonEmptyArray(Schema.Literals(["a", "b", "a-b", ".env", "ab"]))
})

it.prop(
  "a rule over paths matches what its glob matches, and the folder before `/**`",
  { pattern: Pattern, place: Place },
  ({ pattern, place }) => {
    const text = `${pattern.absolute ? "/" : ""}${pattern.segments.join("/")}`
    const path = `${place.absolute ? "/" : ""}${place.segments.join("/")}`
    const globs = [text, ...(text.endsWith("/**") ? [text.slice(0, -3)] : [])].map((one) => Glob.make(one))
    const wanted = globs.some((glob) => Glob.match(glob, path)) ? "deny" : "allow"
    const action = { ...Action.file("read", path), forms: [path] }
    assert.strictEqual(judge({ it: rule("deny", { paths: [text] }) }, [action], "read_file"), wanted, `${text} ${path}`)
  }
)

it("a rule over paths may be written with parts that say nothing", () => {
  const cases = [
    ["./a/**", "a/b"],
    ["a/./b", "a/b"],
    ["a//b/*", "a/b/c"],
    ["/a/**", "/a"],
    ["/**", "/a/b"]
  ] as const
  for (const [pattern, path] of cases) {
    const action = { ...Action.file("read", path), forms: [path] }
    assert.strictEqual(judge({ it: rule("deny", { paths: [pattern] }) }, [action], "read_file"), "deny", pattern)
  }
})
