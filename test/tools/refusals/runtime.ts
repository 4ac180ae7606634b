import * as Layer from "effect/Layer"
import * as ReadDocs from "../../../layers/tools/runtime/ReadDocs.ts"
import * as Fixtures from "../../tool/Fixtures.ts"
import * as Refusals from "./Refusals.ts"

export const group: Refusals.Group = {
  layer: Refusals.tools({}),
  refusals: [
    { tool: "read_docs", code: "page_not_found", arguments: { page: "../package.json" } },
    {
      tool: "read_docs",
      code: "docs_unavailable",
      arguments: {},
      layer: Layer.orDie(ReadDocs.layerAt("/nowhere/docs").pipe(Layer.provideMerge(Fixtures.pipeline({}))))
    }
  ]
}
