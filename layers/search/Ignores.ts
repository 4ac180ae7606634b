/**
 * The ignore files of a tree, read by the workspace and put into one list for the program that searches. Only regular files are
 * read: no pipe, and no link, as git does.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Scope from "effect/Scope"
import type { FileError } from "../../src/file/FileError.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import type * as Runner from "../../src/process/ProcessRunner.ts"
import type * as FileSearch from "../../src/search/FileSearch.ts"
import * as IgnoreRules from "../../src/search/IgnoreRules.ts"
import { SearchError } from "../../src/search/SearchError.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

/** Bytes of one ignore file; what is behind them is no rule. */
const mostBytes = 256 * 1024
/** Ignore files of one search; the rules of others do not count. */
const mostFiles = 2000
/** Bytes of their paths. */
const mostPaths = 1024 * 1024
/** UTF-16 units of all rules. */
const mostRules = 4 * 1024 * 1024
/** Files that are read at the same time. */
const readers = 8

type Made<A> = Effect.Effect<A, FileError | SearchError, Scope.Scope>

/** What lists the ignore files below the folder that is searched, but for what the rules of a file leave out. */
type List = (rules: string | undefined) => Effect.Effect<Runner.Command, FileError>

export const make = Effect.gen(function* () {
  const runner = yield* ProcessRunner
  const files = yield* FileSystem.FileSystem
  const folder = (yield* DataDirectory).file("search-rules")
  const remove = Effect.ignore(files.remove(folder, { recursive: true, force: true }))
  // What a process that was killed has left.
  yield* remove
  yield* Effect.addFinalizer(() => remove)

  /** A file with the rules, gone when the scope ends; undefined where there are none. */
  const kept = (ignoreFiles: ReadonlyArray<IgnoreRules.File>): Made<string | undefined> =>
    Effect.gen(function* () {
      const all = IgnoreRules.merged(ignoreFiles).join("\n")
      // Half a rule would be another one.
      const rules = all.length <= mostRules ? all : all.slice(0, all.lastIndexOf("\n", mostRules))
      if (rules === "") return undefined
      yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
      const path = yield* files.makeTempFileScoped({ directory: folder })
      yield* files.writeFileString(path, `${rules}\n`)
      return path
    }).pipe(
      Effect.catchTag("PlatformError", () =>
        Effect.fail(
          new SearchError({
            reason: "unavailable",
            detail:
              "What ignore files leave out cannot be written down in the data directory. Ask with include_ignored."
          })
        )
      )
    )

  const listed = Effect.fnUntraced(function* (command: Runner.Command) {
    const pieces: Array<Uint8Array> = []
    let bytes = 0
    yield* Effect.ignore(
      runner.run({
        ...command,
        take: (stream, piece) => {
          if (stream !== "stdout") return true
          pieces.push(piece.slice())
          bytes += piece.length
          return bytes <= mostPaths
        }
      })
    )
    // The last is empty, or was cut off.
    return Buffer.concat(pieces).toString().split("\0").slice(0, -1).slice(0, mostFiles)
  })

  /** The rules for a search of a folder. */
  const of = Effect.fnUntraced(function* (
    reading: Workspace.Reading,
    { recursive }: FileSearch.Request,
    { absolute, relative }: Workspace.Place,
    list: List
  ): Effect.fn.Return<string | undefined, FileError | SearchError, Scope.Scope> {
    const above = yield* read(reading, relative === null ? inFolder(absolute) : upTo(relative))
    const first = yield* kept(above)
    if (!recursive) return first
    const known = new Set(above.map(pathOf))
    const paths = (yield* listed(yield* list(first))).map((path) => path.replace(/^\.\//, ""))
    const below = yield* read(
      reading,
      paths.filter((path) => !known.has(path))
    )
    return below.length === 0 ? first : yield* kept([...above, ...below])
  })
  return { of }
})

const inFolder = (folder: string): ReadonlyArray<string> =>
  IgnoreRules.names.map((name) => (folder === "" ? name : `${folder}/${name}`))

/** Those of a folder, and of the folders above it up to the root. The program would look for them up to the top of all files. */
const upTo = (relative: string): ReadonlyArray<string> => {
  const names = relative === "." ? [] : relative.split("/")
  return [...names.map((_, depth) => names.slice(0, depth).join("/")), names.join("/")].flatMap(inFolder)
}

const pathOf = ({ folder, name }: IgnoreRules.File): string => (folder === "" ? name : `${folder}/${name}`)

/** Those that are regular files, and can be read. */
const read = Effect.fnUntraced(function* (reading: Workspace.Reading, paths: ReadonlyArray<string>) {
  const found = yield* Effect.forEach(
    paths,
    (path) =>
      reading.read(path, { most: mostBytes }).pipe(
        Effect.map(({ bytes, info: { place } }) => {
          const isItself = path === (place.relative ?? place.absolute)
          return isItself ? [fileOf(path, new TextDecoder().decode(bytes))] : []
        }),
        Effect.orElseSucceed(() => [])
      ),
    { concurrency: readers }
  )
  return found.flat()
})

const fileOf = (path: string, text: string): IgnoreRules.File => {
  const end = path.lastIndexOf("/")
  return { folder: path.slice(0, Math.max(0, end)), name: path.slice(end + 1), text }
}
