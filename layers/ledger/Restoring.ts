/** What undoing does with files, and the same as a plan that changes nothing: both are judged by the same code. */
import * as Effect from "effect/Effect"
import type * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type * as NetChange from "../../src/ledger/NetChange.ts"

/** Each works with the path of a change. */
export interface Restoring {
  readonly now: (change: NetChange.NetChange) => Effect.Effect<FileChanges.FileState, FileError>
  /** Removes what is there; a folder with something in it is refused. */
  readonly clear: (change: NetChange.NetChange, now: FileChanges.FileState) => Effect.Effect<unknown, FileError>
  readonly write: (
    change: NetChange.NetChange,
    content: Uint8Array,
    options: Pick<Workspace.WriteOptions, "mode" | "expected">
  ) => Effect.Effect<unknown, FileError>
  readonly makeFolder: (change: NetChange.NetChange, mode: number) => Effect.Effect<unknown, FileError>
}

type At = (change: NetChange.NetChange) => Workspace.Files

export const real = (at: At): Restoring => {
  const writing = (change: NetChange.NetChange) => at(change).writingAs({ _tag: "Runtime", purpose: "undo" })
  return {
    now: (change) => at(change).reading.state(change.path),
    clear: (change, now) => writing(change).remove(change.path, { kinds: [kindOf(now)], recursive: false }),
    write: (change, content, options) =>
      writing(change).write(change.path, content, { overwrite: true, most: content.length, ...options }),
    makeFolder: (change, mode) => writing(change).makeFolder(change.path, { mode })
  }
}

const kindOf = (now: FileChanges.FileState) => (now._tag === "Folder" ? "folder" : "file")

/** Files as they would be by then: what the plan has come to so far lies over what is there. */
export const planned = (at: At): Restoring => {
  /** By absolute path: whether something would be there. */
  const isThere = new Map<string, boolean>()
  const become = (change: NetChange.NetChange, there: boolean) =>
    Effect.sync(() => {
      // What is put somewhere brings the folders above it.
      if (there) for (const above of aboveOf(change.absolute)) if (isThere.has(above)) isThere.set(above, true)
      isThere.set(change.absolute, there)
    })
  const isBelow = (folder: string) => (path: string) => path.slice(0, path.lastIndexOf("/")) === folder

  return {
    now: (change) =>
      aboveOf(change.absolute).some((above) => isThere.has(above))
        ? // Where a file stood in for the folder, nothing is below it.
          Effect.catch(at(change).reading.state(change.path), () => Effect.succeed({ _tag: "Absent" as const }))
        : at(change).reading.state(change.path),
    clear: Effect.fnUntraced(function* (change, now) {
      if (now._tag === "Folder") {
        const inside = Array.from(isThere).filter(([path]) => isBelow(change.absolute)(path))
        // One more than the plan speaks of: such a folder has something in it, whatever the rest is.
        const { entries } = yield* at(change).reading.list(change.path, { most: inside.length + 1 })
        const stays = entries.some(({ name }) => isThere.get(`${change.absolute}/${name}`) !== false)
        if (stays || inside.some(([, there]) => there)) return yield* notEmpty(change)
      }
      yield* become(change, false)
    }),
    write: (change) => become(change, true),
    makeFolder: (change) => become(change, true)
  }
}

const aboveOf = (absolute: string): ReadonlyArray<string> =>
  absolute.split("/").map((_, at, names) => names.slice(0, at).join("/"))

const notEmpty = ({ path }: NetChange.NetChange) =>
  Effect.fail(new FileError({ reason: "folder_not_empty", path, detail: "The folder has something in it." }))
