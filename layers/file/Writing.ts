/**
 * Changing files. A content is written aside, in the same folder, flushed to the disk and then put in its place, so that whoever
 * looks sees the old file or the new one, also when the process or the machine ends meanwhile.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import * as Aside from "./Aside.ts"
import * as Changes from "./Changes.ts"
import type * as Leftovers from "./Leftovers.ts"
import * as NodeFiles from "./NodeFiles.ts"
import type * as Quota from "./Quota.ts"
import * as Reading from "./Reading.ts"
import { about } from "./Refusals.ts"
import * as Removing from "./Removing.ts"
import * as States from "./States.ts"
import * as Walk from "./Walk.ts"

export interface Options extends Changes.Setting {
  /** One change at a time: what a change rests on must still hold when it is made. */
  readonly turn: Semaphore.Semaphore
  readonly leftovers: Leftovers.Beside
  /** What agents may still keep here. What the runtime writes on its own has limits of its own. */
  readonly quota?: Quota.Quota | undefined
}

export const make = (options: Options): Workspace.Writing<never> => {
  const { root, turn } = options
  const alone = turn.withPermits(1)
  const quota = options.author._tag === "Call" ? options.quota : undefined

  const makeOne = (spot: Walk.Named): Effect.Effect<void, FileError> => {
    const mode = root.ownerOnly ? 0o700 : 0o777
    return Changes.make(options, {
      action: "make-folder",
      spots: [spot],
      commit: about(spot.asked)(NodeFiles.makeFolder(spot.folder.at(spot.name), mode)),
      after: stateNow(root, spot)
    }).pipe(
      // Somebody else made it meanwhile.
      Effect.catchIf(
        ({ reason }) => reason === "already_exists",
        () => Effect.void
      )
    )
  }

  /** Where a path leads, in a folder that is there or made. */
  const findForWriting = Effect.fnUntraced(function* (
    path: string
  ): Effect.fn.Return<Walk.Named, FileError, Scope.Scope> {
    const { asked } = yield* Effect.fromResult(FilePath.parse(path))
    if (FilePath.endsAsFolder(asked)) return yield* endsAsFolder(asked)
    return yield* Walk.named(yield* Walk.find(root, path, { follow: true, make: makeOne }))
  })

  const writeScoped = Effect.fnUntraced(function* <E, R>(
    path: string,
    content: Stream.Stream<Uint8Array, E, R>,
    wanted: Workspace.WriteOptions
  ): Effect.fn.Return<Workspace.Written, FileError | E, R | Scope.Scope> {
    const target = yield* findForWriting(path)
    // Refused before the content is written, and looked at once more after that, which may have taken its time.
    if (target.stats !== undefined) yield* fileOnly(target)
    const isNew = target.stats === undefined
    const mode = root.ownerOnly || !isNew ? 0o600 : 0o666
    // What lies outside is no managed file.
    const limit = target.place.relative === null ? undefined : quota
    const room = limit === undefined ? wanted.most : (yield* limit.room(wanted.most)) + sizeOf(target)
    const most = Math.min(wanted.most, room)
    const aside = yield* Aside.write({ asked: path, folder: target.folder, mode, most }, content).pipe(
      Effect.mapError((error) =>
        limit !== undefined && most < wanted.most && isTooLarge(error) ? limit.refusal(path) : error
      )
    )
    if (!root.ownerOnly || target.place.relative === null) yield* options.leftovers(target.place, aside)
    return yield* alone(
      Effect.gen(function* () {
        const spot = yield* Walk.lookAgain(target)
        const added = aside.bytes - sizeOf(spot)
        if (limit !== undefined && added > 0 && added > (yield* limit.room(added))) return yield* limit.refusal(path)
        const written = { place: spot.place, bytes: aside.bytes, sha256: aside.sha256 }
        const isMode = wanted.mode === undefined || spot.stats === undefined || modeOf(spot.stats) === wanted.mode
        if (isMode && (yield* holdsAlready(root, spot, aside))) return { ...written, change: "unchanged" as const }
        yield* isExpected(root, spot, wanted)
        if (spot.stats !== undefined) yield* about(path)(takeAfter(aside.fd, spot.stats))
        if (wanted.mode !== undefined) yield* about(path)(NodeFiles.setMode(aside.fd, wanted.mode))
        const put = spot.stats === undefined ? Aside.putNew : Aside.replace
        yield* Changes.make(options, {
          action: "write",
          spots: [spot],
          commit: about(path)(put(aside, spot.name)),
          after: stateNow(root, spot)
        })
        yield* options.quota?.changed(options.quota.countOf(spot.place, added)) ?? Effect.void
        return { ...written, change: spot.stats === undefined ? ("created" as const) : ("replaced" as const) }
      })
    )
  })

  const makeFolder = Effect.fn("Files.makeFolder")(function* (path: string, { mode }: { readonly mode?: number } = {}) {
    const spot = yield* Walk.find(root, path, { follow: true, make: makeOne })
    if (spot.stats === undefined) yield* makeOne(yield* Walk.named(spot))
    else if (!spot.stats.isDirectory()) return yield* notAFolder(path)
    if (mode !== undefined) {
      const { folder, name } = yield* Walk.named(spot)
      yield* about(path)(setFolderMode(folder.at(name), mode))
    }
    return spot.place
  }, Effect.scoped)

  const move = Effect.fn("Files.move")(function* (
    source: string,
    destination: string,
    { overwrite }: { readonly overwrite: boolean }
  ) {
    const from = yield* Walk.named(yield* Walk.find(root, source, { follow: false }))
    yield* movable(from)
    const target = yield* findForWriting(destination)
    return yield* alone(
      Effect.gen(function* () {
        const to = yield* Walk.lookAgain(target)
        const moved = { source: from.place, destination: to.place }
        if (to.place.absolute === from.place.absolute) return { ...moved, replaced: false }
        const isOtherCase = yield* about(destination)(isSameName(from, to))
        if (!isOtherCase) yield* mayReplace(to, overwrite)
        const added = isOtherCase ? 0 : countedByMoving(options.quota, from, to)
        if (quota !== undefined && added > 0 && added > (yield* quota.room(added))) {
          return yield* quota.refusal(destination)
        }
        const commit =
          to.stats === undefined ? placeAt(root, from, to) : about(destination)(renameTo(from, to, isOtherCase))
        yield* Changes.make(options, {
          action: "move",
          spots: [from, to],
          commit: Effect.andThen(commit, Effect.andThen(Aside.flushFolder(from.folder), Aside.flushFolder(to.folder))),
          after: Effect.map(stateNow(root, to), ([state]) => [FileChanges.absent, state ?? FileChanges.absent])
        })
        yield* options.quota?.changed(added) ?? Effect.void
        return { ...moved, replaced: to.stats !== undefined && !isOtherCase }
      })
    )
  }, Effect.scoped)

  return {
    write: <E = never, R = never>(
      path: string,
      content: Uint8Array | Stream.Stream<Uint8Array, E, R>,
      wanted: Workspace.WriteOptions
    ) => {
      const stream = content instanceof Uint8Array ? Stream.succeed(content) : content
      return Effect.scoped(writeScoped(path, stream, wanted)).pipe(Effect.withSpan("Files.write"))
    },
    makeFolder,
    move,
    remove: (...given) => Effect.tap(Removing.make(options)(...given), () => options.quota?.removed ?? Effect.void)
  }
}

