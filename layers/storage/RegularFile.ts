/** Reading a file that a person named, whole: it may be a pipe that nobody writes to, or a device without an end. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"

/** It is something else than a file with an end. */
export class NotAFile extends Schema.TaggedError<NotAFile>()("NotAFile", {
  /** What it is, with its article. */
  kind: Schema.String
}) {
  override get message() {
    return `it is ${this.kind} and not a file`
  }
}

/** It is larger than what it is read for can be. Sizes are in bytes. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  size: Schema.Number,
  most: Schema.Number
}) {
  override get message() {
    return `it has ${this.size} bytes, more than ${this.most}`
  }
}

/** The content of a file of at most so many bytes. Links are followed. */
export const read = Effect.fnUntraced(function* (
  path: string,
  most: number
): Effect.fn.Return<Uint8Array, PlatformError.PlatformError | NotAFile | FileTooLarge, FileSystem.FileSystem> {
  const files = yield* FileSystem.FileSystem
  // Opening a pipe waits for its writer, in a way that nothing can interrupt.
  const { size, type } = yield* files.stat(path)
  if (type !== "File") return yield* new NotAFile({ kind: kinds.get(type) ?? "something else" })
  if (Number(size) > most) return yield* new FileTooLarge({ size: Number(size), most })
  return yield* files.readFile(path)
})

const kinds: ReadonlyMap<FileSystem.File.Type, string> = new Map<FileSystem.File.Type, string>([
  ["Directory", "a folder"],
  ["BlockDevice", "a device"],
  ["CharacterDevice", "a device"],
  ["FIFO", "a pipe"],
  ["Socket", "a socket"]
])
