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
const piece = 512

/** Folders that are looked into at the same time: most of the time of a walk goes by waiting for the system. */
const readers = 4

/** Folders that are taken from those that wait at once; deep ones before their siblings, so that few wait. */
const batch = 32

/** The folder that a walk began in, held while it goes on. */
interface Start {
  readonly asked: string
  readonly folder: Folder
  readonly place: Workspace.Place
}

/** See `Reading.walk`. Folders wait by their path, so that a deep or wide tree holds no more than a few of them open. */
export const walk = (
  root: Walk.Root,
  asked: string,
  { enter = () => true }: Workspace.WalkOptions,
  shows: (name: string) => boolean = (name) => !FilePath.isUnfinished(name)
): Stream.Stream<Workspace.Walked, FileError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      // The first folder may be named through a link; those below it are entered as they are.
      const spot = yield* Walk.find(root, asked, { follow: true })
      const start: Start = { asked, folder: yield* Walk.enter(root, spot), place: spot.place }
      const waiting: Array<string> = []
      const below = (path: string): Stream.Stream<Workspace.Walked, FileError> =>
        Stream.map(contents(root, start, path, shows), (found) => {
          if (found.kind === "folder" && enter(found.below)) waiting.push(found.below)
          return found
        })
      const others = Stream.unfold(undefined, () =>
        Effect.sync(() => {
          const next = waiting.splice(-batch)
          return next.length === 0 ? undefined : ([next, undefined] as const)
        })
      ).pipe(
        Stream.flatMap((paths) =>
          Stream.flatMap(
            Stream.fromIterable(paths),
            // A folder that may not be read, or has gone, is left out: the others are wanted all the same.
            (path) => Stream.catch(below(path), () => Stream.empty),
            { concurrency: readers }
          )
        )
      )
      return Stream.concat(below(""), others)
    })
  )

const namesOf = (below: string): ReadonlyArray<string> => (below === "" ? [] : below.split("/"))

/** The folder at a path below the start, no link followed on the way. Only what the walk itself has found is asked for. */
const enterBelow = Effect.fnUntraced(function* (holding: Walk.Root["holding"], start: Start, below: string) {
  let folder = start.folder
  for (const name of namesOf(below)) {
    const above = folder
    folder = yield* holding
      .enter(above, name)
      .pipe(Effect.ensuring(above === start.folder ? Effect.void : above.close), Effect.uninterruptible)
  }
  return folder
}, Effect.uninterruptible)

/** What is in one folder of the tree. */
const contents = (
  root: Walk.Root,
  start: Start,
  below: string,
  shows: (name: string) => boolean
): Stream.Stream<Workspace.Walked, FileError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { asked } = start
      const place = namesOf(below).reduce(Walk.placeIn, start.place)
      const folder =
        below === ""
          ? start.folder
          : yield* about(asked)(
              Effect.acquireRelease(enterBelow(root.holding, start, below), (entered) => entered.close)
            )
      const opened = yield* about(asked)(
        Effect.acquireRelease(NodeFiles.openFolder(folder.self), NodeFiles.closeFolder)
      )
      const found = (name: string, kind: Workspace.Walked["kind"], at: Workspace.Place): Workspace.Walked => ({
        below: below === "" ? name : `${below}/${name}`,
        place: at,
        kind
      })
      const see = Effect.fnUntraced(function* (name: string, known: Workspace.Entry["kind"] | undefined) {
        const kind = known ?? (yield* kindIn(folder, name))
        if (kind === "file" || kind === "folder") return found(name, kind, Walk.placeIn(place, name))
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
              ? found(entry.name, kind, Walk.placeIn(place, entry.name))
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
