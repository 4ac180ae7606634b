/** Files that a command is to send along. What may be sent is the daemon's to judge; here only what cannot be sent at all is refused. */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { CommandFailed, exitCodes } from "../../src/cli/CommandFailed.ts"
import type { Encoded } from "../../src/attachment/Attachment.ts"
import * as Limits from "../rpc/Limits.ts"
import * as RegularFile from "../storage/RegularFile.ts"

/** Reads the files, in base64. */
export const read = (
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Encoded>, CommandFailed, FileSystem.FileSystem | Path.Path> =>
  Effect.forEach(paths, readOne)

const readOne = Effect.fnUntraced(function* (path: string) {
  const failed = (why: string) => new CommandFailed({ code: exitCodes.failed, text: `--attach: ${path} ${why}` })
  const content = yield* RegularFile.read(path, Limits.requestBytes).pipe(
    Effect.catchTags({
      NotAFile: () => Effect.fail(failed("is no file.")),
      FileTooLarge: ({ most }) => Effect.fail(failed(`is larger than ${most} bytes.`)),
      PlatformError: () => Effect.fail(failed("cannot be read."))
    })
  )
  return { name: (yield* Path.Path).basename(path), data: Base64.encode(content) }
})
