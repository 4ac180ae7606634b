/** Handlers of the tools that take managed files to people and to the model. */
import * as Effect from "effect/Effect"
import * as Attachment from "../../../src/attachment/Attachment.ts"
import { Settings } from "../../../src/config/Settings.ts"
import { FileError } from "../../../src/file/FileError.ts"
import * as MediaType from "../../../src/file/MediaType.ts"
import { FsRead } from "../../../src/file/Workspace.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import { SelfInsertArtifact, UnsupportedMime } from "../../../src/tools/file/SelfInsertArtifact.ts"
import { SendFile } from "../../../src/tools/file/SendFile.ts"
import { Messaging, TurnContext } from "../../../src/tools/file/TurnFiles.ts"
import * as Offered from "./Offered.ts"

const send_file = Effect.fnUntraced(function* ({ caption, path }: typeof SendFile.parameters.Type) {
  // Opened, and not only looked at: what cannot be read cannot be sent.
  const { info } = yield* Effect.scoped((yield* FsRead).open(path))
  const { channel, chat } = yield* ToolCallContext
  const { bytes, name, place } = info
  const file = {
    path: Fields.pathOf(place),
    absolutePath: place.absolute,
    name,
    mediaType: MediaType.ofName(name),
    bytes
  }
  yield* (yield* Messaging).send(file, caption)
  return {
    action: "send" as const,
    ok: true as const,
    path: file.path,
    ...Fields.placeOf(place),
    chat_id: chat,
    channel,
    sent: true as const
  }
})

const insertWith = (limits: Attachment.Limits) =>
  Effect.fnUntraced(function* (given: typeof SelfInsertArtifact.parameters.Type) {
    const { filename, mime, path, text } = given
    const most = Math.floor((limits.max_encoded_bytes * 3) / 4)
    const { bytes, info, truncated } = yield* (yield* FsRead).read(path, { most })
    if (truncated) return yield* tooLarge(path, most)
    const mediaType = mime ?? (given.as === "image" ? "image/*" : undefined)
    const [file] = yield* Effect.mapError(
      Effect.fromResult(
        Attachment.judge(
          [{ name: filename ?? info.name, content: bytes, ...(mediaType === undefined ? {} : { mediaType }) }],
          { ...limits, max_per_message: 1, max_total_encoded_bytes: limits.max_encoded_bytes }
        )
      ),
      ({ detail }) => new UnsupportedMime({ path, detail })
    )
    if (file === undefined) return yield* new UnsupportedMime({ path, detail: "There is nothing to show." })
    yield* (yield* TurnContext).insert(file, text)
    return {
      status: "ok" as const,
      path: Fields.pathOf(info.place),
      ...Fields.placeOf(info.place),
      mime: file.mediaType,
      size: bytes.byteLength
    }
  })

const tooLarge = (path: string, most: number) =>
  new FileError({
    reason: "too_large",
    path,
    detail: `Expected at most ${most} bytes, as of files that come with messages.`
  })

export const layer = ToolRegistry.layer(
  [SendFile, SelfInsertArtifact],
  Settings.useSync(({ attachments }) => ({ send_file, self_insert_artifact: insertWith(attachments) })),
  { offeredWhen: Offered.withFiles }
)
