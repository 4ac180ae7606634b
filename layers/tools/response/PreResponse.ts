import * as Effect from "effect/Effect"
import * as Channels from "../../../src/channel/Channels.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolName from "../../../src/tool/ToolName.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { PreResponse } from "../../../src/tools/response/PreResponse.ts"

export const layer = ToolRegistry.layer(
  [PreResponse],
  Channels.Channels.useSync((channels) => ({
    [ToolName.answering]: Effect.fnUntraced(function* ({
      attachments = [],
      kind,
      meta
    }: typeof PreResponse.parameters.Type) {
      if (attachments.length > 0) {
        const { channel } = yield* ToolCallContext
        const way = yield* channels.find(channel)
        if (way?.capabilities.files !== true) return yield* new Channels.FilesNotTaken({ channel })
      }
      return {
        kind,
        ...(meta?.disable_link_preview === undefined ? {} : { disableLinkPreview: meta.disable_link_preview }),
        ...(attachments.length === 0 ? {} : { attachments })
      }
    })
  }))
)
