/** What a turn changed outside of its thread, as the ledger keeps it. */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"

/** What was or is at a path. `sha256` in hexadecimal, `bytes` the size, `mode` the permission bits. */
export const FileState = Schema.Union([
  Schema.TaggedStruct("Absent", {}),
  Schema.TaggedStruct("File", { sha256: Schema.String, bytes: Schema.Int, mode: Schema.Int }),
  Schema.TaggedStruct("Folder", { mode: Schema.Int }),
  Schema.TaggedStruct("Link", { to: Schema.String }),
  /** A device, a pipe or a socket. */
  Schema.TaggedStruct("Special", {})
])
export type FileState = typeof FileState.Type

/** One path that was changed. `path` is relative to `root` where it lies inside; `after` is null where nobody can know it. */
export const ChangedPath = Schema.Struct({
  root: Schema.String,
  path: Schema.String,
  absolute: Schema.String,
  before: FileState,
  after: Schema.NullOr(FileState)
})
export type ChangedPath = typeof ChangedPath.Type

/**
 * `begun`: the process ended in the middle of it, or it goes on. `made`: done. `failed`: it ended in an error, and what it did
 * before that is not known. `undone`: taken back.
 */
export const State = Schema.Literals(["begun", "made", "failed", "undone"])
export type State = typeof State.Type

const common = {
  /** Orders side effects as they happened. */
  ord: Schema.Int,
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  callId: Ids.CallId,
  state: State,
  /** When it began, unix ms. */
  at: Schema.Int
}

/** A change of files: it can be undone for as long as what was there before is kept and nothing newer has changed it. */
export const FilesChanged = Schema.TaggedStruct("FilesChanged", {
  ...common,
  action: Schema.Literals(["write", "move", "delete", "make-folder"]),
  paths: Schema.Array(ChangedPath)
})
export type FilesChanged = typeof FilesChanged.Type

/** A call of a tool that acts outside: a program that ran, a request that was sent. It cannot be undone. */
export const CallMade = Schema.TaggedStruct("CallMade", {
  ...common,
  tool: Schema.String,
  /** The call in a line, without secrets. */
  line: Schema.String
})
export type CallMade = typeof CallMade.Type

export const SideEffect = Schema.Union([FilesChanged, CallMade])
export type SideEffect = typeof SideEffect.Type
