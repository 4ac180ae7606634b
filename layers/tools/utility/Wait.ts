import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { Wait } from "../../../src/tools/utility/Wait.ts"

export const layer = ToolRegistry.layer(
  [Wait],
  Settings.useSync(({ tools }) => ({
    wait: ({ milliseconds }: typeof Wait.parameters.Type) => {
      const slept = Math.min(milliseconds, tools.wait.max_milliseconds)
      return Effect.as(Effect.sleep(Duration.millis(slept)), { slept_ms: slept, requested_ms: milliseconds })
    }
  })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.wait.enabled
    )
  }
)
