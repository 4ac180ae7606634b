/** Makes the changes of a plan one after the other, and takes back what was made when one of them cannot be. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import { PatchError } from "../../src/patch/PatchError.ts"
import type { PatchedFiles } from "../../src/patch/PatchFiles.ts"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import * as Fingerprint from "../Fingerprint.ts"
import * as PatchSources from "./PatchSources.ts"

/** A change and what takes it back. Both rest on what must be there, so that nobody else's change is lost. */
interface Step<R> {
  readonly path: string
  readonly make: Effect.Effect<unknown, FileError, R>
  readonly takeBack: Effect.Effect<unknown, FileError, R>
  /** Removes the folders that it made on the way. */
  readonly tidy: Effect.Effect<void, never, R>
}

/**
 * A change is whole or not made; between two of them the time of the call may end, and what was made is taken back as after a failure.
 * `leave` is told of each path where that was not possible.
 */
export const make = Effect.fnUntraced(function* <R>(
  files: PatchedFiles<R>,
  changes: ReadonlyArray<PatchPlan.Change>,
  sources: PatchSources.Sources,
  leave: (path: string) => void
): Effect.fn.Return<void, PatchError | FileError, R> {
  yield* Effect.forEach(changes.filter(removes), ({ path }) => isNoLink(files.reading, path, sources), {
    discard: true
  })
  // What goes, goes last: until then, all of it is somewhere.
  const ordered = [...changes.filter((change) => !removes(change)), ...changes.filter(removes)]
  const steps = yield* Effect.forEach(ordered, (change) => stepOf(files, change, sources))
  yield* all(steps, leave)
})

const removes = ({ after }: PatchPlan.Change): boolean => after === undefined

const all = <R>(steps: ReadonlyArray<Step<R>>, leave: (path: string) => void): Effect.Effect<void, PatchError, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* (): Effect.fn.Return<void, PatchError, R> {
      const made: Array<Step<R>> = []
      for (const step of steps) {
        const exit = yield* Effect.exit(Effect.andThen(restore(Effect.yieldNow), step.make))
        if (Exit.isSuccess(exit)) {
          made.push(step)
          continue
        }
        yield* step.tidy
        const left = yield* takenBack(made, leave)
        return yield* Effect.mapError(Effect.asVoid(exit), (error) => refused(step.path, error, left))
      }
    })
  )

/** Gives the paths that could not be put back. */
const takenBack = Effect.fnUntraced(function* <R>(made: ReadonlyArray<Step<R>>, leave: (path: string) => void) {
  const left: Array<string> = []
  for (const { path, takeBack, tidy } of made.toReversed()) {
    const exit = yield* Effect.exit(Effect.andThen(takeBack, tidy))
    if (Exit.isSuccess(exit)) continue
    leave(path)
    left.push(path)
  }
  return left
})

const stepOf = Effect.fnUntraced(function* <R>(
  { reading, writing }: PatchedFiles<R>,
  { after, before, movedFrom, path }: PatchPlan.Change,
  sources: PatchSources.Sources
): Effect.fn.Return<Step<R>, FileError> {
  const put = (content: Uint8Array, expected: NonNullable<Workspace.WriteOptions["expected"]>, mode?: number) =>
    writing.write(path, content, {
      overwrite: expected !== "absent",
      most: content.length,
      expected,
      ...(mode === undefined ? {} : { mode })
    })
  const remove = (content: Uint8Array) =>
    writing.remove(path, { kinds: ["file"], recursive: false, expected: hashOf(content) })
  const modeOf = (from: string) => sources.get(from)?.mode
  if (after === undefined) {
    const content = before ?? new Uint8Array()
    return { path, make: remove(content), takeBack: put(content, "absent", modeOf(path)), tidy: Effect.void }
  }
  if (before !== undefined) {
    return { path, make: put(after, hashOf(before)), takeBack: put(before, hashOf(after)), tidy: Effect.void }
  }
  const folders = yield* missingAbove(reading, path)
  return {
    path,
    make: put(after, "absent", movedFrom === undefined ? undefined : modeOf(movedFrom)),
    takeBack: remove(after),
    tidy: Effect.forEach(
      folders,
      (folder) => Effect.ignore(writing.remove(folder, { kinds: ["folder"], recursive: false })),
      { discard: true }
    )
  }
})

const hashOf = (content: Uint8Array) => ({ sha256: Fingerprint.ofBytes(content) })

/** Folders that a new file needs and that are not there, the deepest first. */
const missingAbove = Effect.fnUntraced(function* (reading: Workspace.Reading, path: string) {
  const { absolute, names } = yield* Effect.fromResult(FilePath.parse(path))
  const missing: Array<string> = []
  for (let depth = names.length - 1; depth > 0; depth--) {
    const folder = `${absolute ? "/" : ""}${names.slice(0, depth).join("/")}`
    const isThere = yield* reading.info(folder).pipe(
      Effect.as(true),
      Effect.catchIf(PatchSources.isAbsent, () => Effect.succeed(false))
    )
    if (isThere) break
    missing.push(folder)
  }
  return missing
})

/** Whether the path leads to its file by its own name. A link would go, and its file stay. */
const isNoLink = Effect.fnUntraced(function* (
  reading: Workspace.Reading,
  path: string,
  sources: PatchSources.Sources
): Effect.fn.Return<void, PatchError | FileError> {
  const { absolute, names } = yield* Effect.fromResult(FilePath.parse(path))
  const above = yield* reading.info(`${absolute ? "/" : ""}${names.slice(0, -1).join("/")}` || ".")
  const itself = `${above.place.absolute}/${names.at(-1) ?? ""}`
  if (FilePath.looks(itself) !== FilePath.looks(sources.get(path)?.id ?? "")) return yield* isLink(path)
})

const isLink = (path: string) =>
  new PatchError({
    reason: "is_link",
    path,
    detail: "It is a link, so deleting or moving it would leave its file in place. Name the file it leads to."
  })

const refused = (path: string, { code, detail }: FileError, left: ReadonlyArray<string>) =>
  new PatchError({
    reason: left.length === 0 ? "write_failed" : "not_restored",
    path,
    cause: code,
    left,
    detail:
      left.length === 0
        ? `${detail} Nothing of the patch is left: the files changed before it were put back.`
        : `${detail} These were changed before it and could not be put back: ${left.join(", ")}. Look at them before anything else.`
  })
