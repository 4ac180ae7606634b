import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Settings } from "../../../src/config/Settings.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { CurrentDatetime, UnknownDirective } from "../../../src/tools/utility/CurrentDatetime.ts"
import * as Strftime from "../../../src/tools/utility/Strftime.ts"

export const layer = ToolRegistry.layer(
  [CurrentDatetime],
  Settings.useSync(({ tools: { time } }) => ({
    current_datetime: ({ format = time.default_format }: typeof CurrentDatetime.parameters.Type) =>
      Effect.flatMap(DateTime.now, (now) =>
        Strftime.format(now, format).pipe(
          Result.match({
            onFailure: (directive) => Effect.fail(new UnknownDirective({ directive })),
            onSuccess: (timestamp) => Effect.succeed({ timestamp })
          })
        )
      )
  })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.time.enabled
    )
  }
)
