/** Programs that run other commands: which of their words are that command, or a text for a shell. */

type Words = ReadonlyArray<string | null>

export interface Runs {
  readonly commands: ReadonlyArray<Words>
  /** Texts for a shell; null for one that is only known when it runs. */
  readonly texts: ReadonlyArray<string | null>
  /** Why it may run more than that. */
  readonly unknown?: string
}

/** What the command runs besides itself. Undefined for a program that is not known to run others. */
export const runs = (words: Words): Runs | undefined => {
  const program = programOf(words)
  const rule = program === undefined ? undefined : rules.get(program)
  return rule?.(words)
}

/** The name of the program without its directories. Undefined when it is only known when it runs. */
export const programOf = ([first]: Words): string | undefined => {
  if (first === null || first === undefined) return undefined
  const name = first.slice(first.lastIndexOf("/") + 1)
  return name === "" ? first : name
}

// ---------------------------------------------------------------------------------------------------------------------
// Kinds of wrappers

type Rule = (words: Words) => Runs

const nothing: Runs = { commands: [], texts: [] }

interface Shape {
  /** Options that are followed by a value of their own. */
  readonly valued?: ReadonlyArray<string>
  /** Options whose value is a text for a shell. */
  readonly texts?: ReadonlyArray<string>
  /** Words between the options and the command. */
  readonly operands?: number
  /** `NAME=value` before the command. */
  readonly assignments?: boolean
  /** Words that it adds at the end, which nobody knows. */
  readonly appends?: boolean
}

/** `program [options] [operands] command …` */
const before =
  ({ appends = false, assignments = false, operands = 0, texts = [], valued = [] }: Shape): Rule =>
  (words) => {
    const shellTexts: Array<string | null> = []
    let at = 1
    for (; at < words.length; at++) {
      const word = words[at]
      if (word === null) return { commands: [], texts: [], unknown: "an option that is only known when it runs" }
      if (word === undefined || !word.startsWith("-") || word === "-") break
      if (word === "--") {
        at += 1
        break
      }
      const text = texts.find((option) => word === option || joined(word, option))
      if (text !== undefined) shellTexts.push(word === text ? (words[++at] ?? null) : valueOf(word, text))
      else if (valued.includes(word)) at += 1
    }
    if (assignments) while (isAssignment(words[at])) at += 1
    const command = words.slice(at + operands)
    if (command.length === 0) return { commands: [], texts: shellTexts }
    return { commands: [appends ? [...command, null] : command], texts: shellTexts }
  }

const joined = (word: string, option: string): boolean =>
  option.startsWith("--") ? word.startsWith(`${option}=`) : word.startsWith(option)

const valueOf = (word: string, option: string): string => word.slice(option.length).replace(/^=/, "")

const isAssignment = (word: string | null | undefined): boolean =>
  typeof word === "string" && /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word)

/** `sh -c TEXT`; without `-c` it runs a file, or what comes in. */
const shell: Rule = (words) => {
  const at = words.findIndex((word, index) => index > 0 && word !== null && /^[-+][A-Za-z]*c[A-Za-z]*$/.test(word))
  if (at === -1) {
    const asks = words.slice(1).every((word) => word === "--version" || word === "--help") && words.length > 1
    return asks ? nothing : { ...nothing, unknown: "a shell that reads its commands from a file or from its input" }
  }
  const text = words.slice(at + 1).find((word) => word === null || !/^[-+]/.test(word))
  return { commands: [], texts: [text ?? null] }
}

/** All the words together are one text. */
const joinedText: Rule = (words) => {
  const given = words.slice(1)
  return { commands: [], texts: given.length === 0 ? [] : [given.includes(null) ? null : given.join(" ")] }
}

/** `watch [options] words …`, which a shell gets as one text. */
const watch: Rule = (words) => {
  const [command] = before({ valued: ["-n", "--interval", "-q", "--equexit"] })(words).commands
  return command === undefined ? nothing : joinedText(["watch", ...command])
}

