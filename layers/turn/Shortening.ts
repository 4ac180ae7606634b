/** The two ways to what stands for older messages: a model writes a summary of them, or their provider compacts them itself. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as AwakeTime from "../../src/AwakeTime.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import type * as Models from "../../src/model/Models.ts"
import type * as NativeCompaction from "../../src/model/NativeCompaction.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import * as Compaction from "../../src/turn/Compaction.ts"
import * as History from "../../src/turn/History.ts"
import * as Summary from "../../src/turn/Summary.ts"
import type * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import type * as Asking from "./Asking.ts"
import type * as Routes from "./Routes.ts"
import type * as Session from "./Session.ts"

/** Tokens of older messages that go into a request for a summary when nothing is known of the model. */
const materialTokens = 24_000
/** So much goes in however small the budget is. */
const leastMaterialTokens = 1000
/** Requests for the same summary, each with a third of the material, while the provider finds them too long. */
const furtherRequests = 3

export interface Settings {
  /** For either way. */
  readonly timeout: Duration.Duration
  /** What the model is told that summarises. */
  readonly instructions: string
}

export interface Performed {
  readonly _tag: "Performed"
  readonly by: Models.ModelHandle
  readonly made: Pick<Compaction.Compacted, "how" | "summary" | "items" | "usage">
}

export interface NotPerformed {
  readonly _tag: "NotPerformed"
  readonly why: TurnMetrics.FailedCompaction
  readonly detail: string
}

export interface Shortening {
  /** `budget`: tokens that the history may have, where that is known. */
  readonly bySummary: (
    model: Models.ModelHandle,
    budget: number | undefined,
    plan: Compaction.Plan
  ) => Effect.Effect<Performed | NotPerformed, Journal.ClaimLost>
  readonly natively: (
    model: Models.ModelHandle,
    compact: NativeCompaction.Compact,
    plan: Compaction.Plan
  ) => Effect.Effect<Performed | NotPerformed>
}

export const make = (
  asking: Asking.Asking,
  { instructions, timeout }: Settings,
  session: Session.Session,
  asker: Asking.Asker
): Shortening => {
  /** A request for a summary, and further ones with less to read as long as that is too much. */
  const summarise = (
    model: Models.ModelHandle,
    material: Summary.Material,
    tokens: number,
    further = furtherRequests
  ): Effect.Effect<Asking.Answer, Routes.AskError | Journal.ClaimLost> => {
    const prompt = Summary.request(instructions, material, tokens)
    return Effect.catchTag(
      asking.ask(session, asker, {
        model,
        prompt: () => prompt,
        tools: [],
        span: "turn.summary",
        cacheKey: `${session.run.thread.id}:compact`,
        onDelta: () => Effect.void,
        shown: () => false
      }),
      "AiError",
      (error) =>
        ModelError.isTooLong(error) && further > 0
          ? summarise(model, material, Math.floor(Math.min(tokens, Compaction.estimatePrompt(prompt)) / 3), further - 1)
          : Effect.fail(error)
    )
  }

  const bySummary: Shortening["bySummary"] = (model, budget, plan) =>
    Effect.suspend(() => {
      const material = Summary.material(session.entries(), plan)
      const tokens = budget === undefined ? materialTokens : Math.max(leastMaterialTokens, Math.floor(budget / 2))
      return Effect.map(summarise(model, material, tokens), (answer) => judge(answer, material))
    }).pipe(
      AwakeTime.timeoutOption(timeout),
      Effect.map(Option.getOrElse(() => notWithin(timeout))),
      Effect.catch((error) => (error._tag === "ClaimLost" ? Effect.fail(error) : Effect.succeed(failed(error))))
    )

  const natively: Shortening["natively"] = (model, compact, plan) =>
    Effect.suspend(() => compact(History.promptBefore(session.entries(), plan.keepFrom, model))).pipe(
      Effect.map(({ inputTokens, items, outputTokens }): Performed | NotPerformed => ({
        _tag: "Performed",
        by: model,
        made: { how: "native", summary: "", items, usage: { inputTokens, outputTokens } }
      })),
      Effect.provideService(PromptCache.Key, session.run.thread.id),
      AwakeTime.timeoutOption(timeout),
      Effect.map(Option.getOrElse(() => notWithin(timeout))),
      Effect.catch((error) => Effect.succeed(failed(error)))
    )

  return { bySummary, natively }
}

/** A summary counts if it is whole, says something, and saves something. */
const judge = ({ model, response }: Asking.Answer, material: Summary.Material): Performed | NotPerformed => {
  const summary = response.text.trim()
  if (summary === "") return notPerformed("blank", "the summary was empty")
  if (response.finishReason !== "stop") return notPerformed("failed", "the summary was cut off")
  if (!Summary.saves(summary, material)) return notPerformed("longer", "the summary was no shorter than the messages")
  return { _tag: "Performed", by: model, made: { how: "summary", summary, usage: response.usage } }
}

const notPerformed = (why: TurnMetrics.FailedCompaction, detail: string): NotPerformed => ({
  _tag: "NotPerformed",
  why,
  detail
})

const notWithin = (timeout: Duration.Duration): NotPerformed =>
  notPerformed("timeout", `it was not there within ${Duration.format(timeout)}`)

const failed = (error: Routes.AskError): NotPerformed =>
  error._tag === "EmptyResponse"
    ? notPerformed("blank", error.message)
    : notPerformed("failed", ModelError.describe(error).message)
