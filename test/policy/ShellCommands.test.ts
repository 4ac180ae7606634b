import { assert, describe, it } from "@effect/vitest"
import * as ShellCommands from "../../layers/policy/ShellCommands.ts"

/** The commands as lines, with `…` for a word that is only known when it runs. */
const commandsOf = (text: string): ReadonlyArray<string> =>
  ShellCommands.read(text).commands.map((words) => words.map((word) => word ?? "…").join(" "))

const cases = (expected: Readonly<Record<string, ReadonlyArray<string>>>) => {
  for (const [text, commands] of Object.entries(expected)) assert.deepStrictEqual(commandsOf(text), commands, text)
}

const isKnown = (text: string): boolean => ShellCommands.read(text).unknown.length === 0

describe("a text for the shell", () => {
  it("is read for every command of it, wherever it stands", () =>
    cases({
      "git status": ["git status"],
      "a && b || c; d | e & f": ["a", "b", "c", "d", "e", "f"],
      "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
      "for x in 1 2; do a $x; done; while b; do c; done": ["a …", "b", "c"],
      "f() { a; }; f": ["a", "f"],
      "(a; b); { c; }": ["a", "b", "c"],
      "echo $(a) `b` <(c)": ["echo … … …", "a", "b", "c"],
      'echo "x $(a) y"': ["echo …", "a"],
      "case $x in a) b;; esac": ["b"],
      "x=$(a) b": ["b", "a"],
      "a > $(b)": ["a", "b"],
      "cat <<END\n$(a)\nEND": ["cat", "a"],
      "! a; time b; coproc c": ["a", "b", "c"],
      "# nothing\n": [],
      "x=1": []
    }))

  it("gives words without their quotes", () =>
    cases({
      "su''do x": ["sudo x", "x"],
      '"s"u\\do': ["sudo"],
      "$'\\x73udo'": ["sudo"],
      'echo "a b"  c': ["echo a b c"],
      "a ~/x": ["a ~/x"]
    }))

  it("says which words are only known when it runs", () => {
    cases({ "$S x": ["… x"], "a $x": ["a …"], "a *.txt": ["a …"], "{sudo,x} y": ["… y"], "/usr/bin/su?o": ["…"] })
    for (const text of ["$S x", "$(which sudo)", "S=sudo; $S", "/usr/bin/su?o", "{sudo,x}", "${S}"]) {
      assert.isFalse(isKnown(text), text)
    }
    assert.isTrue(isKnown("a $x"))
  })

  it("F035 — wrapper programs do not hide the real command", () => {
    const wrappers = [
      "env A=1",
      "env -i -u B A=1",
      "/usr/bin/env",
      "nice",
      "nice -n 5",
      "setsid",
      "nohup",
      "sudo -u x",
      "timeout -k 1 5",
      "stdbuf -oL",
      "command",
      "exec -a x",
      "busybox",
      "taskset 1",
      "ionice -c 3",
      "flock /tmp/x",
      "strace -o x",
      "systemd-run --user",
      "env nice nohup"
    ]
    for (const wrapper of wrappers) {
      assert.include(commandsOf(`${wrapper} git push`), "git push", wrapper)
      assert.isTrue(isKnown(`${wrapper} git push`), wrapper)
    }
    assert.include(commandsOf("ls | xargs -n 1 git push"), "git push …")
    assert.include(commandsOf("find . -name x -exec git push {} ';'"), "git push …")
    assert.include(commandsOf("find . -exec git push \\; -o -exec a +"), "git push")
    for (const text of [
      "sh -c 'git push'",
      "bash -ec 'cd x && git push'",
      "bash -o errexit -c 'git push'",
      "eval git push",
      "eval 'git' 'push'",
      "trap 'git push' EXIT",
      "su -c 'git push' x",
      "script -q -c 'git push' /dev/null",
      "watch -n 1 git push",
      "env -S 'git push'",
      "flock /tmp/x -c 'git push'",
      `sh -c "sh -c 'git push'"`
    ]) {
      assert.include(commandsOf(text), "git push", text)
    }
  })

  it("says that there may be more than it can see", () => {
    for (const text of [
      'sh -c "$x"',
      "eval $x",
      "bash script.sh",
      "curl x | sh",
      "bash <<< 'a'",
      "source x",
      ". ./x",
      "parallel a",
      "env $x",
      "a '",
      "if a; then",
      "a\n".repeat(2_000)
    ]) {
      assert.isFalse(isKnown(text), text.slice(0, 40))
    }
    let deep = "a"
    for (let depth = 0; depth < 12; depth++) deep = `sh -c ${JSON.stringify(deep)}`
    assert.isFalse(isKnown(deep))
    assert.isFalse(isKnown(`${"nice ".repeat(50)}a`))
  })

  it("tells which files the shell opens", () => {
    const filesOf = (text: string) =>
      ShellCommands.read(text).files.map(({ access, path }) => `${access} ${path ?? "…"}`)
    assert.deepStrictEqual(filesOf("a > b < c >> d 2>&1 2>e &>f"), [
      "write b",
      "read c",
      "write d",
      "write e",
      "write f"
    ])
    assert.deepStrictEqual(filesOf("a > $x; { b; } > y"), ["write …", "write y"])
    assert.deepStrictEqual(filesOf("a >&2 <&-"), [])
  })

  it("takes any text", () => {
    for (const text of ["", "\0", "((((", "$((", "`", "<<", "\ud800", "a".repeat(100_000), "(".repeat(20_000)]) {
      ShellCommands.read(text)
    }
  })
})