/** Bytes of the file that is at a spot. */
const sizeOf = ({ stats }: Walk.Named): number => (stats?.isFile() === true ? stats.size : 0)

/** What counts more once a file is in another place, and what it replaces there is gone. */
const countedByMoving = (quota: Quota.Quota | undefined, from: Walk.Named, to: Walk.Named): number =>
  quota === undefined ? 0 : quota.countOf(to.place, sizeOf(from) - sizeOf(to)) - quota.countOf(from.place, sizeOf(from))

const isTooLarge = (error: unknown): boolean => error instanceof FileError && error.reason === "too_large"

const endsAsFolder = (path: string) =>
  new FileError({
    reason: "path_is_not_a_file",
    path,
    detail: "The path ends like that of a folder. Name the file: leave out the / at its end, or add the name behind it."
  })

/** What is at a spot by now. */
const stateNow = (root: Walk.Root, spot: Walk.Named) =>
  Effect.map(
    Effect.flatMap(Walk.lookAgain(spot), (now) => States.at(root, now)),
    (state) => [state]
  )

// ---------------------------------------------------------------------------------------------------------------------
// Whether a content may be put in place

/** Whether a file of exactly this content is there, so that there is nothing to do: the same call made twice does it once. */
const holdsAlready = (root: Walk.Root, spot: Walk.Named, aside: Aside.Aside) =>
  spot.stats?.isFile() === true && spot.stats.size === aside.bytes
    ? Effect.map(States.hashOf(root, spot), (sha256) => sha256 === aside.sha256)
    : Effect.succeed(false)

const isExpected = Effect.fnUntraced(function* (
  root: Walk.Root,
  spot: Walk.Named,
  { expected, overwrite }: Workspace.WriteOptions
) {
  if (expected === "absent") return yield* mayReplace(spot, false)
  if (expected !== undefined) {
    const sha256 = spot.stats?.isFile() === true ? yield* States.hashOf(root, spot) : undefined
    if (sha256 !== expected.sha256) return yield* changed(spot.asked)
  }
  yield* mayReplace(spot, overwrite)
})

