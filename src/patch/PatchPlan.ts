/**
 * What a patch makes of the files it names, before anything is written: pure, over their contents. Sections see what those before them
 * have made of a file, and every file changes at most once.
 */
import * as Result from "effect/Result"
import * as LineIndex from "./LineIndex.ts"
import * as Locate from "./Locate.ts"
import * as Patch from "./Patch.ts"
import { PatchError } from "./PatchError.ts"
import * as TextLines from "./TextLines.ts"

/** Files that a patch may name. */
export const mostFiles = 200
/** Bytes of one file, before and after. */
export const mostBytes = 8 * 1024 * 1024
/** Bytes of all files together. */
export const mostBytesTogether = 32 * 1024 * 1024
/** Lines of one file. */
export const mostLines = 200_000
/** Looks at lines in all: a second or two. */
const mostLooks = 10_000_000

/** A file under its path, or that nothing is there: `bytes` undefined. Paths that lead to one file have the same `id`. */
export interface Found {
  readonly id: string
  readonly bytes: Uint8Array | undefined
}

/** `path` as the patch names it. `letter` as the summary has it; undefined for a file that went elsewhere. */
export interface Change {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  readonly letter: "A" | "M" | "D" | undefined
  /** The path of the file that came here. */
  readonly movedFrom?: string
}

/** A hunk that was not there exactly. `line` of the file before the hunk's section, from 1. */
export interface Fuzzy {
  readonly path: string
  readonly hunk: number
  readonly line: number
  readonly ignored: Locate.Fuzz
}

export interface Plan {
  readonly changes: ReadonlyArray<Change>
  readonly fuzzy: ReadonlyArray<Fuzzy>
  /** Files that were there and that a section that adds a file has replaced. */
  readonly replaced: ReadonlyArray<string>
}

export interface Options {
  /** Whether an updated file ends with a line break only where it did. It is given one otherwise when its last line changes. */
  readonly preserveTrailingNewline: boolean
}

type Planned<A> = Result.Result<A, PatchError>

export const make = (
  sections: ReadonlyArray<Patch.Section>,
  files: ReadonlyMap<string, Found>,
  options: Options
): Planned<Plan> => {
  const planner = new Planner(files, options)
  for (const section of sections) {
    const done = planner.apply(section)
    if (Result.isFailure(done)) return Result.fail(done.failure)
  }
  return planner.plan()
}

interface State {
  readonly path: string
  readonly before: Uint8Array | undefined
  now: Uint8Array | undefined
  letter: Change["letter"]
  movedFrom?: string
}

class Planner {
  private readonly files: ReadonlyMap<string, Found>
  private readonly options: Options
  private readonly states = new Map<string, State>()
  private readonly budget: LineIndex.Budget = { left: mostLooks }
  private readonly fuzzy: Array<Fuzzy> = []
  private readonly replaced = new Set<string>()

  constructor(files: ReadonlyMap<string, Found>, options: Options) {
    this.files = files
    this.options = options
  }

  plan(): Planned<Plan> {
    const states = [...this.states.values()]
    const moved = new Set(states.flatMap(({ movedFrom, now }) => (now === undefined ? [] : [movedFrom])))
    const changes = states.flatMap(({ letter, now, ...state }): ReadonlyArray<Change> => {
      // A file that went elsewhere is told of there, unless it was deleted there.
      const told = now === undefined && !moved.has(state.path) ? "D" : letter
      return isSame(state.before, now) ? [] : [{ ...state, after: now, letter: told }]
    })
    return changes.length === 0
      ? Result.fail(noChange())
      : Result.succeed({ changes, fuzzy: this.fuzzy, replaced: [...this.replaced] })
  }

  apply(section: Patch.Section): Planned<void> {
    const state = this.stateOf(section.path)
    switch (section._tag) {
      case "Add":
        return this.add(section, state)
      case "Delete":
        if (state.now === undefined) return Result.fail(notThere(section))
        state.now = undefined
        state.letter = "D"
        return Result.void
      case "Update":
        return this.update(section, state)
    }
  }

  private add(section: Patch.AddFile, state: State): Planned<void> {
    const { lines, path } = section
    const content = TextLines.ofNew(lines)
    if (content.length === 0 && state.now !== undefined && state.now.length > 0) return Result.fail(emptied(section))
    if (content.length > mostBytes) return Result.fail(tooLarge(section))
    if (state.now !== undefined) this.replaced.add(path)
    state.now = content
    state.letter = "A"
    return Result.void
  }

