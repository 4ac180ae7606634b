import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import type { SettingsValue } from "../../../src/config/Settings.ts"
import { FsWrite } from "../../../src/file/Workspace.ts"
import * as GifName from "../../../src/gif/GifName.ts"
import * as GifSearch from "../../../src/gif/GifSearch.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import { Messaging } from "../../../src/tools/file/TurnFiles.ts"
import { mostAlternatives, SendGif } from "../../../src/tools/gif/SendGif.ts"
import * as Fingerprint from "../../Fingerprint.ts"

const sendWith = ({ tools }: Pick<SettingsValue, "tools">) => {
  const { max_bytes, subdir } = tools.send_gif

  /** The picture as a managed file. The same one is written once. */
  const keep = Effect.fnUntraced(function* (content: Uint8Array) {
    const name = GifName.make(Fingerprint.ofBytes(content))
    const { bytes, place } = yield* (yield* FsWrite).write(`${subdir}/${name}`, content, {
      overwrite: true,
      most: max_bytes
    })
    return { path: Fields.pathOf(place), absolutePath: place.absolute, name, mediaType: "image/gif", bytes }
  })

  const asFile = Effect.fnUntraced(function* (gif: GifSearch.Gif) {
    const { content, url } = yield* (yield* GifSearch.Gifs).fetch(gif)
    const file = yield* keep(content)
    yield* (yield* Messaging).send(file)
    return { sent_as: "file" as const, url, path: file.path, size_bytes: file.bytes }
  })

  const asLink = Effect.fnUntraced(function* ({ page, renditions }: GifSearch.Gif) {
    const url = renditions[0]?.url ?? page ?? ""
    const left = yield* (yield* Messaging).sendLink(url)
    const link = { url, path: null, size_bytes: null }
    return left ? { ...link, sent_as: "link" as const } : { ...link, sent_as: "none" as const, notice: forAnswer }
  })

  return Effect.fnUntraced(function* ({ index = 0, query }: typeof SendGif.parameters.Type) {
    const messaging = yield* Messaging
    const { channel, chat } = yield* ToolCallContext
    const found = yield* (yield* GifSearch.Gifs).find(query, mostAlternatives)
    const gif = found[index]
    if (gif === undefined) {
      const detail = `there are ${found.length} matches, so index may be at most ${found.length - 1}`
      return yield* new GifSearch.GifError({ reason: "no_result", detail })
    }
    const files = tools.file_storage.enabled && (yield* messaging.takesFiles)
    const sent = yield* files ? Effect.catchTag(asFile(gif), "FilesNotTaken", () => asLink(gif)) : asLink(gif)
    return {
      action: "send" as const,
      ok: true as const,
      ...sent,
      title: gif.title,
      index,
      matches: found.length,
      channel,
      chat_id: chat
    }
  })
}

const forAnswer = "This channel carries neither files nor links of their own: put the address into your answer."

export const layer = ToolRegistry.layer(
  [SendGif],
  Settings.useSync((settings) => ({ send_gif: sendWith(settings) })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.send_gif.enabled
    )
  }
)
