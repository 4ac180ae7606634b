/**
 * A folder that is held while something is done in it.
 *
 * On Linux it is held by a descriptor, and what is in it is named through the descriptor (`/proc/self/fd/7/name`): whoever puts a link
 * in place of the folder, or of one above it, changes nothing for the one who holds it. Elsewhere it is held by its path, and looked
 * at again before and after it is used, which leaves a moment in between.
 */
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as NodeFiles from "./NodeFiles.ts"
import { SystemError } from "./NodeFiles.ts"

export interface Folder {
  /** What to call a name in it, for the system. */
  readonly at: (name: string) => string
  /** What to call the folder itself. */
  readonly self: string
  /** Fails when it is not in its place any more. A descriptor needs none. */
  readonly still: Effect.Effect<void, SystemError>
  readonly close: Effect.Effect<void>
}

/** A file that is open, with what it is. */
export interface Opened {
  readonly fd: number
  readonly stats: NodeFiles.Stats
}

export interface Holding {
  /** The folder of a path, whose links are followed, and its path without links. */
  readonly root: (path: string) => Effect.Effect<{ readonly folder: Folder; readonly real: string }, SystemError>
  /** A folder in a folder; `ENOTDIR` for whatever is none, a link to one included. */
  readonly enter: (folder: Folder, name: string) => Effect.Effect<Folder, SystemError>
  /** A regular file in a folder; `ELOOP` for a link, `EISDIR` for a folder, `ENXIO` for everything else. */
  readonly open: (folder: Folder, name: string) => Effect.Effect<Opened, SystemError, Scope.Scope>
}

const fail = (code: string) => Effect.fail(new SystemError({ code }))

const opening = (path: string, flags: number) => Effect.acquireRelease(NodeFiles.open(path, flags), NodeFiles.close)

const refuseOthers = (stats: NodeFiles.Stats): Effect.Effect<void, SystemError> => {
  if (stats.isFile()) return Effect.void
  return fail(stats.isSymbolicLink() ? "ELOOP" : stats.isDirectory() ? "EISDIR" : "ENXIO")
}

// ---------------------------------------------------------------------------------------------------------------------
// By descriptor

const descriptorFolder = (fd: number): Folder => {
  const self = `/proc/self/fd/${fd}`
  return { at: (name) => `${self}/${name}`, self, still: Effect.void, close: NodeFiles.close(fd) }
}

/** Linux with `/proc`. */
export const byDescriptor: Holding = {
  root: (path) =>
    Effect.flatMap(NodeFiles.open(path, NodeFiles.how.root), (fd) => {
      const folder = descriptorFolder(fd)
      return NodeFiles.readLink(folder.self).pipe(
        Effect.map((real) => ({ folder, real })),
        Effect.onError(() => folder.close)
      )
    }).pipe(Effect.uninterruptible),
  enter: (folder, name) =>
    Effect.map(NodeFiles.open(folder.at(name), NodeFiles.how.folderInPlace), descriptorFolder).pipe(
      Effect.uninterruptible
    ),
  open: Effect.fnUntraced(function* (folder, name) {
    // What is opened in place is only looked at. It is then opened by its descriptor: it cannot be exchanged in between.
    const looked = yield* opening(folder.at(name), NodeFiles.how.inPlace)
    yield* Effect.flatMap(NodeFiles.statOf(looked), refuseOthers)
    const fd = yield* opening(`/proc/self/fd/${looked}`, NodeFiles.how.reading)
    return { fd, stats: yield* NodeFiles.statOf(fd) }
  })
}

// ---------------------------------------------------------------------------------------------------------------------
// By path

const isSame = (one: NodeFiles.Stats, other: NodeFiles.Stats): boolean => one.dev === other.dev && one.ino === other.ino

const pathFolder = (self: string, stats: NodeFiles.Stats): Folder => ({
  at: (name) => path.join(self, name),
  self,
  still: Effect.gen(function* () {
    const now = yield* NodeFiles.statInPlace(self)
    if (!isSame(now, stats) || (yield* NodeFiles.realPath(self)) !== self) return yield* fail("ESTALE")
  }),
  close: Effect.void
})

const enterPath = Effect.fnUntraced(function* (self: string) {
  const stats = yield* NodeFiles.statInPlace(self)
  return stats.isDirectory() ? pathFolder(self, stats) : yield* fail("ENOTDIR")
})

/** Everywhere else. */
export const byPath: Holding = {
  root: Effect.fnUntraced(function* (path) {
    const real = yield* NodeFiles.realPath(path)
    return { folder: yield* enterPath(real), real }
  }),
  enter: (folder, name) => enterPath(folder.at(name)),
  open: Effect.fnUntraced(function* (folder, name) {
    const before = yield* NodeFiles.statInPlace(folder.at(name))
    yield* refuseOthers(before)
    const fd = yield* opening(folder.at(name), NodeFiles.how.readingInPlace)
    const stats = yield* NodeFiles.statOf(fd)
    if (!isSame(before, stats)) return yield* fail("ESTALE")
    yield* folder.still
    return { fd, stats }
  })
}

/** The stronger way where the system has it. */
export const holding: Effect.Effect<Holding> = Effect.map(
  Effect.option(Effect.flatMap(byDescriptor.root("/"), ({ folder, real }) => Effect.as(folder.close, real))),
  (found) => (process.platform === "linux" && found._tag === "Some" && found.value === "/" ? byDescriptor : byPath)
)
