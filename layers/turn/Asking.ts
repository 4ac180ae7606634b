/** Asks the model of a turn, or who may answer in its place; what watchers see of that, and what is counted and journaled. */
import type * as Prompt from "effect/ai/Prompt"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Agents from "../../src/agent/Agents.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import type * as Models from "../../src/model/Models.ts"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as MaskedPrompt from "../../src/turn/MaskedPrompt.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import * as ModelStep from "./ModelStep.ts"
import type * as Routes from "./Routes.ts"
import type * as Session from "./Session.ts"
import type * as TurnScope from "./TurnScope.ts"

/** The turn that asks. */
export interface Asker {
  readonly about: ReturnType<typeof TurnScope.about>
  readonly agent: Agents.Agent
}

export interface Question {
  /** Who is asked first. */
  readonly model: Models.ModelHandle
  readonly prompt: (reader: Models.ModelHandle) => Prompt.Prompt
  readonly tools: ReadonlyArray<ToolCalls.Offer>
  readonly cacheKey: string
  readonly onDelta: (kind: "text" | "reasoning", offset: number, text: string) => Effect.Effect<void>
  /** The name of the span around each request. */
  readonly span: "turn.step" | "turn.summary" | "turn.verdict"
  /** Whether words of the answer have been shown. */
  readonly shown: () => boolean
}

export interface Answer {
  /** Who gave it. */
  readonly model: Models.ModelHandle
  readonly response: ModelStep.Response
}

export interface Asking {
  /** The model of an agent. */
  readonly modelOf: (agent: Agents.Agent) => Effect.Effect<Models.ModelHandle, ModelError.ModelUnavailable>
  readonly ask: (
    session: Session.Session,
    asker: Asker,
    question: Question
  ) => Effect.Effect<Answer, Routes.AskError | Journal.ClaimLost>
}

export interface Surroundings {
  readonly models: Models.Models["Service"]
  readonly routes: Routes.Routes
  readonly secrets: KnownSecrets["Service"]
  /** How many more times an empty response is asked for again. */
  readonly retries: number
}

export const make = ({ models, retries, routes, secrets }: Surroundings): Asking => {
  const request = (session: Session.Session, { about }: Asker, question: Question) => {
    const { cacheKey, model: first, onDelta, prompt, shown, span, tools } = question
    const { turnId } = session.run
    const step = session.state().steps + 1
    const askWith = (model: Models.ModelHandle) =>
      ModelStep.ask({
        model,
        prompt: prompt(model),
        secrets,
        tools,
        cacheKey,
        retries,
        onRetry: ({ reason, retries: most, retry, wait }) =>
          Effect.andThen(
            TurnMetrics.retried(model),
            session.publish({
              _tag: "ModelRetry",
              ...about,
              step,
              retry,
              retries: most,
              waitMillis: Math.round(Duration.toMillis(wait)),
              reason
            })
          ),
        onDelta
      }).pipe(
        Effect.timed,
        Effect.tap(([took]) => TurnMetrics.responded(model, Duration.toSeconds(took))),
        Effect.map(([, response]): Answer => ({ model, response })),
        Effect.withSpan(span, { attributes: { step, model: model.model, provider: model.provider } })
      )
    /** What the provider has compacted and can read no longer, the model is shown as it was said. */
    const askOne = (model: Models.ModelHandle) =>
      Effect.catchTag(askWith(model), "AiError", (error) =>
        ModelError.isUnreadable(error) && model.compact !== undefined && !shown()
          ? askWith({ ...model, compact: undefined })
          : Effect.fail(error)
      )
    return routes.ask({
      model: first,
      last: TurnEntries.switchedTo(session.entries(), turnId) ?? first,
      ask: askOne,
      shown,
      onSwitch: (from, to, { code, message }) =>
        Effect.andThen(
          session.append([{ _tag: "ModelSwitched", turnId, step, from, to, code, message }]),
          session.publish({ _tag: "ModelSwitched", ...about, step, from, to, reason: message })
        )
    })
  }
  return {
    modelOf: ({ model, provider }) =>
      Effect.map(models.get({ provider, model }), (handle) => {
        const { compact } = handle
        if (compact === undefined) return handle
        return { ...handle, compact: (prompt) => compact(MaskedPrompt.make(prompt, secrets.text)) }
      }),
    // Asked again, it asks with the history as it is then.
    ask: (session, asker, question) => Effect.suspend(() => request(session, asker, question))
  }
}
