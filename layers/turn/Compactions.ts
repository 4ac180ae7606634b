/**
 * Makes the history of a thread shorter when it outgrows its model: a summary is asked for and journaled, and stands for the
 * older part from then on.
 *
 * This happens right before a request, when every call has its result. Nothing changes before the summary is on disk, so a
 * crash, a stop or a failure on the way leaves the history as it was, and a crash after it finds it done.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Event from "../../src/event/Event.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import type * as Models from "../../src/model/Models.ts"
import * as Providers from "../../src/model/Providers.ts"
import * as Compaction from "../../src/turn/Compaction.ts"
import * as History from "../../src/turn/History.ts"
import * as Summary from "../../src/turn/Summary.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import type * as Asking from "./Asking.ts"
import type * as Routes from "./Routes.ts"
import type * as Session from "./Session.ts"

/** Compactions in one turn, after which it goes on with what it has. */
const mostPerTurn = 5
/** Tokens of older messages that go into a request for a summary when nothing is known of the model. */
const materialTokens = 24_000
/** So much goes in however small the budget is. */
const leastMaterialTokens = 1000
/** Requests for the same summary, each with a third of the material, while the provider finds them too long. */
const furtherRequests = 3
/** What part of the budget the latest messages may have that are kept as they are. */
const keptPart = 1 / 8

export interface Settings {
  readonly limit: Omit<Compaction.Limit, "contextTokens">
  readonly maxMessages: number | undefined
  readonly timeout: Duration.Duration
  readonly notify: Notify
  /** What the model is told that summarises. */
  readonly instructions: string
}

export type Notify = Extract<Event.Event, { _tag: "Compaction" }>["notify"]

/** The compactions of one turn. */
export interface Compactions {
  /** Compacts if the last response says that it is time. A second time only after another response says so again. */
  readonly whenDue: Effect.Effect<void, Journal.ClaimLost>
  /** Compacts because the provider refused the history as too long. Tells whether there is less to send now. */
  readonly afterRefusal: Effect.Effect<boolean, Journal.ClaimLost>
}

interface Turn extends Asking.Asker {
  readonly system: string
}

interface Attempt {
  readonly refused: boolean
  readonly model: Models.ModelHandle
  readonly budget: number | undefined
  readonly tokensBefore: number
}

