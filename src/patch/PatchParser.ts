/** Reads the text of a patch. Pure, in one pass over its lines. */
import * as Result from "effect/Result"
import type * as Patch from "./Patch.ts"
import { PatchError } from "./PatchError.ts"

const begin = "*** Begin Patch"
const end = "*** End Patch"
const endOfFile = "*** End of File"
const moveTo = "*** Move to:"

type Parsed<A> = Result.Result<A, PatchError>

/** The sections of a patch, in order. */
export const parse = (text: string): Parsed<ReadonlyArray<Patch.Section>> => {
  const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
  const [first, last] = unwrapped(lines, filled(lines, 0, lines.length - 1))
  if (first > last) return Result.fail(empty())
  if (lines[first]?.trim() !== begin) return refuse(first, `Expected ${quoted(begin)} as the first line.`)
  if (lines[last]?.trim() !== end || first === last) {
    return refuse(last, `Expected ${quoted(end)} as the last line; the patch may have been cut off.`)
  }
  return new Reader(lines, first + 1, last).sections()
}

/** The first and the last line that are not blank. */
const filled = (lines: ReadonlyArray<string>, from: number, to: number): readonly [number, number] => {
  let [first, last] = [from, to]
  while (first <= last && lines[first]?.trim() === "") first++
  while (last >= first && lines[last]?.trim() === "") last--
  return [first, last]
}

