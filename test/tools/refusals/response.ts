import * as Refusals from "./Refusals.ts"

export const group: Refusals.Group = {
  layer: Refusals.tools({}),
  refusals: [
    {
      tool: "pre_response",
      code: "channel:files_not_taken",
      arguments: { kind: "text", attachments: [{ path: "a.png", type: "image" }] }
    }
  ]
}
