/**
 * The commands that a text for the shell runs, as far as it says so: every simple command of it, wherever it stands, and those
 * that another command is told to run (`env`, `xargs`, `find -exec`, `sh -c` and the like).
 *
 * It is a reading and not a promise. What a program does by itself, and what a script in a file holds, is not in the text.
 */
import { forEachChild, parse, type Command, type ParsedScript, type SyntaxNode, type Word, type WordPart } from "unbash"
import * as Wrappers from "../../src/policy/Wrappers.ts"

/** One command: the program and its arguments without their quotes. Null for a word that is only known when it runs. */
export type Words = ReadonlyArray<string | null>

export interface Reading {
  readonly commands: ReadonlyArray<Words>
  /** Files that the shell itself opens, by redirections. */
  readonly files: ReadonlyArray<{ readonly access: "read" | "write"; readonly path: string | null }>
  /** Why there may be commands that are not listed; empty when there are none. */
  readonly unknown: ReadonlyArray<string>
}

/** Texts inside texts, at most: `sh -c "sh -c …"`. */
const maxDepth = 8
/** No text that a person wrote holds more, and nobody would read them. */
const maxCommands = 1_000

export const read = (source: string): Reading => {
  const found: Found = { commands: [], files: [], unknown: new Set() }
  readText(found, source, 0)
  return { commands: found.commands, files: found.files, unknown: Array.from(found.unknown) }
}

interface Found {
  readonly commands: Array<Words>
  readonly files: Array<Reading["files"][number]>
  readonly unknown: Set<string>
}

const readText = (found: Found, source: string, depth: number): void => {
  if (depth > maxDepth) return void found.unknown.add("commands inside commands, too deep to follow")
  visit(found, parse(source), depth)
}

const visit = (found: Found, node: SyntaxNode, depth: number): void => {
  switch (node.type) {
    case "Script":
      noteErrors(found, node)
      break
    case "Command":
      readCommand(found, node, depth)
      break
    case "Redirect":
      if (node.target !== undefined && !isDescriptor(node.operator, node.target)) {
        found.files.push({ access: node.operator === "<" ? "read" : "write", path: literal(node.target) })
      }
      break
    default:
  }
  forEachChild(node, (child) => visit(found, child, depth))
}

const noteErrors = (found: Found, { errors = [] }: ParsedScript): void => {
  if (errors.length > 0) found.unknown.add("it is not written as the shell's grammar has it")
}

/** `2>&1` and `<&-` open no file. */
const isDescriptor = (operator: string, target: Word): boolean =>
  operator.endsWith("&") && /^(\d+-?|-)$/.test(target.value)

const readCommand = (found: Found, { args, name, prefix }: Command, depth: number): void => {
  noteHidden(
    found,
    prefix.flatMap((one) => (one.type === "Assignment" && one.value.type === "Word" ? [literal(one.value)] : []))
  )
  if (name === undefined) return
  const words = [literal(name), ...args.map((word) => (word.type === "Word" ? literal(word) : word.text))]
  add(found, words, depth)
}

/** A quoted `$(…)` is a text, until something reads it as a text for the shell: arithmetic does, and `PS4`, and `eval`. */
const noteHidden = (found: Found, words: Words): void => {
  if (words.some((word) => word !== null && /\$\(|`/.test(word)))
    found.unknown.add("a quoted command, which may be run later")
}

/** Lists the command, and what it runs in turn. */
const add = (found: Found, words: Words, depth: number): void => {
  if (found.commands.length >= maxCommands) return void found.unknown.add(`more than ${maxCommands} commands`)
  found.commands.push(words)
  if (words[0] === null) found.unknown.add("a program whose name is only known when it runs")
  noteHidden(found, words)
  const runs = Wrappers.runs(words)
  if (runs === undefined) return
  for (const inner of runs.commands) {
    if (depth < maxDepth) add(found, inner, depth + 1)
    else found.unknown.add("commands inside commands, too deep to follow")
  }
  for (const text of runs.texts) {
    if (text === null) found.unknown.add(`what ${String(words[0])} runs is only known when it runs`)
    else readText(found, text, depth + 1)
  }
  if (runs.unknown !== undefined) found.unknown.add(runs.unknown)
}

/** The word as the program gets it; null when the shell makes it of something, or makes several words of it. */
const literal = (word: Word): string | null => {
  if (word.parts === undefined) return word.value
  const parts = word.parts.map(literalPart)
  return parts.includes(null) ? null : parts.join("")
}

const literalPart = (part: WordPart): string | null => {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value
    case "DoubleQuoted":
    case "LocaleString": {
      const parts = part.parts.map(literalPart)
      return parts.includes(null) ? null : parts.join("")
    }
    default:
      return null
  }
}
