import * as Effect from "effect/Effect"
import * as ToolName from "../../../src/tool/ToolName.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { PreResponse } from "../../../src/tools/response/PreResponse.ts"

export const layer = ToolRegistry.layer([PreResponse], {
  [ToolName.answering]: ({ attachments, kind, meta }) =>
    Effect.succeed({
      kind,
      ...(meta?.disable_link_preview === undefined ? {} : { disableLinkPreview: meta.disable_link_preview }),
      ...(attachments === undefined || attachments.length === 0 ? {} : { attachments })
    })
})