const heredoc = /^\s*(?:apply_patch\s+|cat\s+)?<<-?\s*(["']?)(\w+)\1\s*$/

/** Without the lines of a here-document of a shell around it. */
const unwrapped = (
  lines: ReadonlyArray<string>,
  [first, last]: readonly [number, number]
): readonly [number, number] => {
  const word = heredoc.exec(lines[first] ?? "")?.[2]
  return word !== undefined && last > first && lines[last]?.trim() === word
    ? filled(lines, first + 1, last - 1)
    : [first, last]
}

/** `at` counts from 0, as the lines do; people count from 1. */
const refuse = (at: number, detail: string, where: { readonly path?: string; readonly hunk?: number } = {}) =>
  Result.fail(new PatchError({ reason: "invalid_patch", line: at + 1, ...where, detail }))

const empty = () =>
  new PatchError({
    reason: "empty_patch",
    detail: `The patch is rejected, since nothing is in it. Write sections such as "*** Update File: <path>" between ${quoted(begin)} and ${quoted(end)}.`
  })

const quoted = (words: string): string => `"${words}"`

class Reader {
  private readonly lines: ReadonlyArray<string>
  private at: number
  private readonly end: number

  constructor(lines: ReadonlyArray<string>, from: number, to: number) {
    this.lines = lines
    this.at = from
    this.end = to
  }

  sections(): Parsed<ReadonlyArray<Patch.Section>> {
    const sections: Array<Patch.Section> = []
    this.skipBlank()
    while (this.at < this.end) {
      const section = this.section()
      if (Result.isFailure(section)) return Result.fail(section.failure)
      sections.push(section.success)
      this.skipBlank()
    }
    return sections.length === 0 ? Result.fail(empty()) : Result.succeed(sections)
  }

  private section(): Parsed<Patch.Section> {
    const at = this.at
    const header = headerOf(this.current)
    if (header === undefined) return refuse(at, `Expected ${expectedHeaders}.`)
    const [tag, path] = header
    if (path === "") return refuse(at, "Expected a path behind the colon.")
    this.at++
    const line = at + 1
    switch (tag) {
      case "Add":
        return Result.map(this.added(path), (lines) => ({ _tag: tag, line, path, lines }))
      case "Delete":
        return Result.succeed({ _tag: tag, line, path })
      case "Update":
        return this.update(line, path)
    }
  }

  private added(path: string): Parsed<ReadonlyArray<string>> {
    const lines: Array<string> = []
    while (this.at < this.end && this.current.startsWith("+")) lines.push(this.take().slice(1))
    this.skipBlank()
    return this.at === this.end || headerOf(this.current) !== undefined
      ? Result.succeed(lines)
      : refuse(this.at, "Every line of a file that is added begins with +, also a blank one.", { path })
  }

  private update(line: number, path: string): Parsed<Patch.UpdateFile> {
    let target: string | undefined
    if (this.at < this.end && this.current.startsWith(moveTo)) {
      target = this.current.slice(moveTo.length).trim()
      if (target === "") return refuse(this.at, "Expected a path behind the colon.", { path })
      this.at++
    }
    const hunks: Array<Patch.Hunk> = []
    this.skipBlank()
    while (this.at < this.end && headerOf(this.current) === undefined) {
      const hunk = this.hunk({ path, hunk: hunks.length + 1 })
      if (Result.isFailure(hunk)) return Result.fail(hunk.failure)
      hunks.push(hunk.success)
      if (hunk.success.endOfFile) this.skipBlank()
    }
    if (hunks.length === 0 && target === undefined) {
      return refuse(line - 1, `Expected a hunk, which begins with "@@", or "${moveTo} <path>" below.`, { path })
    }
    const section: Patch.UpdateFile = { _tag: "Update", line, path, hunks }
    return Result.succeed(target === undefined || target === path ? section : { ...section, moveTo: target })
  }

  private hunk(where: { readonly path: string; readonly hunk: number }): Parsed<Patch.Hunk> {
    const line = this.at + 1
    const anchors: Array<string> = []
    let range: Patch.Range | undefined
    while (this.at < this.end && this.current.startsWith("@@")) {
      if (range !== undefined) return refuse(this.at, "Expected the lines of the hunk below its header.", where)
      range = rangeOf(this.current)
      const anchor = this.current.slice(2)
      if (range === undefined && anchor.trim() !== "") {
        if (!anchor.startsWith(" ")) return refuse(this.at, 'Expected a space behind "@@".', where)
        anchors.push(anchor.slice(1))
      }
      this.at++
    }
    const lines: Array<Patch.HunkLine> = []
    while (this.at < this.end && !isBoundary(this.current)) {
      const kind = kindOf(this.current)
      if (this.current !== noNewline) {
        if (kind === undefined) {
          return refuse(
            this.at,
            `Lines of a hunk begin with a space, + or -. Otherwise expected "@@", ${expectedHeaders}.`,
            where
          )
        }
        lines.push({ kind, text: this.current.slice(1), line: this.at + 1 })
      }
      this.at++
    }
    // Empty lines before what comes next part it from the hunk: a blank line of the file has at least its space.
    while (lines.length > 0 && this.lines[(lines.at(-1)?.line ?? 0) - 1] === "") lines.pop()
    if (lines.length === 0) return refuse(line - 1, "Expected lines below the header of the hunk.", where)
    const isAtEnd = this.at < this.end && this.current.trimEnd() === endOfFile
    if (isAtEnd) this.at++
    return Result.succeed({ line, anchors, ...(range === undefined ? {} : { range }), lines, endOfFile: isAtEnd })
  }

  private get current(): string {
    return this.lines[this.at] ?? ""
  }

  private take(): string {
    const line = this.current
    this.at++
    return line
  }

  private skipBlank(): void {
    while (this.at < this.end && this.current.trim() === "") this.at++
  }
}

const expectedHeaders = '"*** Add File: <path>", "*** Delete File: <path>" or "*** Update File: <path>"'

const header = /^\*\*\* (Add|Delete|Update) File:(.*)$/

const headerOf = (line: string): readonly ["Add" | "Delete" | "Update", string] | undefined => {
  const [, tag, path = ""] = header.exec(line) ?? []
  return tag === "Add" || tag === "Delete" || tag === "Update" ? [tag, path.trim()] : undefined
}

const unified = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@(?: .*)?$/

const rangeOf = (line: string): Patch.Range | undefined => {
  const [, start, count] = unified.exec(line.trimEnd()) ?? []
  return start === undefined ? undefined : { start: Number(start), count: count === undefined ? 1 : Number(count) }
}

/** How unified diffs say that the line above ends the file without a line break: how a file ends is kept anyway. */
const noNewline = "\\ No newline at end of file"

const isBoundary = (line: string): boolean =>
  line.startsWith("@@") || line.trimEnd() === endOfFile || headerOf(line) !== undefined

const kindOf = (line: string): Patch.HunkLine["kind"] | undefined => {
  if (line === "" || line.startsWith(" ")) return "context"
  if (line.startsWith("+")) return "added"
  return line.startsWith("-") ? "removed" : undefined
}
