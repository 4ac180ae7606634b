/**
 * Patterns of commands: words with a space between them, each with `*`, `?` and `[…]` as in the patterns of tools.
 *
 * `git push` is about every command of the program `git` that has the word `push`. Rules that allow are held against commands
 * more narrowly than rules that deny or ask: for those it is enough that it may be so.
 */
import * as ToolPattern from "../config/ToolPattern.ts"
import * as Wrappers from "./Wrappers.ts"

export interface CommandPattern {
  /** Whether the pattern names the program with its directories. */
  readonly byPath: boolean
  readonly program: (name: string) => boolean
  readonly words: ReadonlyArray<(word: string) => boolean>
}

export const make = (pattern: string): CommandPattern => {
  const [program = "*", ...words] = pattern.trim().split(/\s+/)
  return {
    byPath: program.includes("/"),
    program: ToolPattern.compile([program]),
    words: words.map((word) => ToolPattern.compile([word]))
  }
}

/**
 * Whether the pattern is about the command. `careful`: the words may stand anywhere behind the program, in their order, and a
 * word that is only known when it runs may be any. Otherwise they must be the words right behind it, and all must be known.
 */
export const match = (
  pattern: CommandPattern,
  words: ReadonlyArray<string | null>,
  careful: boolean
): "yes" | "perhaps" | "no" => {
  const program = nameIn(pattern, words)
  if (!careful) {
    const isIt = program !== undefined && pattern.program(program) && !words.includes(null)
    return isIt && pattern.words.every((accepts, at) => holds(accepts, words[at + 1])) ? "yes" : "no"
  }
  if (program === undefined) return "perhaps"
  if (pattern.program(program)) return inOrder(pattern.words, words.slice(1))
  // Programs of programs have names such as git-push.
  const [first, ...rest] = program.split("-")
  if (first !== undefined && rest.length > 0 && pattern.words.length > 0 && pattern.program(first)) {
    if (inOrder(pattern.words, [...rest, ...words.slice(1)]) === "yes") return "perhaps"
  }
  return mayRun(pattern, program, words) ? "perhaps" : "no"
}

const holds = (accepts: (word: string) => boolean, word: string | null | undefined): boolean =>
  typeof word === "string" && accepts(word)

const nameIn = (pattern: CommandPattern, words: ReadonlyArray<string | null>): string | undefined =>
  pattern.byPath ? (words[0] ?? undefined) : Wrappers.programOf(words)

/** Whether the words are there in this order, with others between them. */
const inOrder = (
  wanted: ReadonlyArray<(word: string) => boolean>,
  words: ReadonlyArray<string | null>
): "yes" | "perhaps" | "no" => {
  let next = 0
  let hidden = 0
  for (const word of words) {
    const accepts = wanted[next]
    if (accepts === undefined) break
    if (word === null) hidden += 1
    else if (accepts(word)) next += 1
    // It may be said in another way, as in an option that gives a word another meaning.
    else if (partsOf(word).some((part) => part !== null && accepts(part))) hidden += 1
  }
  if (next === wanted.length) return "yes"
  // A word that is not known can be several, by the shell's splitting.
  return hidden > 0 ? "perhaps" : "no"
}

/** Whether a program that is not known to be harmless is given the command among its words, as a wrapper or an interpreter is. */
const mayRun = (pattern: CommandPattern, program: string, words: ReadonlyArray<string | null>): boolean => {
  if (harmless.has(program) || Wrappers.runs(words) !== undefined) return false
  const parts = words.slice(1).flatMap(partsOf)
  return parts.some((part, at) => {
    if (part === null) return false
    const name = pattern.byPath ? part : (Wrappers.programOf([part]) ?? part)
    return pattern.program(name) && inOrder(pattern.words, parts.slice(at + 1)) !== "no"
  })
}

/** What could be words of a command in it, as in code for an interpreter. */
const partsOf = (word: string | null): ReadonlyArray<string | null> =>
  word === null ? [null] : word.split(/[^\w.+/-]+/).filter((part) => part !== "")

/** Programs that run none of their words: a mention of a command is only a mention. */
const harmless: ReadonlySet<string> = new Set([
  ..."echo printf cat head tail wc ls stat file du df test [ true false cd pwd export unset read let declare local set shift".split(
    " "
  ),
  ..."grep egrep fgrep rg cp mv rm ln mkdir rmdir touch chmod chown basename dirname realpath readlink which type hash".split(
    " "
  ),
  ..."sort uniq cut tr comm diff cmp md5sum sha256sum date sleep kill wait jobs umask tee less more man apropos whatis".split(
    " "
  )
])
