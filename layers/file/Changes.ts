/** The one way in which files are changed: announced, made in one step, and told of. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import { about } from "./Refusals.ts"
import * as States from "./States.ts"
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
  before: States.at(root, spot),
  content: spot.stats?.isFile() === true ? States.contentOf(root, spot) : Stream.empty
})
