/** Looking at files: nothing is read without a bound. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type { Folder } from "./Folder.ts"
import * as NodeFiles from "./NodeFiles.ts"
import { about } from "./Refusals.ts"
import * as Tree from "./Tree.ts"
import * as Walk from "./Walk.ts"

/** How much is read at once, in bytes. */
const pieceBytes = 64 * 1024

export const make = (root: Walk.Root): Omit<Workspace.Reading, "state"> => {
  const find = (path: string) => Walk.find(root, path, { follow: true })

  const info = Effect.fn("Files.info")(
    function* (path: string) {
      return yield* infoOf(yield* find(path))
    },
    (effect) => Effect.scoped(effect)
  )

  const open = Effect.fn("Files.open")(function* (
    path: string
  ): Effect.fn.Return<Workspace.OpenFile, FileError, Scope.Scope> {
    // The walk lets go of its folders at once; only the file stays open.
    return yield* openSpot(root, yield* find(path))
  })

  const read = Effect.fn("Files.read")(
    function* (path: string, { most, offset = 0 }: { readonly offset?: number; readonly most: number }) {
      const file = yield* open(path)
      const bytes = yield* readUpTo(file, offset, most)
      const truncated = (yield* file.read(offset + bytes.byteLength, 1)).byteLength > 0
      return { info: file.info, bytes, truncated }
    },
    (effect) => Effect.scoped(effect)
  )

  const list = Effect.fn("Files.list")(
    function* (path: string, { most, skip = 0 }: { readonly most: number; readonly skip?: number }) {
      const spot = yield* find(path)
      const folder = yield* Walk.enter(root, spot)
      const names = (yield* about(path)(Walk.namesIn(folder))).filter((name) => !FilePath.isUnfinished(name))
      const shown = Arr.sort(names, byName).slice(skip, skip + most)
      const entries = yield* Effect.forEach(shown, (name) => entryOf(root, path, spot, folder, name))
      return { place: spot.place, entries: entries.flat(), count: names.length }
    },
    (effect) => Effect.scoped(effect)
  )

  return {
    root: Effect.scoped(Effect.map(Walk.find(root, ".", { follow: true }), ({ place }) => place.absolute)),
    info,
    open,
    read,
    list,
    walk: (folder, options = {}) => Tree.walk(root, folder, options)
  }
}

/** What is there, where it is a file or a folder. */
export const infoOf = (spot: Walk.Spot): Effect.Effect<Workspace.Info, FileError> => {
  const { asked, name, place, stats } = spot
  if (stats === undefined) return Effect.fail(noFile(asked))
  const kind = kindOf(stats)
  if (kind !== "file" && kind !== "folder") return Effect.fail(special(asked))
  return Effect.succeed({
    place,
    name: name ?? place.absolute.slice(place.absolute.lastIndexOf("/") + 1),
    kind,
    bytes: kind === "file" ? stats.size : 0,
    modifiedAt: Math.trunc(stats.mtimeMs),
    mode: stats.mode & permissions
  })
}

/** The bits of a mode that are permissions. */
export const permissions = 0o777

export const kindOf = (stats: NodeFiles.Stats): Workspace.Entry["kind"] => {
  if (stats.isFile()) return "file"
  if (stats.isDirectory()) return "folder"
  return stats.isSymbolicLink() ? "link" : "other"
}

/** Opens what is at a spot, which must be a regular file. */
export const openSpot = Effect.fnUntraced(function* (
  root: Walk.Root,
  spot: Walk.Spot
): Effect.fn.Return<Workspace.OpenFile, FileError, Scope.Scope> {
  const { asked, name } = spot
  const info = yield* infoOf(spot)
  if (name === undefined || info.kind === "folder") return yield* isFolder(asked)
  const { fd, stats } = yield* about(asked)(root.holding.open(spot.folder, name))
  const read = (offset: number, length: number) => about(asked)(NodeFiles.read(fd, offset, length))
  return {
    info: { ...info, bytes: stats.size, modifiedAt: Math.trunc(stats.mtimeMs), mode: stats.mode & permissions },
    read,
    stream: ({ from = 0, most }) =>
      Stream.unfold({ at: from, left: most }, ({ at, left }) =>
        Effect.map(read(at, Math.min(left, pieceBytes)), (piece) =>
          piece.byteLength === 0
            ? undefined
            : ([piece, { at: at + piece.byteLength, left: left - piece.byteLength }] as const)
        )
      )
  }
})

/** As many bytes as there are, up to `most`: the system may give fewer at once than it was asked for. */
const readUpTo = Effect.fnUntraced(function* (file: Workspace.OpenFile, offset: number, most: number) {
  const pieces: Array<Uint8Array> = []
  let length = 0
  while (length < most) {
    const piece = yield* file.read(offset + length, Math.min(most - length, pieceBytes))
    if (piece.byteLength === 0) break
    pieces.push(piece)
    length += piece.byteLength
  }
  return joined(pieces, length)
})

const joined = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.byteLength
  }
  return all
}

// ---------------------------------------------------------------------------------------------------------------------
// Listing

const byName: Order.Order<string> = Order.combine(
  Order.mapInput(Order.String, (name: string) => name.toLowerCase()),
  Order.String
)

/** One that went since the folder was read is left out. */
const entryOf = Effect.fnUntraced(function* (
  root: Walk.Root,
  asked: string,
  { place }: Walk.Spot,
  folder: Folder,
  name: string
) {
  const stats = yield* Effect.option(NodeFiles.statInPlace(folder.at(name)))
  if (stats._tag === "None") return []
  const kind = kindOf(stats.value)
  const target = kind === "link" ? yield* targetOf(root, asked, name) : undefined
  const shown = target?.stats ?? stats.value
  const entry: Workspace.Entry = {
    name,
    place: Walk.placeIn(place, name),
    kind,
    target: target?.kind,
    bytes: shown.isFile() ? shown.size : 0,
    modifiedAt: Math.trunc(shown.mtimeMs)
  }
  return [entry]
})

/** What a link in a folder leads to, where that is a file or a folder inside. */
const targetOf = (root: Walk.Root, folder: string, name: string) =>
  Walk.find(root, `${folder}/${name}`, { follow: true }).pipe(
    Effect.map(({ stats }) => {
      const kind = stats === undefined ? undefined : kindOf(stats)
      return kind === "file" || kind === "folder" ? { kind, stats } : undefined
    }),
    Effect.orElseSucceed(() => undefined),
    Effect.scoped
  )

// ---------------------------------------------------------------------------------------------------------------------
// Refusals

const noFile = (path: string) =>
  new FileError({
    reason: "file_not_found",
    path,
    detail: "There is nothing of this name. List the folder to see what is there."
  })

const isFolder = (path: string) =>
  new FileError({ reason: "path_is_not_a_file", path, detail: "It is a folder. Name a file in it, or list it." })

const special = (path: string) =>
  new FileError({
    reason: "special_file",
    path,
    detail: "It is a device, a pipe or a socket, which is never opened. Use a regular file."
  })
