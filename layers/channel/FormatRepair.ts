/** Has the model of `[llm]` mend replies whose format their channel cannot read. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { FormatRepair, question } from "../../src/channel/FormatRepair.ts"
import type { Unreadable } from "../../src/channel/FormatRepair.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import { Models } from "../../src/model/Models.ts"
import * as Providers from "../../src/model/Providers.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import * as ModelStep from "../turn/ModelStep.ts"

/** How long it may take: a person waits for the reply, which can also go out plain. */
const timeout = "1 minute"

const make = Effect.gen(function* () {
  const models = yield* Models
  const secrets = yield* KnownSecrets
  const { llm } = yield* Settings.Settings

  const ask = Effect.fnUntraced(function* (unreadable: Unreadable) {
    const model = yield* models.default
    // The offline helper cannot mend anything.
    if (model.provider === Providers.offline) return undefined
    const response = yield* ModelStep.ask({
      model,
      prompt: question(unreadable),
      secrets,
      tools: [],
      cacheKey: `${unreadable.threadId}:format-repair`,
      retries: llm.retry_attempts,
      onRetry: () => TurnMetrics.retried(model),
      onDelta: () => Effect.void
    })
    yield* TurnMetrics.used(model, response.usage)
    const text = response.text.trim()
    // A text that was cut off lacks words that the reply had.
    return response.finishReason === "stop" && text !== "" ? text : undefined
  })

  return {
    mend: Effect.fn("FormatRepair.mend")((unreadable: Unreadable) =>
      ask(unreadable).pipe(
        Effect.timeoutOption(timeout),
        Effect.map(Option.getOrUndefined),
        Effect.catch((error) =>
          Effect.as(
            Effect.logWarning(
              `The format of a reply could not be mended: ${error._tag === "AiError" ? ModelError.describe(error).message : error.message}`
            ),
            undefined
          )
        )
      )
    )
  }
})

export const layer = Layer.effect(FormatRepair, make)
