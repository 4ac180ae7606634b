/** Searches managed files by ripgrep: started for each search, ended as soon as there is enough, and read back by the workspace. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Order from "effect/Order"
import * as Workspace from "../../src/file/Workspace.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import type * as Runner from "../../src/process/ProcessRunner.ts"
import * as FileSearch from "../../src/search/FileSearch.ts"
import * as Findings from "../../src/search/Findings.ts"
import * as Pattern from "../../src/search/Pattern.ts"
import * as Ripgrep from "../../src/search/Ripgrep.ts"
import { SearchError } from "../../src/search/SearchError.ts"
import * as SearchMetrics from "../../src/search/SearchMetrics.ts"
import { Grants } from "../../src/tool/Capability.ts"
import * as Checking from "./Checking.ts"
import * as Engines from "./Engines.ts"
import * as Ignores from "./Ignores.ts"

/** How long is searched: less than a tool may take, so that what was found is told. */
const longest = "20 seconds" as const

/** How long ignore files are looked for, before that. */
const longestList = "5 seconds" as const

/** Files that are read back at the same time. */
const readers = 8

export const make = Effect.gen(function* () {
  const runner = yield* ProcessRunner
  const engines = yield* Engines.make
  const ignores = yield* Ignores.make

  const search = (reading: Workspace.Reading) =>
    Effect.fn("FileSearch.search")(function* (request: FileSearch.Request) {
      yield* Effect.fromResult(Pattern.judge(request.pattern))
      const { bytes, kind, place } = yield* reading.info(request.path)
      if (kind === "file" && bytes > request.maxFileBytes) return tooLarge(place)
      const engine = yield* engines.pick
      yield* Effect.annotateCurrentSpan({ engine: engine.name })
      const findings = Findings.make(request.maxMatches)
      const path = place.relative === null ? place.absolute : `./${place.relative === "." ? "" : place.relative}`
      const list = (rules: string | undefined) =>
        commandOf(engine, reading, Ripgrep.ignoreFileArgs(request.hidden, { path, rules }), longestList)
      // A file that is named is searched, whatever the rules say.
      const rules = request.ignored || kind === "file" ? undefined : yield* ignores.of(reading, request, place, list)
      const command = yield* commandOf(engine, reading, Ripgrep.args(request, { path, rules }), longest)
      const [took, cause] = yield* Effect.timed(
        runner.run({ ...command, take: findings.push }).pipe(
          Effect.mapError(({ message }) => new SearchError({ reason: "unavailable", detail: message })),
          Effect.flatMap((ended) => judge(ended, findings)),
          Effect.tapError(() => SearchMetrics.failed(engine.name))
        )
      )
      const stopped = findings.stopped() ?? (cause === "timeout" ? ("time" as const) : undefined)
      yield* SearchMetrics.ended(engine.name, stopped ?? "whole", took)
      const matches = yield* readBack(reading, request, findings)
      return {
        place,
        matches: matches.map(({ match }) => match),
        scanned: stopped === undefined && engine.version >= Ripgrep.countsAllFrom ? findings.scanned() : undefined,
        skipped: findings.skipped(),
        stopped,
        cutLines: matches.filter(({ isCut }) => isCut).length
      } satisfies FileSearch.Found
    }, Effect.scoped)
  return { search }
})

const tooLarge = (place: Workspace.Place): FileSearch.Found => ({
  place,
  matches: [],
  scanned: 0,
  skipped: [{ reason: "too_large", count: 1, examples: [place.relative ?? place.absolute] }],
  stopped: undefined,
  cutLines: 0
})

/** What is to be run, in the root of the files. */
const commandOf = Effect.fnUntraced(function* (
  { env, prefix, program }: Engines.Engine,
  reading: Workspace.Reading,
  args: ReadonlyArray<string>,
  timeout: Duration.Input
) {
  return {
    program,
    args: [...prefix, ...args],
    cwd: yield* reading.root,
    env,
    limits: { timeout, maxOutputBytes: 0 }
  } satisfies Runner.Command
})

/** How the program ended, or why that is a failure. */
const judge = (
  { cause, exit }: Runner.Ended,
  findings: Findings.Findings
): Effect.Effect<Runner.Ended["cause"], SearchError> => {
  // It tells at its end how many files it looked through; what does not come to its end did not search.
  if (cause !== "exited" || findings.stopped() !== undefined || findings.scanned() !== undefined) {
    return Effect.succeed(cause)
  }
  const refused = Pattern.refusal(findings.complaint())
  if (refused !== undefined) return Effect.fail(refused)
  const how = exit._tag === "code" ? `code ${exit.code}` : exit._tag === "signal" ? exit.signal : "an unknown outcome"
  return Effect.fail(
    new SearchError({
      reason: "failed",
      detail: `The search ended with ${how} and no result. Try a simpler pattern or a smaller folder.`
    })
  )
}

interface Shown {
  readonly match: FileSearch.Match
  readonly isCut: boolean
}

/** The matches, in order, of files that are as they were found. */
const readBack = Effect.fnUntraced(function* (
  reading: Workspace.Reading,
  request: FileSearch.Request,
  findings: Findings.Findings
) {
  const found = yield* Effect.forEach(
    findings.files(),
    (file) =>
      Effect.map(Checking.placeOf(reading, file, request.maxFileBytes), (place) => {
        if (place !== undefined) return matchesIn(file, place, request)
        findings.skip("changed", file.path)
        return []
      }),
    { concurrency: readers }
  )
  return found.flat().toSorted(inOrder).slice(0, request.maxMatches)
})

const inOrder: Order.Order<Shown> = Order.combine(
  Order.mapInput(Order.String, ({ match }: Shown) => match.place.absolute),
  Order.mapInput(Order.Number, ({ match }: Shown) => match.line)
)

const matchesIn = (
  { lines }: Findings.File,
  place: Workspace.Place,
  { after, before }: FileSearch.Request
): ReadonlyArray<Shown> => {
  const byNumber = new Map(lines.map((line) => [line.number, line.text]))
  const texts = (from: number, to: number): ReadonlyArray<string> =>
    Array.from({ length: Math.max(0, to - from) }, (_, at) => byNumber.get(from + at)).filter(
      (text) => text !== undefined
    )
  return lines.flatMap(({ column, isCut, number: line, text }) =>
    column === undefined
      ? []
      : [
          {
            match: {
              place,
              line,
              column,
              text,
              before: texts(line - before, line),
              after: texts(line + 1, line + 1 + after)
            },
            isCut
          }
        ]
  )
}

/** Gives turns the capability to search the managed files. */
export const grant = Layer.effectDiscard(
  Effect.gen(function* () {
    const { reading } = yield* Workspace.Workspace
    const { register } = yield* Grants
    const { search } = yield* make
    yield* register(FileSearch.FsSearch, () => Effect.succeed({ search: search(reading) }))
  })
)
