/**
 * Undoing: puts the files that a turn changed back to what they were before it. A file that was changed since, by anybody, is
 * left alone; what cannot be undone is told.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"

/** What was done with a path: its content of before is back, a file or folder that was made is gone, a folder is there again. */
export const RestoredPath = Schema.Struct({
  path: Schema.String,
  to: Schema.Literals(["content", "absent", "folder"])
})
export type RestoredPath = typeof RestoredPath.Type

/**
 * Why a path was left as it is: something else changed it since (`changed_since`); its content of before is not kept any more, or was
 * too large to keep (`not_kept`); it was a link or a special file (`not_a_file`); the change ended in a way that nobody saw
 * (`unknown`); or the system refused (`refused`).
 */
export const LeftPath = Schema.Struct({
  path: Schema.String,
  reason: Schema.Literals(["changed_since", "not_kept", "not_a_file", "unknown", "refused"]),
  detail: Schema.String
})
export type LeftPath = typeof LeftPath.Type

export const UndoReport = Schema.Struct({
  turnId: Ids.TurnId,
  /** Nothing was changed; this is what would be. */
  dryRun: Schema.Boolean,
  restored: Schema.Array(RestoredPath),
  left: Schema.Array(LeftPath),
  /** What else the turn did, a line each, that cannot be taken back. */
  irreversible: Schema.Array(Schema.String)
})
export type UndoReport = typeof UndoReport.Type

/** The turn changed no files, or all of its changes were taken back already. */
export class NothingToUndo extends Schema.TaggedError<NothingToUndo>()("NothingToUndo", {
  turnId: Schema.NullOr(Ids.TurnId),
  /** What the turn did that cannot be taken back. */
  irreversible: Schema.Array(Schema.String)
}) {
  readonly code = "undo:nothing_to_undo"
  override get message() {
    const what = this.turnId === null ? "No turn of this thread has" : `The turn ${this.turnId} has no`
    const rest = this.irreversible.length === 0 ? "" : ` What cannot be undone: ${this.irreversible.join("; ")}.`
    return `${what} changes of files that can be undone.${rest}`
  }
}

/** The turn still runs: stop it first. */
export class TurnStillRuns extends Schema.TaggedError<TurnStillRuns>()("TurnStillRuns", { turnId: Ids.TurnId }) {
  readonly code = "undo:turn_still_runs"
  override get message() {
    return `The turn ${this.turnId} still runs. Stop it, or wait until it has ended, and undo it then.`
  }
}

export type UndoError = NothingToUndo | TurnStillRuns | StorageUnavailable

export class Undo extends Context.Service<
  Undo,
  {
    /** Undoes the file changes of a turn, the newest turn that has some when none is named. */
    readonly undo: (
      threadId: Ids.ThreadId,
      options: { readonly turnId?: Ids.TurnId | undefined; readonly dryRun: boolean }
    ) => Effect.Effect<UndoReport, UndoError>
  }
>()("troupe/ledger/Undo") {}
