/** Going through folders and what is below them, piece by piece: what was found is passed on before the rest is looked for. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type { Folder } from "./Folder.ts"
import * as NodeFiles from "./NodeFiles.ts"
import { about } from "./Refusals.ts"
import * as Walk from "./Walk.ts"

/** Entries that are passed on together. */
const piece = 128

/** See `Reading.walk`. Folders wait by their path, so that a deep or wide tree holds no more than one of them open. */
export const walk = (
  root: Walk.Root,
  asked: string,
  { enter = () => true }: Workspace.WalkOptions,
  shows: (name: string) => boolean = (name) => !FilePath.isUnfinished(name)
): Stream.Stream<Workspace.Walked, FileError> =>
  Stream.suspend(() => {
    const waiting: Array<string> = []
    const below = (path: string): Stream.Stream<Workspace.Walked, FileError> =>
      Stream.map(contents(root, asked, path, shows), (found) => {
        if (found.kind === "folder" && enter(found.below)) waiting.push(found.below)
        return found
      })
    const others = Stream.unfold(undefined, () =>
      Effect.sync(() => {
        const next = waiting.pop()
        return next === undefined ? undefined : ([next, undefined] as const)
      })
    ).pipe(
      // A folder that may not be read, or has gone, is left out: the others are wanted all the same.
      Stream.flatMap((path) => Stream.catch(below(path), () => Stream.empty))
    )
    return Stream.concat(below(""), others)
  })

/** What is in one folder of the tree. */
const contents = (
  root: Walk.Root,
  asked: string,
  below: string,
  shows: (name: string) => boolean
): Stream.Stream<Workspace.Walked, FileError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      // The first folder may be named through a link; those below it are entered as they are.
      const spot = yield* Walk.find(root, below === "" ? asked : `${asked}/${below}`, { follow: below === "" })
      const folder = yield* Walk.enter(root, spot)
      const opened = yield* about(asked)(
        Effect.acquireRelease(NodeFiles.openFolder(folder.self), NodeFiles.closeFolder)
      )
      const found = (name: string, kind: Workspace.Walked["kind"], place: Workspace.Place): Workspace.Walked => ({
        below: below === "" ? name : `${below}/${name}`,
        place,
        kind
      })
      const see = Effect.fnUntraced(function* (name: string, known: Workspace.Entry["kind"] | undefined) {
        const kind = known ?? (yield* kindIn(folder, name))
        if (kind === "file" || kind === "folder") return found(name, kind, Walk.placeIn(spot.place, name))
        const target = kind === "link" ? yield* fileBehind(root, `${asked}/${below}/${name}`) : undefined
        return target === undefined ? undefined : found(name, "file", target)
      })
      const seen = Effect.fnUntraced(function* (entries: ReadonlyArray<NodeFiles.Entry>) {
        const all: Array<Workspace.Walked> = []
        for (const entry of entries) {
          if (!shows(entry.name)) continue
          const kind = kindOf(entry)
          // What most entries are is known with their name; an effect for each of many would cost more than all the rest.
          const walked =
            kind === "file" || kind === "folder"
              ? found(entry.name, kind, Walk.placeIn(spot.place, entry.name))
              : yield* see(entry.name, kind)
          if (walked !== undefined) all.push(walked)
        }
        return all
      })
      return Stream.unfold(undefined, () =>
        Effect.map(about(asked)(NodeFiles.nextOf(opened, piece)), (entries) =>
          entries.length === 0 ? undefined : ([entries, undefined] as const)
        )
      ).pipe(Stream.mapEffect(seen), Stream.flattenIterable)
    })
  )

interface Typed {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
  readonly isSymbolicLink: () => boolean
  readonly isFIFO: () => boolean
  readonly isSocket: () => boolean
  readonly isBlockDevice: () => boolean
  readonly isCharacterDevice: () => boolean
}

/** Undefined where the file system does not say it with the name. */
const kindOf = (entry: Typed): Workspace.Entry["kind"] | undefined => {
  if (entry.isFile()) return "file"
  if (entry.isDirectory()) return "folder"
  if (entry.isSymbolicLink()) return "link"
  const isKnown = entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()
  return isKnown ? "other" : undefined
}

const kindIn = (folder: Folder, name: string) =>
  Effect.map(Effect.option(NodeFiles.statInPlace(folder.at(name))), (stats) =>
    Option.getOrElse(
      Option.map(stats, (found) => kindOf(found) ?? ("other" as const)),
      () => "other" as const
    )
  )

/** Where a link leads, when that is a regular file inside. */
const fileBehind = (root: Walk.Root, path: string) =>
  Walk.find(root, path, { follow: true }).pipe(
    Effect.map(({ place, stats }) => (stats?.isFile() === true ? place : undefined)),
    Effect.orElseSucceed(() => undefined),
    Effect.scoped
  )