  private update(section: Patch.UpdateFile, state: State): Planned<void> {
    if (state.now === undefined) return Result.fail(notThere(section))
    const target = section.moveTo === undefined ? state : this.stateOf(section.moveTo)
    if (target !== state && target.now !== undefined) return Result.fail(isTaken(section, section.moveTo ?? ""))
    const after = section.hunks.length === 0 ? Result.succeed(state.now) : this.patched(section, state.now)
    return Result.map(after, (content) => {
      const isNew = state.before === undefined && state.letter === "A"
      if (target !== state) {
        const source = state.movedFrom ?? (state.before === undefined ? undefined : state.path)
        if (source !== undefined) target.movedFrom = source
        state.now = undefined
        state.letter = undefined
      }
      target.now = content
      target.letter = isNew || (target === state && state.letter === "A") ? "A" : "M"
    })
  }

  private patched(section: Patch.UpdateFile, content: Uint8Array): Planned<Uint8Array> {
    if (content.length > mostBytes || TextLines.count(content) > mostLines) return Result.fail(tooLarge(section))
    const read = TextLines.read(content)
    if (Result.isFailure(read)) return Result.fail(notText(section, read.failure))
    const file = read.success
    this.budget.left -= file.lines.length
    return Result.flatMap(this.places(section, file.lines), (places) => {
      const lines = rewritten(file.lines, places, this.options)
      const after = TextLines.write({ ...file, lines })
      return after.length > mostBytes || lines.length > mostLines
        ? Result.fail(tooLarge(section))
        : Result.succeed(after)
    })
  }

  private places(
    { hunks, path }: Patch.UpdateFile,
    lines: ReadonlyArray<TextLines.Line>
  ): Planned<ReadonlyArray<Placed>> {
    const patterns = hunks.flatMap((hunk) => [...hunk.anchors, ...Patch.oldLines(hunk).map(({ text }) => text)])
    const texts = lines.map(({ text }) => text)
    const index = LineIndex.make(texts, patterns, this.budget)
    const placed: Array<Placed> = []
    let position = 0
    for (const [at, hunk] of hunks.entries()) {
      const found = Locate.locate(index, hunk, { budget: this.budget, count: lines.length, position })
      if (Result.isFailure(found)) return Result.fail(lost(path, hunk, at + 1, found.failure))
      const { fuzz } = found.success
      if (fuzz !== undefined) this.fuzzy.push({ path, hunk: at + 1, line: found.success.at + 1, ignored: fuzz })
      placed.push({ ...found.success, hunk })
      position = found.success.at + found.success.length
    }
    return Result.succeed(placed)
  }

  private stateOf(path: string): State {
    const { bytes, id } = this.files.get(path) ?? { bytes: undefined, id: path }
    const known = this.states.get(id)
    if (known !== undefined) return known
    const state: State = { path, before: bytes, now: bytes, letter: undefined }
    this.states.set(id, state)
    return state
  }
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : one.length === other.length && one.every((byte, at) => byte === other[at])

// ---------------------------------------------------------------------------------------------------------------------
// Lines

interface Placed extends Locate.Located {
  readonly hunk: Patch.Hunk
}

/** Old lines stay as the file has them; a new line ends as the one it replaces, or as the one above it. */
const rewritten = (
  lines: ReadonlyArray<TextLines.Line>,
  places: ReadonlyArray<Placed>,
  { preserveTrailingNewline }: Options
): ReadonlyArray<TextLines.Line> => {
  const usual = TextLines.usualEnding(lines)
  const made: Array<TextLines.Line> = []
  const take = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const line = lines[at]
      if (line !== undefined) made.push(line)
    }
  }
  let next = 0
  for (const { at, hunk, length } of places) {
    take(next, at)
    next = at
    const gone: Array<TextLines.Ending> = []
    for (const { kind, text } of hunk.lines) {
      const isThere = next < at + length
      if (kind === "added") {
        const ending = gone.shift() ?? (made.at(-1) ?? lines[next])?.ending ?? usual
        made.push({ text, ending: ending === "" ? usual : ending })
      } else if (kind === "removed" && isThere) {
        gone.push(lines[next]?.ending ?? usual)
        next++
      } else if (isThere) {
        gone.length = 0
        take(next, next + 1)
        next++
      }
    }
  }
  take(next, lines.length)
  return ended(made, lines, usual, preserveTrailingNewline)
}