export const make = (asking: Asking.Asking, settings: Settings, session: Session.Session, turn: Turn): Compactions => {
  const { limit, notify } = settings
  const { turnId } = session.run
  /** The response after which the last attempt was made, whatever came of it. */
  let attemptedAt = 0

  const publish = (phase: "started" | "completed" | "failed", detail: string, summary?: string) =>
    session.publish({
      _tag: "Compaction",
      ...turn.about,
      step: session.state().steps + 1,
      phase,
      notify,
      detail,
      ...(summary === undefined || notify !== "full" ? {} : { summary })
    })

  /** A request for a summary, and further ones with less to read as long as that is too much. */
  const summarise = (
    model: Models.ModelHandle,
    material: Summary.Material,
    tokens: number,
    further = furtherRequests
  ): Effect.Effect<Asking.Answer, Routes.AskError | Journal.ClaimLost> => {
    const prompt = Summary.request(settings.instructions, material, tokens)
    return Effect.catchTag(
      asking.ask(session, turn, {
        model,
        prompt: () => prompt,
        tools: [],
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

  const summaryOf = (attempt: Attempt, material: Summary.Material) =>
    summarise(
      attempt.model,
      material,
      attempt.budget === undefined ? materialTokens : Math.max(leastMaterialTokens, Math.floor(attempt.budget / 2))
    ).pipe(
      Effect.timeoutOption(settings.timeout),
      Effect.map(
        Option.match({
          onNone: () => notPerformed("timeout", `no summary within ${Duration.format(settings.timeout)}`),
          onSome: (answer) => judge(answer, material)
        })
      ),
      Effect.catch((error) => (error._tag === "ClaimLost" ? Effect.fail(error) : Effect.succeed(failed(error))))
    )

  const attempt = Effect.fnUntraced(
    function* (given: Attempt, plan: Compaction.Plan) {
      yield* publish("started", "Summarising older messages, so that there is room to go on")
      const material = Summary.material(session.entries(), plan)
      const found = yield* summaryOf(given, material)
      if (found._tag === "NotPerformed") {
        yield* Effect.logWarning(`The history of a thread was not made shorter: ${found.detail}`)
        yield* TurnMetrics.notCompacted("summary", found.why)
        const detail = `Older messages could not be summarised: ${found.detail}`
        if (notify !== "off") session.remarks.push(detail)
        yield* publish("failed", detail)
        return false
      }
      const { model, response, summary } = found
      yield* Effect.uninterruptible(
        Effect.andThen(
          session.append([
            {
              _tag: "Compacted",
              turnId,
              step: session.state().steps,
              how: "summary",
              summary,
              ...plan,
              tokensBefore: given.tokensBefore,
              provider: model.provider,
              model: model.model,
              usage: response.usage
            }
          ]),
          publish("completed", "Older messages are summarised for the model from here on", summary)
        )
      )
      return true
    },
    (effect, given) =>
      Effect.withSpan(effect, "turn.compaction", {
        attributes: { refused: given.refused, tokens: given.tokensBefore, model: given.model.model }
      })
  )

  const tryTo = Effect.fnUntraced(function* (given: Attempt) {
    if (session.state().compactions >= mostPerTurn) return false
    const plan = Compaction.plan(session.entries(), {
      turnId,
      keepTokens: given.budget === undefined ? 0 : Math.floor(given.budget * keptPart),
      refused: given.refused
    })
    return plan === undefined ? false : yield* attempt(given, plan)
  })

  /** Who summarises: a model, which the offline helper is not. None when there is none to ask; the request itself will say why. */
  const summariser = Effect.map(Effect.option(asking.modelOf(turn.agent)), (found) =>
    Option.getOrUndefined(Option.filter(found, isModel))
  )
  const budgetOf = (model: Models.ModelHandle) =>
    Compaction.budget({ ...limit, contextTokens: model.info?.contextTokens })

  const sizeFor = (model: Models.ModelHandle) =>
    Compaction.estimatePrompt(
      History.render(session.entries(), {
        system: turn.system,
        maxMessages: settings.maxMessages,
        turnId,
        reader: model
      })
    )

  return {
    whenDue: Effect.gen(function* () {
      const measured = Compaction.measured(session.entries())
      if (measured === undefined || measured.seq <= attemptedAt) return
      const model = yield* summariser
      const budget = model === undefined ? undefined : budgetOf(model)
      if (model === undefined || budget === undefined) return
      const tokensBefore = measured.tokens ?? sizeFor(model)
      if (tokensBefore < budget) return
      attemptedAt = measured.seq
      yield* tryTo({ refused: false, model: asked(model), budget, tokensBefore })
    }),
    afterRefusal: Effect.gen(function* () {
      const model = yield* summariser
      if (model === undefined) return false
      const measured = Compaction.measured(session.entries())
      attemptedAt = measured?.seq ?? attemptedAt
      const tokensBefore = Math.max(measured?.tokens ?? 0, sizeFor(model))
      return yield* tryTo({ refused: true, model: asked(model), budget: budgetOf(model), tokensBefore })
    })
  }
}

const isModel = ({ provider }: Models.ModelHandle): boolean => provider !== Providers.offline

const asked = (model: Models.ModelHandle): Models.ModelHandle =>
  model.fallback === undefined ? model : { ...model, fallback: model.fallback.filter(isModel) }

const notPerformed = (why: TurnMetrics.FailedCompaction, detail: string) =>
  ({ _tag: "NotPerformed", why, detail }) as const

const failed = (error: Routes.AskError) =>
  error._tag === "EmptyResponse"
    ? notPerformed("blank", error.message)
    : notPerformed("failed", ModelError.describe(error).message)

/** A summary counts if it is whole, says something, and saves something. */
const judge = ({ model, response }: Asking.Answer, material: Summary.Material) => {
  const summary = response.text.trim()
  if (summary === "") return notPerformed("blank", "the summary was empty")
  if (response.finishReason !== "stop") return notPerformed("failed", "the summary was cut off")
  if (!Summary.saves(summary, material)) return notPerformed("longer", "the summary was no shorter than the messages")
  return { _tag: "Performed", model, response, summary } as const
}
