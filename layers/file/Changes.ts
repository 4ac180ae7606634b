/** The one way in which files are changed: announced, made in one step, and told of. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import * as ContentHash from "./ContentHash.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as Reading from "./Reading.ts"
import { about } from "./Refusals.ts"
import type * as Walk from "./Walk.ts"

/** Who changes what below which root, and who is told. */
export interface Setting {
  readonly root: Walk.Root
  readonly author: FileChanges.Author
  readonly changes: FileChanges.Recorder
}

export interface Change {
  readonly action: FileChanges.Change["action"]
  readonly spots: ReadonlyArray<Walk.Named>
  readonly commit: Effect.Effect<void, FileError>
  readonly after: Effect.Effect<ReadonlyArray<FileChanges.FileState>, FileError>
}

/** Once a change has begun to be made, nothing interrupts it before it is told of. */
export const make = ({ author, changes, root }: Setting, { action, after, commit, spots }: Change) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const finish = yield* restore(
        changes.begin({ author, action, root: root.root, affected: spots.map((spot) => affected(root, spot)) })
      )
      const exit = yield* Effect.exit(
        Effect.andThen(
          Effect.forEach(spots, ({ asked, folder }) => about(asked)(folder.still), { discard: true }),
          commit
        )
      )
      yield* finish(Exit.isSuccess(exit) ? { _tag: "Made", after } : { _tag: "NotMade" })
      return yield* exit
    })
  )

const affected = (root: Walk.Root, spot: Walk.Named): FileChanges.Affected => ({
  path: spot.place.relative ?? spot.place.absolute,
  absolute: spot.place.absolute,
  before: stateAt(root, spot),
  content: spot.stats?.isFile() === true ? contentOf(root, spot) : Stream.empty
})

/** What is at a spot. */
export const stateAt = Effect.fnUntraced(function* (
  root: Walk.Root,
  spot: Walk.Named
): Effect.fn.Return<FileChanges.FileState, FileError> {
  const { asked, folder, name, stats } = spot
  if (stats === undefined) return FileChanges.absent
  const mode = stats.mode & Reading.permissions
  if (stats.isDirectory()) return { _tag: "Folder", mode }
  if (stats.isSymbolicLink()) return { _tag: "Link", to: yield* about(asked)(NodeFiles.readLink(folder.at(name))) }
  if (!stats.isFile()) return { _tag: "Special" }
  return { _tag: "File", sha256: yield* hashOf(root, spot), bytes: stats.size, mode }
})

/** All of the file, as long as it is now: it is not followed while it grows. */
const contentOf = (root: Walk.Root, spot: Walk.Named): Stream.Stream<Uint8Array, FileError> =>
  Stream.unwrap(Effect.map(Reading.openSpot(root, spot), (file) => file.stream({ most: file.info.bytes })))

export const hashOf = (root: Walk.Root, spot: Walk.Named): Effect.Effect<string, FileError> =>
  ContentHash.ofStream(contentOf(root, spot))