/** Every line but the last ends with a break, and the last one as that of the file did. */
const ended = (
  made: Array<TextLines.Line>,
  before: ReadonlyArray<TextLines.Line>,
  usual: TextLines.Ending,
  preserve: boolean
): ReadonlyArray<TextLines.Line> => {
  const old = before.at(-1)
  if (old === undefined || old.ending !== "") return made
  return made.map((line, at) => {
    if (at < made.length - 1) return line.ending === "" ? { ...line, ending: usual } : line
    return preserve || line === old
      ? { ...line, ending: "" }
      : { ...line, ending: line.ending === "" ? usual : line.ending }
  })
}

// ---------------------------------------------------------------------------------------------------------------------
// Refusals

type Where = Pick<Patch.Section, "line" | "path">

const refusal = (reason: PatchError["reason"], { line, path }: Where, detail: string) =>
  new PatchError({ reason, line, path, detail })

const notThere = (section: Where) =>
  refusal(
    "file_not_found",
    section,
    'There is no such file, or no longer at this point of the patch. To make one, use "*** Add File: <path>".'
  )

const tooLarge = (section: Where) =>
  refusal(
    "file_too_large",
    section,
    `Expected a file of at most ${mostBytes} bytes and ${mostLines} lines, before and after. Change larger ones in another way.`
  )

const notText = (section: Where, guess: string) =>
  refusal("not_text", section, `Expected text in UTF-8; found what seems to be ${guess}. Convert it first.`)

const emptied = (section: Where) =>
  refusal(
    "empty_content",
    section,
    "The file has a content, and the section has no lines. Give the lines, each with a + before it, or delete the file."
  )

const isTaken = ({ line, path }: Where, target: string) =>
  refusal(
    "target_exists",
    { line, path },
    `There is a file at ${JSON.stringify(target)} already. Delete it earlier in the patch, or choose another path.`
  )

const noChange = () =>
  new PatchError({
    reason: "no_change",
    detail: "Every file would stay as it is: the removed and the added lines are the same. Nothing was written."
  })

const lost = (path: string, { line }: Patch.Hunk, hunk: number, missing: Locate.Missing): PatchError => {
  const [reason, detail] = whyLost(missing)
  return new PatchError({ reason, path, line, hunk, detail: `${detail} Nothing was written.` })
}

const whyLost = (missing: Locate.Missing): readonly [PatchError["reason"], string] => {
  switch (missing._tag) {
    case "TooComplex":
      return ["too_complex", "Finding the place takes too long in files as large as these. Split the patch."]
    case "BehindPosition":
      return [
        "hunk_not_found",
        `The stated line is before line ${missing.position + 1}, where the hunk before ends. Put hunks in the order of the file.`
      ]
    case "Ambiguous": {
      const what = missing.header ? "The line of its @@ header is" : "Its old lines are"
      const times = missing.more ? `more than ${missing.lines.length}` : `${missing.lines.length}`
      const remedy = missing.header
        ? 'Put an "@@ <line>" header of what surrounds it above, or name another line.'
        : 'Add lines around them, or a header "@@ <line above>" or "@@ -<line>,<count> +<line>,<count> @@".'
      return ["ambiguous_hunk", `${what} in the file ${times} times: on lines ${missing.lines.join(", ")}. ${remedy}`]
    }
    case "NotFound":
      return ["hunk_not_found", whereNot(missing)]
  }
}

const whereNot = ({ before, header, nearest }: Extract<Locate.Missing, { _tag: "NotFound" }>): string => {
  const what = header ? "The line of its @@ header is" : "Its old lines are"
  if (before !== undefined) {
    return `${what} on line ${before}, but not where the order of the hunks, the header or the end of the file say. Put hunks in the order of the file, and correct the header.`
  }
  const near =
    nearest === undefined
      ? ""
      : ` From line ${nearest.at} of the file on ${nearest.agreeing} of them agree; line ${nearest.patchLine} of the patch is the first that does not.`
  return `${what} not in the file.${near} Read the file again, and copy the lines as they are, each with a space or - before it.`
}