/** `find … -exec command … ;` */
const find: Rule = (words) => {
  const commands: Array<Words> = []
  for (const [at, word] of words.entries()) {
    if (word === null || !/^-(exec|execdir|ok|okdir)$/.test(word)) continue
    const rest = words.slice(at + 1)
    const end = rest.findIndex((other) => other === ";" || other === "+")
    commands.push(
      (end === -1 ? rest : rest.slice(0, end)).map((other) => (other?.includes("{}") === true ? null : other))
    )
  }
  return { commands: commands.filter((command) => command.length > 0), texts: [] }
}

/** `trap TEXT SIGNAL …` */
const trap: Rule = (words) => {
  const text = words.slice(1).find((word) => word === null || !word.startsWith("-"))
  return { commands: [], texts: words.length > 2 ? [text ?? null] : [] }
}

/** Either `program … -c TEXT` or `program … command`. */
const textOrCommand =
  (shape: Shape): Rule =>
  (words) => {
    const at = words.findIndex((word, index) => index > 0 && (word === "-c" || word === "--command"))
    return at === -1 ? before(shape)(words) : { commands: [], texts: [words[at + 1] ?? null] }
  }

const unknown =
  (reason: string): Rule =>
  () => ({ ...nothing, unknown: reason })

// ---------------------------------------------------------------------------------------------------------------------
// The wrappers

const plain = before({})

const rules: ReadonlyMap<string, Rule> = new Map([
  ...["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash"].map((name) => [name, shell] as const),
  ...["nohup", "setsid", "time", "builtin", "busybox", "toybox", "unbuffer", "eatmydata"].map(
    (name) => [name, plain] as const
  ),
  ...["source", "."].map((name) => [name, unknown("a script in a file")] as const),
  ["env", before({ valued: ["-u", "--unset", "-C", "--chdir"], texts: ["-S", "--split-string"], assignments: true })],
  [
    "sudo",
    before({
      valued: [
        "-u",
        "--user",
        "-g",
        "--group",
        "-h",
        "--host",
        "-p",
        "--prompt",
        "-C",
        "-D",
        "-R",
        "-T",
        "-U",
        "-r",
        "-t"
      ],
      assignments: true
    })
  ],
  ["doas", before({ valued: ["-u", "-C"] })],
  ["command", before({})],
  ["exec", before({ valued: ["-a"] })],
  ["nice", before({ valued: ["-n", "--adjustment"] })],
  ["ionice", before({ valued: ["-c", "--class", "-n", "--classdata"] })],
  ["chrt", before({ valued: ["-T", "-P", "-D"], operands: 1 })],
  ["taskset", before({ operands: 1 })],
  ["numactl", before({})],
  ["prlimit", before({})],
  ["timeout", before({ valued: ["-k", "--kill-after", "-s", "--signal"], operands: 1 })],
  ["stdbuf", before({ valued: ["-i", "-o", "-e", "--input", "--output", "--error"] })],
  ["chroot", before({ operands: 1 })],
  ["unshare", before({ valued: ["-R", "-w", "-S", "-G"] })],
  ["nsenter", before({ valued: ["-t", "--target", "-S", "-G"] })],
  ["setpriv", before({})],
  ["systemd-run", before({ valued: ["-p", "--property", "-u", "--unit", "-E", "--setenv", "-t"] })],
  ["strace", before({ valued: ["-o", "-e", "-p", "-s", "-u", "-E", "-P"] })],
  ["ltrace", before({ valued: ["-o", "-e", "-p", "-s", "-u", "-l"] })],
  ["xargs", before({ valued: ["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"], appends: true })],
  ["find", find],
  ["watch", watch],
  ["eval", joinedText],
  ["trap", trap],
  ["su", textOrCommand({ operands: 1 })],
  ["runuser", textOrCommand({ valued: ["-u", "--user", "-g", "-G"] })],
  ["flock", textOrCommand({ valued: ["-w", "--timeout", "-E"], operands: 1 })],
  ["script", textOrCommand({ operands: 1 })],
  ["alias", unknown("a command under another name")],
  ["shopt", unknown("options that change what words mean")],
  ["parallel", unknown("what parallel makes of its input")],
  ["bwrap", unknown("what runs inside of bwrap")],
  ["firejail", plain]
])
