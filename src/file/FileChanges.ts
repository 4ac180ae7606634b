/**
 * Where every change of a file is announced before it is made, and told after: what keeps a record of changes, and can undo them,
 * takes part here. Without it nothing is recorded.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as Ids from "../Ids.ts"
import type { FileError } from "./FileError.ts"

/** Who changes a file: a call of a tool, or the runtime itself, for the purpose it names. */
export type Author =
  | {
      readonly _tag: "Call"
      readonly ownerId: string
      readonly threadId: Ids.ThreadId
      readonly turnId: Ids.TurnId
      readonly callId: Ids.CallId
    }
  | { readonly _tag: "Runtime"; readonly purpose: string }

/** What is at a path. `sha256` in hexadecimal; `mode` the permission bits. */
export type FileState =
  | { readonly _tag: "Absent" }
  | { readonly _tag: "File"; readonly sha256: string; readonly bytes: number; readonly mode: number }
  | { readonly _tag: "Folder"; readonly mode: number }
  | { readonly _tag: "Link"; readonly to: string }
  /** A device, a pipe or a socket, which can only be deleted. */
  | { readonly _tag: "Special" }

export const absent: FileState = { _tag: "Absent" }

/** One path that a change changes. */
export interface Affected {
  /** Relative to the root; absolute where it lies outside. */
  readonly path: string
  readonly absolute: string
  /** What is there now. To be asked for before the change is made; a file is read to its end for it. */
  readonly before: Effect.Effect<FileState, FileError>
  /** The content of the file that is there now. To be read before the change is made. */
  readonly content: Stream.Stream<Uint8Array, FileError>
}

/** A move affects two paths, its source first. Everything else affects one: a folder is deleted entry by entry. */
export interface Change {
  readonly author: Author
  readonly action: "write" | "move" | "delete" | "make-folder"
  /** The root that paths are relative to. */
  readonly root: string
  readonly affected: ReadonlyArray<Affected>
}

/** What came of it. `after`, to be asked for at once, is in the order of `affected`. `NotMade`: nothing was changed. */
export type Outcome =
  | { readonly _tag: "Made"; readonly after: Effect.Effect<ReadonlyArray<FileState>, FileError> }
  | { readonly _tag: "NotMade" }

/** Told what came of the change. Always called once when the change was tried. */
export type Finish = (outcome: Outcome) => Effect.Effect<void>

/** Who is told of changes. */
export interface Recorder {
  /**
   * Called right before a change. When it fails, the change is not made. It is called while other changes wait, so it must not make
   * one itself.
   */
  readonly begin: (change: Change) => Effect.Effect<Finish, FileError>
}

export class FileChanges extends Context.Reference<Recorder>("troupe/file/FileChanges", {
  defaultValue: () => ({ begin: () => Effect.succeed(() => Effect.void) })
}) {}
