/**
 * Where in a file a hunk belongs. There is one place or none: what could be meant twice is refused. Pure.
 *
 * Lines are looked for behind the hunk before, strictly first and more loosely then. Below a header that names a line, the first
 * place counts that is the same exactly, since that is what the header is for; a header with line numbers allows three lines more or less.
 */
import * as Result from "effect/Result"
import * as LineIndex from "./LineIndex.ts"
import * as Patch from "./Patch.ts"

export type Fuzz = Exclude<LineIndex.Level, "exact"> | "trailing_blank_line"

/** Line `at`, from 0, and how many old lines are there. */
export interface Located {
  readonly at: number
  readonly length: number
  readonly fuzz?: Fuzz
}

/** What was looked for, as far as it stands in the patch. Lines of the file count from 1 here. */
export type Missing =
  | {
      readonly _tag: "Ambiguous"
      readonly header: boolean
      readonly lines: ReadonlyArray<number>
      readonly more: boolean
    }
  | { readonly _tag: "NotFound"; readonly header: boolean; readonly nearest?: Nearest; readonly before?: number }
  | { readonly _tag: "BehindPosition"; readonly position: number }
  | { readonly _tag: "TooComplex" }

/** The place where most of the lines agree: how many of them, and which line of the patch is the first that does not. */
export interface Nearest {
  readonly at: number
  readonly agreeing: number
  readonly patchLine: number
}

/** So many lines around the stated one. */
const tolerance = 3
/** So many places are named. */
const mostNamed = 10
/** So many places are looked at for the nearest one. */
const mostTried = 50

type Found = Result.Result<Located, Missing>

/** `position`: the first line behind the hunk before, from 0; `count` of lines of the file. */
export const locate = (
  index: LineIndex.LineIndex,
  hunk: Patch.Hunk,
  { budget, count, position }: { readonly budget: LineIndex.Budget; readonly count: number; readonly position: number }
): Found => {
  const found = Result.flatMap(below(index, hunk.anchors, position, count), (start) => {
    const old = Patch.oldLines(hunk)
    if (old.length === 0) return inserted(hunk, start, position, count)
    const whole = search(index, hunk, old, start, count)
    const dropped = old.at(-1)?.text.trim() === "" ? old.slice(0, -1) : []
    if (dropped.length === 0 || !isNotFound(whole)) return whole
    const rest = search(index, hunk, dropped, start, count)
    return isNotFound(rest)
      ? whole
      : Result.map(rest, (located) => ({ ...located, fuzz: located.fuzz ?? trailingBlank }))
  })
  return budget.left < 0 ? Result.fail({ _tag: "TooComplex" }) : found
}

const trailingBlank = "trailing_blank_line"

const isNotFound = (found: Found): boolean => Result.isFailure(found) && found.failure._tag === "NotFound"

/** Where the headers of a hunk lead. `next`: the line behind the last one. */
interface Start {
  readonly from: number
  readonly next: number
  readonly anchored: boolean
  readonly fuzz?: Fuzz
}

/** The outermost line must be there once. Those below are looked for from the one before. */
const below = (
  index: LineIndex.LineIndex,
  anchors: ReadonlyArray<string>,
  position: number,
  count: number
): Result.Result<Start, Missing> => {
  let start: Start = { from: position, next: position, anchored: false }
  for (const anchor of anchors) {
    const found = search(
      index,
      noPlace,
      [{ kind: "context", text: anchor, line: 0 }],
      { ...start, from: start.next },
      count
    )
    if (Result.isFailure(found)) return Result.fail(ofHeader(found.failure))
    const { at, fuzz = start.fuzz } = found.success
    start = { from: at, next: at + 1, anchored: true, ...(fuzz === undefined ? {} : { fuzz }) }
  }
  return Result.succeed(start)
}

const noPlace = { endOfFile: false }

const ofHeader = (missing: Missing): Missing =>
  missing._tag === "Ambiguous" || missing._tag === "NotFound" ? { ...missing, header: true } : missing

/** A hunk that only adds goes where its header says: behind it, at the end, or where the hunk before ended. */
const inserted = ({ endOfFile, range }: Patch.Hunk, start: Start, position: number, count: number): Found => {
  if (endOfFile) return Result.succeed({ at: count, length: 0 })
  if (range === undefined) return Result.succeed({ at: start.next, length: 0, ...fuzzOf(start.fuzz) })
  const at = Math.min(range.count === 0 ? range.start : Math.max(0, range.start - 1), count)
  return at < position ? Result.fail({ _tag: "BehindPosition", position }) : Result.succeed({ at, length: 0 })
}

const search = (
  index: LineIndex.LineIndex,
  { endOfFile, range }: Pick<Patch.Hunk, "endOfFile" | "range">,
  old: ReadonlyArray<Patch.HunkLine>,
  start: Start,
  count: number
): Found => {
  const wanted = old.map(({ text }) => text)
  const last = count - wanted.length
  const stated = range === undefined ? undefined : Math.max(0, range.start - 1)
  const from = Math.max(start.from, endOfFile ? last : 0, stated === undefined ? 0 : stated - tolerance)
  const to = Math.min(last, stated === undefined ? last : stated + tolerance)
  for (const level of LineIndex.levels) {
    const places = index.find(level, wanted, { from, to }, mostNamed + 1)
    const fuzz = level === "exact" ? start.fuzz : level
    const isSure = places.length === 1 || (start.anchored && level === "exact" && stated === undefined)
    const at = stated !== undefined && places.includes(stated) ? stated : isSure ? places[0] : undefined
    if (at !== undefined) return Result.succeed({ at, length: wanted.length, ...fuzzOf(fuzz) })
    if (places.length > 0) return Result.fail(ambiguous(places))
  }
  return Result.fail(notFound(index, old, wanted, start.from, last))
}

const fuzzOf = (fuzz: Fuzz | undefined) => (fuzz === undefined ? {} : { fuzz })

const ambiguous = (places: ReadonlyArray<number>): Missing => ({
  _tag: "Ambiguous",
  header: false,
  lines: places.slice(0, mostNamed).map((at) => at + 1),
  more: places.length > mostNamed
})

const loosest = "typography"

/** Says where it would have been, had it been looked for there, and else where most of it is. */
const notFound = (
  index: LineIndex.LineIndex,
  old: ReadonlyArray<Patch.HunkLine>,
  wanted: ReadonlyArray<string>,
  from: number,
  last: number
): Missing => {
  const [elsewhere] = index.find(loosest, wanted, { from: 0, to: last }, 1)
  if (elsewhere !== undefined) return { _tag: "NotFound", header: false, before: elsewhere + 1 }
  const first = index.find(loosest, wanted.slice(0, 1), { from, to: Number.MAX_SAFE_INTEGER }, mostTried)
  let nearest: Nearest | undefined
  for (const at of first) {
    const agreeing = index.agreeing(loosest, wanted, at)
    const patchLine = old[agreeing]?.line ?? 0
    if (agreeing > (nearest?.agreeing ?? 0)) nearest = { at: at + 1, agreeing, patchLine }
  }
  return { _tag: "NotFound", header: false, ...(nearest === undefined ? {} : { nearest }) }
}
