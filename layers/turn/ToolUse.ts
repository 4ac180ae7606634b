/** Lets a model judge whether an answer that used no tool needed one, where the settings ask for that. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as Providers from "../../src/model/Providers.ts"
import * as Entry from "../../src/thread/Entry.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import * as ToolUse from "../../src/turn/ToolUse.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import type * as Asking from "./Asking.ts"
import type * as Routes from "./Routes.ts"
import type * as Session from "./Session.ts"

/** A model that gives no verdict is asked so often; then the answer stands. */
const mostAttempts = 3
const timeout = "30 seconds"

export interface Asker extends Asking.Asker {
  readonly tools: ToolCalls.TurnTools
}

/** The tools that an answer may have needed. */
export const choice = ({ offers }: ToolCalls.TurnTools): ReadonlyArray<ToolCalls.Offer> =>
  offers.filter(({ name }) => name !== ToolName.answering)

/** The judgement of the last answer, to be journaled. None when nobody could judge it: what guards an answer must not cost it. */
export const judge = (
  asking: Asking.Asking,
  session: Session.Session,
  asker: Asker
): Effect.Effect<Entry.Entry | undefined, Journal.ClaimLost> =>
  Effect.gen(function* () {
    const model = yield* asking.modelOf(asker.agent)
    // The offline helper can judge nothing.
    return model.provider === Providers.offline ? undefined : yield* verdictOf(asking, session, asker, model)
  }).pipe(
    Effect.timeoutOption(timeout),
    Effect.map(Option.getOrUndefined),
    Effect.tap((found) => (found === undefined ? Effect.logDebug(noVerdict) : Effect.void)),
    Effect.catch((error) =>
      error._tag === "ClaimLost"
        ? Effect.fail(error)
        : Effect.as(Effect.logWarning(`${noVerdict}: ${why(error)}`), undefined)
    ),
    Effect.withSpan("turn.toolUse")
  )

const noVerdict = "Nobody could judge whether an answer needed a tool; it is given as it is"

const why = (error: Routes.AskError | ModelError.ModelUnavailable): string =>
  error._tag === "AiError" ? ModelError.describe(error).message : error.message

const verdictOf = Effect.fnUntraced(function* (
  asking: Asking.Asking,
  session: Session.Session,
  asker: Asker,
  model: Parameters<Asking.Asking["ask"]>[2]["model"]
) {
  const { answers, steps, turnId } = session.state()
  const material: ToolUse.Material = {
    request: TurnEntries.requests(session.entries(), turnId),
    answer: answers.at(-1)?.text ?? "",
    tools: choice(asker.tools)
  }
  const refused: Array<string> = []
  let usage = Entry.noUsage
  while (refused.length < mostAttempts) {
    const answer = yield* asking.ask(session, asker, {
      model,
      prompt: () => ToolUse.question(material, refused),
      tools: [],
      span: "turn.verdict",
      cacheKey: `${session.run.thread.id}:tool-requirement`,
      onDelta: () => Effect.void,
      shown: () => false
    })
    usage = Entry.addUsage(usage, answer.response.usage)
    const verdict = ToolUse.read(answer.response.text)
    if (verdict._tag === "Some") {
      const { needed, reason, tool } = verdict.value
      const known = tool !== undefined && material.tools.some(({ name }) => name === tool)
      return {
        _tag: "ToolUseJudged",
        turnId,
        step: steps,
        needed,
        ...(known ? { tool } : {}),
        reason,
        provider: answer.model.provider,
        model: answer.model.model,
        usage
      } satisfies Entry.Entry
    }
    refused.push(answer.response.text)
  }
  return undefined
})
