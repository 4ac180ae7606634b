/**
 * What a search has found so far. It is told the program's outputs piece by piece, keeps no more than one answer holds, and says
 * when that is enough.
 */
import * as Option from "effect/Option"
import * as Excerpt from "./Excerpt.ts"
import type * as FileSearch from "./FileSearch.ts"
import * as Lines from "./Lines.ts"
import * as Messages from "./Messages.ts"

/** A line of a file, as far as it is shown. */
export interface Line {
  readonly number: number
  /** Where `text` begins in the file, in bytes of UTF-8, a mark at its beginning not counted. */
  readonly offset: number
  readonly text: string
  readonly isCut: boolean
  /** Of the first character that matches, from 1; undefined for a line that is only around a match. */
  readonly column: number | undefined
}

/** The lines of a file, by their number. */
export interface File {
  /** As the program named it. */
  readonly path: string
  readonly lines: ReadonlyArray<Line>
}

export interface Findings {
  /** False when it is enough. */
  readonly push: (stream: "stdout" | "stderr", piece: Uint8Array) => boolean
  readonly files: () => ReadonlyArray<File>
  readonly skip: (reason: FileSearch.Reason, path: string) => void
  readonly skipped: () => ReadonlyArray<FileSearch.Skipped>
  readonly stopped: () => "matches" | "text" | undefined
  /** Files that were looked through, when the program has come to its end. */
  readonly scanned: () => number | undefined
  /** The beginning of what it complained of. */
  readonly complaint: () => string
}

/** Bytes of one message; a line of a file that does not fit into one is left out with its file. */
const mostOfMessage = 256 * 1024
/** Bytes of a line on standard error. */
const mostOfComplaint = 4096
/** UTF-16 units of complaints that are kept. */
const mostComplaints = 2000
/** UTF-16 units of lines in one answer. */
const mostText = 60_000
/** Paths that are named for one reason. */
const mostExamples = 5

/** `most`: lines that match, at most. */
export const make = (most: number): Findings => {
  const files: Array<File> = []
  const left = skips()
  let open = opened("")
  let matches = 0
  let text = 0
  let stopped: "matches" | "text" | undefined
  let scanned: number | undefined
  let complaint = ""

  const take = (line: Messages.Line): void => {
    const { lines } = line.data
    // A line that cannot be shown makes all of its file one.
    if (lines.text === undefined) open.problem ??= "not_text"
    if (lines.text === undefined || open.problem !== undefined || text > mostText) return
    const kept = lineOf(line, lines.text)
    text += kept.text.length
    open.lines.push(kept)
  }

  const close = (path: string, isBinary: boolean): void => {
    const problem = isBinary ? "not_text" : open.problem
    const { lines } = open
    open = opened("")
    if (problem !== undefined) {
      text -= lines.reduce((sum, line) => sum + line.text.length, 0)
      return left.add(problem, path)
    }
    files.push({ path, lines })
    matches += lines.filter(({ column }) => column !== undefined).length
    if (matches > most) stopped = "matches"
    else if (text > mostText) stopped = "text"
  }

  const out = Lines.make(mostOfMessage, (written, isCut) => {
    if (stopped !== undefined) return
    if (isCut) {
      open.problem ??= "long_line"
      return
    }
    const message = Option.getOrUndefined(Messages.read(written))
    if (message === undefined) return
    if (message.type === "summary") scanned = message.data.stats.searches
    else if (message.type === "begin") open = opened(message.data.path.text ?? "")
    else if (message.type === "end") close(open.path, message.data.binary_offset !== null)
    else take(message)
  })

  const err = Lines.make(mostOfComplaint, (line) => {
    if (/^(?:rg: )?DEBUG\|/.test(line)) {
      const tooLarge = line.endsWith(" bytes") ? / ignoring (.*): \d+ bytes$/.exec(line)?.[1] : undefined
      if (tooLarge !== undefined) left.add("too_large", tooLarge)
      return
    }
    const unreadable = /^(?:rg: )?(.*?): .*\(os error \d+\)$/.exec(line)?.[1]
    if (unreadable !== undefined) left.add("unreadable", unreadable)
    else if (complaint.length < mostComplaints) complaint += `${line}\n`
  })

  return {
    push: (stream, piece) => {
      if (stream === "stdout") out.push(piece)
      else err.push(piece)
      return stopped === undefined
    },
    files: () => files,
    skip: left.add,
    skipped: left.all,
    stopped: () => stopped,
    scanned: () => scanned,
    complaint: () => complaint
  }
}

/** The file that the program tells of. */
interface Opened {
  readonly path: string
  readonly lines: Array<Line>
  problem: FileSearch.Reason | undefined
}

const opened = (path: string): Opened => ({ path, lines: [], problem: undefined })

const lineOf = (line: Messages.Line, written: string): Line => {
  const whole = written.replace(/\r?\n$/, "")
  const start = line.type === "match" ? unitsIn(whole, Messages.firstStart(line)) : 0
  const { isCut, skipped, text } = Excerpt.of(whole, start)
  return {
    number: line.data.line_number,
    offset: line.data.absolute_offset + skipped,
    text,
    isCut,
    column: line.type === "match" ? charactersIn(whole.slice(0, start)) + 1 : undefined
  }
}

const charactersIn = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** How many UTF-16 units the first bytes of a text are. */
const unitsIn = (text: string, bytes: number): number =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text).subarray(0, bytes)).length

/** Files that were left out, by reason. */
const skips = () => {
  const all = new Map<FileSearch.Reason, { count: number; readonly examples: Array<string> }>()
  return {
    add: (reason: FileSearch.Reason, path: string): void => {
      const one = all.get(reason) ?? { count: 0, examples: [] }
      one.count++
      if (one.examples.length < mostExamples) one.examples.push(path.replace(/^\.\//, ""))
      all.set(reason, one)
    },
    all: (): ReadonlyArray<FileSearch.Skipped> => Array.from(all, ([reason, one]) => ({ reason, ...one }))
  }
}
