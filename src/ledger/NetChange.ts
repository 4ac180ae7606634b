/** What a row of changes of files comes to: for each path what was there first and what is there last. Pure. */
import type { ChangedPath, FilesChanged, FileState } from "./SideEffect.ts"

/** A path with what was there before the first change and after the last one, null where that is not known. */
export interface NetChange extends ChangedPath {
  /** The order of the last change of the path. */
  readonly ord: number
}

/**
 * The changes of each path as one, newest first. Changes that were taken back already, and paths that are as they were, are
 * left out. `changes` in the order in which they happened.
 */
export const of = (changes: ReadonlyArray<FilesChanged>): ReadonlyArray<NetChange> => {
  const net = new Map<string, NetChange>()
  for (const { ord, paths, state } of changes) {
    if (state === "undone") continue
    for (const path of paths) {
      const before = net.get(path.absolute)?.before ?? path.before
      net.delete(path.absolute)
      net.set(path.absolute, { ...path, before, after: state === "made" ? path.after : null, ord })
    }
  }
  return Array.from(net.values())
    .filter(({ after, before }) => after === null || !same(before, after))
    .toReversed()
}

/** Whether two states are the same, as far as they can be put back. */
export const same = (one: FileState, other: FileState): boolean => {
  if (one._tag === "File" && other._tag === "File") return one.sha256 === other.sha256 && one.mode === other.mode
  if (one._tag === "Link" && other._tag === "Link") return one.to === other.to
  if (one._tag === "Folder" && other._tag === "Folder") return one.mode === other.mode
  return one._tag === other._tag
}