const mayReplace = Effect.fnUntraced(function* (spot: Walk.Named, overwrite: boolean) {
  if (spot.stats === undefined) return
  yield* fileOnly(spot)
  if (!overwrite) return yield* isThere(spot.asked)
  yield* about(spot.asked)(NodeFiles.isWritable(spot.folder.at(spot.name)))
})

/** What is at the spot must be a file. A link was followed before: one that is here now came meanwhile. */
const fileOnly = Effect.fnUntraced(function* (spot: Walk.Named) {
  if (spot.stats?.isSymbolicLink() === true) return yield* changed(spot.asked)
  const { kind } = yield* Reading.infoOf(spot)
  if (kind === "folder") return yield* isFolder(spot.asked)
})

const modeOf = ({ mode }: NodeFiles.Stats): number => mode & Reading.permissions

/** Gives the new file the mode of the old one, and its owner where this process may. */
const takeAfter = (fd: number, old: NodeFiles.Stats) =>
  Effect.andThen(Effect.ignore(NodeFiles.setOwner(fd, old.uid, old.gid)), NodeFiles.setMode(fd, modeOf(old)))

/** Of the folder itself: a link that came into its place meanwhile is not opened. */
const setFolderMode = (path: string, mode: number) =>
  Effect.acquireUseRelease(
    NodeFiles.open(path, NodeFiles.how.folderItself),
    (fd) => NodeFiles.setMode(fd, mode),
    NodeFiles.close
  )

// ---------------------------------------------------------------------------------------------------------------------
// Moving

const movable = Effect.fnUntraced(function* (from: Walk.Named) {
  if (from.stats?.isSymbolicLink() === true) return yield* isLink(from.asked)
  const { kind } = yield* Reading.infoOf(from)
  if (kind === "folder") return yield* isFolder(from.asked)
})

/** Whether both names are one: where the case of letters does not matter, a file is also found under another case. */
const isSameName = Effect.fnUntraced(function* (from: Walk.Named, to: Walk.Named) {
  if (from.stats === undefined || to.stats === undefined) return false
  if (from.stats.ino !== to.stats.ino || from.stats.dev !== to.stats.dev) return false
  return !(yield* Walk.namesIn(to.folder)).includes(to.name)
})

/** Two names of one file are left as they are by a renaming: then the source is to go. */
const renameTo = (from: Walk.Named, to: Walk.Named, isOtherCase: boolean) => {
  const source = from.folder.at(from.name)
  const isOneFile = from.stats?.ino === to.stats?.ino && from.stats?.dev === to.stats?.dev
  return isOneFile && !isOtherCase ? NodeFiles.unlink(source) : NodeFiles.rename(source, to.folder.at(to.name))
}

/** To where nothing is. Another disk gets a copy. */
const placeAt = (root: Walk.Root, from: Walk.Named, to: Walk.Named): Effect.Effect<void, FileError> =>
  Aside.place(from.folder.at(from.name), to.folder.at(to.name)).pipe(
    Effect.catchIf(
      ({ code }) => code === "EXDEV",
      () => copyTo(root, from, to)
    ),
    about(to.asked)
  )

const copyTo = (root: Walk.Root, from: Walk.Named, to: Walk.Named) =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Reading.openSpot(root, from)
      const options = { asked: to.asked, folder: to.folder, mode: file.info.mode, most: file.info.bytes }
      const aside = yield* Aside.write(options, file.stream({ most: file.info.bytes }))
      yield* Aside.putNew(aside, to.name)
      yield* NodeFiles.unlink(from.folder.at(from.name))
    })
  )

// ---------------------------------------------------------------------------------------------------------------------
// Refusals

const isThere = (path: string) =>
  new FileError({
    reason: "already_exists",
    path,
    detail: "A file of this name is there already. Set overwrite to replace it, or choose another name."
  })

const isFolder = (path: string) =>
  new FileError({ reason: "path_is_not_a_file", path, detail: "It is a folder. Name a file." })

const isLink = (path: string) =>
  new FileError({
    reason: "path_is_not_a_file",
    path,
    detail: "It is a link. Move the file that it leads to, or delete the link."
  })

const notAFolder = (path: string) =>
  new FileError({ reason: "path_is_not_a_folder", path, detail: "A file of this name is there. Choose another name." })

const changed = (path: string) =>
  new FileError({
    reason: "changed_meanwhile",
    path,
    detail: "It is not as it was when it was last read. Read it again, and change it as it is now."
  })
