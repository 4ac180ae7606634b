/** Files that a command is to send along. What may be sent is the daemon's to judge; here only what cannot be sent at all is refused. */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { CommandFailed, exitCodes } from "../../src/cli/CommandFailed.ts"
import type { Encoded } from "../../src/attachment/Attachment.ts"
import * as Limits from "../rpc/Limits.ts"

/** Reads the files, in base64. */
export const read = (
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Encoded>, CommandFailed, FileSystem.FileSystem | Path.Path> =>
  Effect.forEach(paths, readOne)

const readOne = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const failed = (why: string) => new CommandFailed({ code: exitCodes.failed, text: `--attach: ${path} ${why}` })
  const info = yield* Effect.mapError(files.stat(path), () => failed("cannot be read."))
  if (info.type !== "File") return yield* failed("is no file.")
  if (Number(info.size) > Limits.requestBytes) return yield* failed(`is larger than ${Limits.requestBytes} bytes.`)
  const content = yield* Effect.mapError(files.readFile(path), () => failed("cannot be read."))
  return { name: (yield* Path.Path).basename(path), data: Base64.encode(content) }
})
