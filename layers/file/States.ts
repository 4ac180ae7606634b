/** What is at a path, told by its content. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as FileChanges from "../../src/file/FileChanges.ts"
import type { FileError } from "../../src/file/FileError.ts"
import * as ContentHash from "./ContentHash.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as Reading from "./Reading.ts"
import { about } from "./Refusals.ts"
import * as Walk from "./Walk.ts"

/** What is at a path. A link there is told as a link; nothing of it is followed. */
export const of = (root: Walk.Root, path: string): Effect.Effect<FileChanges.FileState, FileError> =>
  Effect.scoped(
    Effect.flatMap(Effect.flatMap(Walk.find(root, path, { follow: false }), Walk.named), (spot) => at(root, spot))
  ).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "folder_not_found" || reason === "file_not_found",
      () => Effect.succeed(FileChanges.absent)
    ),
    Effect.withSpan("Files.state")
  )

/** What is at a spot. */
export const at = Effect.fnUntraced(function* (
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
export const contentOf = (root: Walk.Root, spot: Walk.Named): Stream.Stream<Uint8Array, FileError> =>
  Stream.unwrap(Effect.map(Reading.openSpot(root, spot), (file) => file.stream({ most: file.info.bytes })))

export const hashOf = (root: Walk.Root, spot: Walk.Named): Effect.Effect<string, FileError> =>
  ContentHash.ofStream(contentOf(root, spot))
