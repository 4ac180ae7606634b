/** A content that is written beside the file it is to become. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import * as ContentHash from "./ContentHash.ts"
import type { Folder } from "./Folder.ts"
import * as NodeFiles from "./NodeFiles.ts"
import { about } from "./Refusals.ts"

export interface Aside {
  readonly folder: Folder
  readonly name: string
  readonly fd: number
  readonly bytes: number
  readonly sha256: string
}

export interface Options {
  /** The path that the content is for, as it was asked for. */
  readonly asked: string
  readonly folder: Folder
  readonly mode: number
  readonly most: number
}

/** Writes all of it and has the disk take it. Gone when the scope ends, unless it was put in its place by then. */
export const write = Effect.fnUntraced(function* <E, R>(
  { asked, folder, mode, most }: Options,
  content: Stream.Stream<Uint8Array, E, R>
): Effect.fn.Return<Aside, FileError | E, R | Scope.Scope> {
  const name = FilePath.unfinished(yield* randomText)
  const fd = yield* about(asked)(
    Effect.acquireRelease(NodeFiles.open(folder.at(name), NodeFiles.how.creating, mode), (opened) =>
      Effect.andThen(NodeFiles.close(opened), Effect.ignore(NodeFiles.unlink(folder.at(name))))
    )
  )
  const hash = ContentHash.make()
  let bytes = 0
  yield* Stream.runForEach(content, (piece) => {
    bytes += piece.byteLength
    if (bytes > most) return Effect.fail(tooLarge(asked, most))
    hash.add(piece)
    return about(asked)(writeAll(fd, piece))
  })
  yield* about(asked)(NodeFiles.flush(fd))
  return { folder, name, fd, bytes, sha256: hash.end() }
})

/** Puts it where nothing is. `EEXIST` when something is after all. */
export const putNew = ({ folder, name }: Aside, as: string) =>
  place(folder.at(name), folder.at(as)).pipe(Effect.andThen(flushFolder(folder)))

/** Puts it in the place of what is there. */
export const replace = ({ folder, name }: Aside, old: string) =>
  Effect.andThen(NodeFiles.rename(folder.at(name), folder.at(old)), flushFolder(folder))

/** Gives a file a name where nothing is. A file system without hard links is asked to rename, which would replace. */
export const place = (from: string, to: string): Effect.Effect<void, NodeFiles.SystemError> =>
  Effect.andThen(NodeFiles.link(from, to), NodeFiles.unlink(from)).pipe(
    Effect.catchIf(
      ({ code }) => withoutLinks.has(code),
      () => NodeFiles.rename(from, to)
    )
  )

const withoutLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

/** Has the disk take the names in a folder. Not every file system can. */
export const flushFolder = (folder: Folder): Effect.Effect<void> =>
  Effect.acquireUseRelease(NodeFiles.open(folder.self, NodeFiles.how.folder), NodeFiles.flush, NodeFiles.close).pipe(
    Effect.ignore
  )

const tooLarge = (path: string, most: number): FileError =>
  new FileError({
    reason: "too_large",
    path,
    detail: `Expected at most ${most} bytes; found more. Nothing was written. Write less at once.`
  })

const writeAll = (fd: number, piece: Uint8Array): Effect.Effect<void, NodeFiles.SystemError> =>
  piece.byteLength === 0
    ? Effect.void
    : Effect.flatMap(NodeFiles.write(fd, piece), (count) => writeAll(fd, piece.subarray(count)))

const letters = "0123456789abcdefghjkmnpqrstvwxyz"
const randomText = Effect.map(Effect.replicateEffect(Random.nextIntBetween(0, letters.length - 1), 16), (picks) =>
  picks.map((pick) => letters.charAt(pick)).join("")
)
