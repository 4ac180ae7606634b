/**
 * Makes the history of a thread shorter when it outgrows its model: a summary is asked for and journaled, and stands for the
 * older part from then on. Where the settings want it, the provider compacts that part itself, and a summary is what is left
 * when it cannot.
 *
 * This happens right before a request, when every call has its result. Nothing changes before the summary is on disk, so a
 * crash, a stop or a failure on the way leaves the history as it was, and a crash after it finds it done.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Event from "../../src/event/Event.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Models from "../../src/model/Models.ts"
import type * as NativeCompaction from "../../src/model/NativeCompaction.ts"
import * as Origin from "../../src/model/Origin.ts"
import * as Providers from "../../src/model/Providers.ts"
import * as Taint from "../../src/policy/Taint.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Attached from "../../src/turn/Attached.ts"
import * as Compaction from "../../src/turn/Compaction.ts"
import * as History from "../../src/turn/History.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import type * as Asking from "./Asking.ts"
import type * as Session from "./Session.ts"
import * as Shortening from "./Shortening.ts"

/** Compactions in one turn, after which it goes on with what it has. */
const mostPerTurn = 5
/** Compactions by a provider in a row. They let go of nothing in memory, since another model may have to read all of it. */
const mostNative = 4
/** What part of the budget the latest messages may have that are kept as they are. */
const keptPart = 1 / 8

export interface Settings extends Shortening.Settings {
  readonly limit: Omit<Compaction.Limit, "contextTokens">
  readonly maxMessages: number | undefined
  /** Whether providers compact themselves, where they can. */
  readonly native: boolean
  readonly notify: Notify
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
  /** What the provider of the model is asked to do itself. */
  readonly compact: NativeCompaction.Compact | undefined
  readonly model: Models.ModelHandle
  readonly budget: number | undefined
  readonly tokensBefore: number
}

interface NativePlan {
  readonly compact: NativeCompaction.Compact
  readonly plan: Compaction.Plan
}

export const make = (asking: Asking.Asking, settings: Settings, session: Session.Session, turn: Turn): Compactions => {
  const { limit, notify } = settings
  const { turnId } = session.run
  /** The response after which the last attempt was made, whatever came of it. */
  let attemptedAt = 0
  const shortening = Shortening.make(asking, settings, session, turn)

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

  const planFor = (given: Attempt, native?: Compaction.Holds) =>
    Compaction.plan(session.entries(), {
      turnId,
      keepTokens: given.budget === undefined ? 0 : Math.floor(given.budget * keptPart),
      refused: given.refused,
      native
    })

  const journal = (given: Attempt, plan: Compaction.Plan, { by, made }: Shortening.Performed) => {
    const taint = Taint.few(Taint.inLog(session.entries()))
    const entry: Compaction.Compacted = {
      _tag: "Compacted",
      turnId,
      step: session.state().steps,
      ...made,
      ...plan,
      tokensBefore: given.tokensBefore,
      provider: by.provider,
      model: by.model,
      ...(taint.length === 0 ? {} : { taint })
    }
    const done = made.how === "native" ? "compacted by their provider" : "summarised"
    return Effect.uninterruptible(
      Effect.andThen(
        session.append([entry]),
        publish("completed", `Older messages are ${done} for the model from here on`, made.summary)
      )
    )
  }

  const notDone = (how: Entry.CompactionKind, { detail, why }: Shortening.NotPerformed) =>
    Effect.andThen(
      Effect.logWarning(`The history of a thread was not made shorter (${how}): ${detail}`),
      TurnMetrics.notCompacted(how, why)
    )

  /** The provider's own compaction. Tells whether it was performed: the summary is still to come if not. */
  const natively = Effect.fnUntraced(function* (given: Attempt, { compact, plan }: NativePlan) {
    const found = yield* shortening.natively(given.model, compact, plan)
    yield* found._tag === "NotPerformed" ? notDone("native", found) : journal(given, plan, found)
    return found._tag === "Performed"
  })

  const attempt = Effect.fnUntraced(
    function* (given: Attempt, plan: Compaction.Plan, native?: NativePlan) {
      const how = native === undefined ? "Summarising" : "Compacting"
      yield* publish("started", `${how} older messages, so that there is room to go on`)
      if (native !== undefined && (yield* natively(given, native))) return true
      const found = yield* shortening.bySummary(given.model, given.budget, plan)
      if (found._tag === "NotPerformed") {
        yield* notDone("summary", found)
        const detail = `Older messages could not be summarised: ${found.detail}`
        if (notify !== "off") session.remarks.push(detail)
        yield* publish("failed", detail)
        return false
      }
      yield* journal(given, plan, found)
      return true
    },
    (effect, given) =>
      Effect.withSpan(effect, "turn.compaction", {
        attributes: { refused: given.refused, tokens: given.tokensBefore, model: given.model.model }
      })
  )

  const tryTo = Effect.fnUntraced(function* (given: Attempt) {
    if (session.state().compactions >= mostPerTurn) return false
    const plan = planFor(given)
    if (plan === undefined || given.compact === undefined) return plan !== undefined && (yield* attempt(given, plan))
    // Nothing has come since the provider compacted it last.
    const native = planFor(given, History.readableBy(given.model))
    return native !== undefined && (yield* attempt(given, plan, { compact: given.compact, plan: native }))
  })

  /** Who summarises: a model, which the offline helper is not. None when there is none to ask; the request itself will say why. */
  const summariser = Effect.map(Effect.option(asking.modelOf(turn.agent)), (found) =>
    Option.getOrUndefined(Option.filter(found, isModel))
  )
  const budgetOf = (model: Models.ModelHandle) =>
    Compaction.budget({ ...limit, contextTokens: model.info?.contextTokens })

  const sizeFor = (model: Models.ModelHandle) =>
    Attached.estimate(session.entries(), model) +
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
      const compact =
        settings.native && Origin.same(measured.by, model) && Compaction.nativeInRow(session.entries()) < mostNative
          ? model.compact
          : undefined
      yield* tryTo({ refused: false, compact, model: asked(model), budget, tokensBefore })
    }),
    afterRefusal: Effect.gen(function* () {
      const model = yield* summariser
      if (model === undefined) return false
      const measured = Compaction.measured(session.entries())
      attemptedAt = measured?.seq ?? attemptedAt
      const tokensBefore = Math.max(measured?.tokens ?? 0, sizeFor(model))
      return yield* tryTo({
        refused: true,
        compact: undefined,
        model: asked(model),
        budget: budgetOf(model),
        tokensBefore
      })
    })
  }
}

const isModel = ({ provider }: Models.ModelHandle): boolean => provider !== Providers.offline

const asked = (model: Models.ModelHandle): Models.ModelHandle =>
  model.fallback === undefined ? model : { ...model, fallback: model.fallback.filter(isModel) }
