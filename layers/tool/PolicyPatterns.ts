/** Says at the start which patterns of the settings match no tool, once all tools are registered. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import * as PolicyPatterns from "../../src/tool/PolicyPatterns.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const tools = yield* (yield* ToolRegistry).all
    const names = tools.map((tool) => tool.name)
    yield* Effect.forEach(PolicyPatterns.unmatched(yield* Settings, names), (line) => Effect.logWarning(line), {
      discard: true
    })
  })
)
