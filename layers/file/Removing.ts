/** Removing what is at a path: a folder entry by entry, so that each can be recorded, and never through a link. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Semaphore from "effect/Semaphore"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import * as Aside from "./Aside.ts"
import * as Changes from "./Changes.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as Reading from "./Reading.ts"
import { about } from "./Refusals.ts"
import * as States from "./States.ts"
import * as Walk from "./Walk.ts"

export const make = (
  options: Changes.Setting & { readonly turn: Semaphore.Semaphore }
): Workspace.Writing<never>["remove"] => {
  const { root, turn } = options

  const removeOne = (
    spot: Walk.Named,
    expected?: Workspace.RemoveOptions["expected"]
  ): Effect.Effect<void, FileError> => {
    const path = spot.folder.at(spot.name)
    const removal = spot.stats?.isDirectory() === true ? NodeFiles.removeFolder(path) : NodeFiles.unlink(path)
    const change = Changes.make(options, {
      action: "delete",
      spots: [spot],
      commit: about(spot.asked)(removal),
      after: Effect.succeed([FileChanges.absent])
    })
    return turn.withPermits(1)(
      expected === undefined ? change : Effect.andThen(mustHold(root, spot, expected.sha256), change)
    )
  }

  /** How many entries went, the folder itself included. */
  const removeTree = (spot: Walk.Named): Effect.Effect<number, FileError> =>
    Effect.scoped(
      Effect.gen(function* () {
        const folder = yield* Walk.enter(root, spot)
        let count = 0
        for (const name of yield* about(spot.asked)(Walk.namesIn(folder))) {
          const child = yield* childOf(spot, folder, name)
          if (child === undefined) continue
          if (child.stats?.isDirectory() === true) count += yield* removeTree(child)
          else {
            yield* removeOne(child)
            count += 1
          }
        }
        yield* removeOne(spot)
        return count + 1
      })
    )

  return Effect.fn("Files.remove")(function* (
    path: string,
    { expected, kinds, recursive }: Workspace.RemoveOptions
  ): Effect.fn.Return<Workspace.Removed, FileError, Scope.Scope> {
    const spot = yield* Walk.find(root, path, { follow: false })
    if (spot.holdsRoot) return yield* isRoot(path)
    const { name, place, stats } = spot
    if (expected !== undefined && stats?.isFile() !== true) return yield* changed(path)
    if (stats === undefined || name === undefined) return { place, kind: null, count: 0 }
    const found = Reading.kindOf(stats)
    const kind = found === "other" ? "file" : found
    if (!kinds.includes(kind === "folder" ? "folder" : "file")) return { place, kind, count: 0 }
    const removal = { ...spot, name }
    const count =
      kind === "folder" && recursive ? yield* removeTree(removal) : yield* Effect.as(removeOne(removal, expected), 1)
    yield* Aside.flushFolder(spot.folder)
    return { place, kind, count }
  }, Effect.scoped)
}

/** Undefined when it has gone already. */
const childOf = Effect.fnUntraced(function* (spot: Walk.Named, folder: Walk.Spot["folder"], name: string) {
  const stats = yield* about(spot.asked)(Walk.statIfThere(folder.at(name)))
  if (stats === undefined) return undefined
  const child: Walk.Named = {
    asked: `${spot.asked}/${name}`,
    folder,
    name,
    stats,
    place: Walk.placeIn(spot.place, name),
    holdsRoot: false
  }
  return child
})

/** A file of this content must be at the spot. */
const mustHold = Effect.fnUntraced(function* (
  root: Walk.Root,
  spot: Walk.Named,
  sha256: string
): Effect.fn.Return<void, FileError> {
  const now = yield* Walk.lookAgain(spot)
  if (now.stats?.isFile() !== true || (yield* States.hashOf(root, now)) !== sha256) return yield* changed(spot.asked)
})

const changed = (path: string) =>
  new FileError({
    reason: "changed_meanwhile",
    path,
    detail: "It is not the file that it was when it was last read. Read it again, and decide anew."
  })

const isRoot = (path: string) =>
  new FileError({
    reason: "root_itself",
    path,
    detail: "The folder that this tool works in cannot itself be deleted. Name what is in it."
  })
