/**
 * The turn loop: ask what is next, do it, journal the outcome, fold it in.
 *
 * Every journal point is uninterruptible together with the effect it records, so a stop falls between points: a tool's
 * result is never lost and never invented.
 */
import type * as AiError from "effect/ai/AiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Agents from "../../src/agent/Agents.ts"
import * as SystemPrompt from "../../src/agent/SystemPrompt.ts"
import { Approvals } from "../../src/approval/Approvals.ts"
import { Attachments } from "../../src/attachment/Attachments.ts"
import * as Channels from "../../src/channel/Channels.ts"
import * as Deliveries from "../../src/channel/Deliveries.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as Models from "../../src/model/Models.ts"
import * as Taint from "../../src/policy/Taint.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { unavailableIn } from "../../src/storage/StorageError.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as ActiveTime from "../../src/turn/ActiveTime.ts"
import * as Attached from "../../src/turn/Attached.ts"
import * as History from "../../src/turn/History.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import { TurnRunner, type TurnRun } from "../../src/turn/TurnRunner.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import { TurnSlots } from "../conversation/TurnSlots.ts"
import * as Asking from "./Asking.ts"
import * as Compactions from "./Compactions.ts"
import * as Endings from "./Endings.ts"
import type * as ModelStep from "./ModelStep.ts"
import * as Recordings from "./Recordings.ts"
import * as Routes from "./Routes.ts"
import * as Session from "./Session.ts"
import * as Steering from "./Steering.ts"
import * as ToolStep from "./ToolStep.ts"
import * as ToolUse from "./ToolUse.ts"
import * as TurnCapabilities from "./TurnCapabilities.ts"
import * as TurnScope from "./TurnScope.ts"
import * as Uploads from "./Uploads.ts"

const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const agents = yield* Agents.Agents
  const prompts = yield* SystemPrompt.SystemPrompt
  const toolCalls = yield* ToolCalls.ToolCalls
  const approvals = yield* Approvals
  const attachments = yield* Attachments
  const channels = yield* Channels.Channels
  const uploads = Uploads.make({ attachments, files: yield* Workspace, settings: settings.tools.file_storage })
  const recordings = Recordings.make(attachments, settings)
  const slots = yield* TurnSlots
  const services: Session.Services = {
    journal: yield* Journal.Journal,
    threads: yield* Threads.Threads,
    events: yield* EventBus.EventBus
  }
  const steering = Steering.make(services.journal)
  const endings = Endings.make({
    channels,
    deliveries: yield* Deliveries.Deliveries,
    steering,
    toolCalls,
    approvals,
    ownerId: settings.runtime.owner_id,
    notify: settings.memory.notify_compaction_updates
  })

  const asking = Asking.make({
    models: yield* Models.Models,
    secrets: yield* KnownSecrets,
    routes: Routes.make(settings.llm.fallback_cooldown_seconds),
    retries: settings.llm.retry_attempts
  })
  const { memory } = settings
  const compacting: Compactions.Settings = {
    limit: { maxHistoryTokens: memory.max_history_tokens, ratio: memory.context_ratio_before_compact },
    maxMessages: memory.max_history_messages,
    timeout: memory.compaction_timeout_seconds,
    native: memory.compaction === "native",
    notify: memory.notify_compaction_updates,
    instructions: prompts.compaction
  }

  const guarded = settings.orchestration.main_tool_use_guardrail === "llm_classifier"
  const limits = {
    maxSteps: settings.llm.max_tool_iterations,
    maxToolCalls: Math.max(12, 2 * settings.llm.max_tool_iterations)
  }

  /** Everything that is fixed for the whole turn. */
  const prepare = Effect.fnUntraced(function* (session: Session.Session) {
    const scope = TurnScope.of(session, settings.runtime.owner_id)
    const agent = yield* Effect.catchTag(agents.get(session.run.thread.agent), "AgentNotFound", () =>
      Effect.succeed(agents.main)
    )
    const effects = TurnCapabilities.make(
      { scope, channels, attachments },
      session.entries,
      settings.memory.max_history_messages
    )
    const tools = yield* toolCalls.forTurn(scope, agent.tools, effects.grant, () => Taint.inLog(session.entries()))
    // Calls of an earlier life of the process count as well.
    for (const [name, count] of session.state().callCounts) tools.counts.set(name, count)
    const names = tools.offers.map((offer) => offer.name)
    const toolOf = (name: string) => tools.registrations.get(name)?.tool
    const system = yield* prompts.compose({ agent, turn: scope, tools: names })
    const asker = { about: TurnScope.about(scope), agent, system }
    const compactions = Compactions.make(asking, compacting, session, asker)
    const judged = guarded && ToolUse.choice(tools).length > 0
    const contents = new Map<string, Uint8Array>()
    return { ...asker, tools, names, effects, compactions, contents, limits: { ...limits, toolOf, judged } }
  })
  type Prepared = Effect.Success<ReturnType<typeof prepare>>

  /** The files that the model may be shown. What was read once in a turn is not read again. */
  const filesFor = Effect.fnUntraced(function* (session: Session.Session, { contents }: Prepared) {
    const wanted = Attached.wanted(session.entries())
    const missing = wanted.flatMap(({ file }) => (contents.has(file.sha256) ? [] : [file.sha256]))
    for (const [sha256, content] of yield* attachments.contents(missing)) contents.set(sha256, content)
    const shown = new Map<string, Uint8Array>()
    for (const { file, key } of wanted) {
      const content = contents.get(file.sha256)
      if (content !== undefined) shown.set(key, content)
    }
    return shown
  })

  /** Asks for the next response. A history that is refused as too long is made shorter once, and sent once more. */
  const askModel = Effect.fnUntraced(function* (session: Session.Session, prepared: Prepared) {
    const { about, agent, compactions, system, tools } = prepared
    const { turnId } = session.run
    const { format, steps } = session.state()
    const step = steps + 1
    let begun = false

    yield* uploads.save(session)
    yield* recordings.hear(session, tools)
    const shown = yield* filesFor(session, prepared)
    const ask = asking.ask(session, prepared, {
      model: yield* asking.modelOf(agent),
      prompt: (reader) =>
        History.render(session.entries(), {
          system,
          maxMessages: settings.memory.max_history_messages,
          turnId,
          reader,
          shown
        }),
      tools: tools.offers,
      span: "turn.step",
      cacheKey: session.run.thread.id,
      onDelta: (kind, offset, text) => {
        begun ||= kind === "text" && text.trim() !== ""
        return session.publish({ _tag: "ModelDelta", ...about, step, kind, offset, text })
      },
      shown: () => begun
    })
    const { model, response } = yield* Effect.catchTag(ask, "AiError", (error) =>
      ModelError.isTooLong(error) && !begun
        ? Effect.flatMap(compactions.afterRefusal, (shorter) => (shorter ? ask : Effect.fail(error)))
        : Effect.fail(error)
    )
    const reasoning = response.reasoning
      .map(({ text }) => text)
      .join("\n")
      .trim()
    if (reasoning !== "") yield* session.publish({ _tag: "Reasoning", ...about, step, text: reasoning })
    return {
      _tag: "AssistantMessage",
      turnId,
      step,
      provider: model.provider,
      model: model.model,
      ...response,
      ...(format === undefined || response.calls.length > 0 ? {} : { format })
    } satisfies Entry.Entry
  })

  /** One model response, journaled. An answer that nothing can join any more ends the turn in the same write. */
  const respond = Effect.fnUntraced(function* (session: Session.Session, prepared: Prepared) {
    const entry = yield* askModel(session, prepared)
    if (entry.calls.length > 0) return yield* session.append([entry])
    yield* Effect.uninterruptible(answer(session, prepared, entry))
  })

  const answer = Effect.fnUntraced(function* (session: Session.Session, prepared: Prepared, entry: Entry.Entry) {
    const after = TurnState.apply(session.state(), entry)
    const arrived = TurnState.mayAskAgain(after, limits) ? yield* steering.arrived(session) : []
    if (arrived.length === 0 && TurnState.next(after, prepared.limits)._tag === "Answered") {
      return yield* endings.answered(session, entry)
    }
    yield* session.append([entry])
    if (arrived.length > 0) yield* session.fold(arrived)
  })

  /** Journals whether the answer needed a tool; without a verdict it is given. */
  const judgeToolUse = Effect.fnUntraced(function* (session: Session.Session, prepared: Prepared) {
    const judgement = yield* ToolUse.judge(asking, session, prepared)
    yield* judgement === undefined ? conclude(session) : session.append([judgement])
  })

  /** Ends the turn with the answer that is in the journal, unless something has come in that can still join. */
  const conclude = Effect.fnUntraced(function* (session: Session.Session) {
    const arrived = TurnState.mayAskAgain(session.state(), limits) ? yield* steering.arrived(session) : []
    yield* arrived.length > 0 ? session.fold(arrived) : endings.answered(session)
  }, Effect.uninterruptible)

  const foldArrived = Effect.fnUntraced(function* (session: Session.Session) {
    const arrived = yield* steering.arrived(session)
    if (arrived.length > 0) yield* session.fold(arrived)
  }, Effect.uninterruptible)

  const runCall = Effect.fnUntraced(function* (
    session: Session.Session,
    prepared: Prepared,
    { call, doubt: before }: Extract<TurnState.Next, { readonly _tag: "RunCall" }>
  ) {
    const doubt = yield* ToolStep.doubtOf(approvals, call, before)
    if (TurnState.mayHaveRun(doubt, yield* toolCalls.replay(call)) || !(yield* steering.isUrgent(session))) {
      return yield* ToolStep.run({ approvals, toolCalls }, session, prepared, call, doubt)
    }
    yield* approvals.withdraw(session.run.turnId, [])
    yield* ToolStep.refuse(session, session.state().pending, TurnEntries.newerMessage)
  })

  const advance = Effect.fnUntraced(function* (session: Session.Session, prepared: Prepared) {
    const next = TurnState.next(session.state(), prepared.limits)
    switch (next._tag) {
      case "AskModel":
        yield* prepared.compactions.whenDue
        yield* foldArrived(session)
        return yield* respond(session, prepared)
      case "RunCall":
        return yield* runCall(session, prepared, next)
      case "RefuseCalls":
        return yield* ToolStep.refuse(session, next.calls, next)
      case "Guide":
        return yield* session.append([{ _tag: "Guidance", turnId: session.run.turnId, text: next.text }])
      case "JudgeToolUse":
        return yield* judgeToolUse(session, prepared)
      case "Answered":
        // An answer that was judged comes here, and a turn that was resumed between its answer and its end.
        return yield* conclude(session)
      case "GiveUp":
        return yield* endings.failed(session, {
          reason: next.reason,
          code: `turn:${next.reason}`,
          message: next.notice,
          notice: next.notice,
          insteadOfAnswer: next.insteadOfAnswer === true
        })
    }
  })

  const announce = Effect.fnUntraced(function* (session: Session.Session, { about, names, tools }: Prepared) {
    yield* session.publish({ _tag: "TurnStarted", ...about, availableTools: names })
    yield* recordings.hear(session, tools)
    const log = session.entries()
    const opening = TurnEntries.opening(log, session.run.turnId)
    const text = opening.map((message) => TurnEntries.saidIn(log, message)).join("\n\n")
    yield* session.publish({ _tag: "TurnInputPrepared", ...about, text, availableTools: names })
  })

  const work = Effect.fnUntraced(function* (session: Session.Session) {
    if (session.run.begin._tag === "Resume") {
      // What calls of calls asked in an earlier life waits for nothing any more.
      const pending = session.state().pending.map(({ callId }) => callId)
      yield* approvals.withdraw(session.run.turnId, pending)
    }
    const prepared = yield* prepare(session)
    yield* announce(session, prepared)
    while (session.state().ended === undefined) yield* advance(session, prepared)
  })

  const { agent_timeout_seconds: timeLimit, turn_crash_limit: crashLimit } = settings.runtime

  const run = Effect.fn("TurnRunner.run")(function* (turn: TurnRun) {
    const time = ActiveTime.make(timeLimit, turn.begin._tag === "Resume" ? turn.begin.activeMillis : 0)
    const session = Session.make(services, turn, { crashLimit, spent: time.spent })
    // Nothing is done for a turn before its life is counted, so none can kill the process over and over unnoticed.
    const worked = Effect.flatMap(session.begin, (lives) =>
      lives > crashLimit ? endings.parked(session) : time.limit(work(session))
    )
    const inSlot = slots.use(
      turn.thread,
      Effect.flatMap(Effect.exit(worked), (exit) => settle(session, exit))
    )
    // An interruption that comes before the first step must find someone to answer it.
    yield* Effect.interruptible(inSlot).pipe(Effect.onInterrupt(() => Effect.orDie(endings.interrupted(session))))
  }, Effect.uninterruptible)

  /** A turn that failed ends here, whatever the failure was: the person is told, and the next message can be served. */
  const settle = (
    session: Session.Session,
    exit: Exit.Exit<void, TurnError>
  ): Effect.Effect<void, Journal.ClaimLost> => {
    if (Exit.isSuccess(exit)) return Effect.void
    if (Cause.hasInterruptsOnly(exit.cause)) return Effect.interrupt
    // It cannot be ended either, and has done nothing wrong: it stays as it is, to be resumed when the store is back.
    const unavailable = unavailableIn(exit.cause)
    if (unavailable !== undefined) return Effect.die(unavailable)
    const error = Cause.findErrorOption(exit.cause)
    if (error._tag === "None") {
      return Effect.andThen(Effect.logError("A turn ended in a defect", exit.cause), endings.failed(session, defect))
    }
    if (error.value._tag === "ClaimLost") return Effect.fail(error.value)
    // What fails behind an answer, as the judgement of it does when the time is up, must not cost the answer.
    return session.state().answered ? endings.answered(session) : endings.failed(session, failureOf(error.value))
  }

  return TurnRunner.of({ run })
})

export const layer = Layer.effect(TurnRunner, make)

type TurnError =
  | AiError.AiError
  | ModelError.ModelUnavailable
  | ModelStep.EmptyResponse
  | ActiveTime.TurnTimedOut
  | Journal.ClaimLost

const failureOf = (error: Exclude<TurnError, Journal.ClaimLost>): Endings.Failure => {
  const { code, message } = error._tag === "AiError" ? ModelError.describe(error) : error
  return { code, message, notice: `I could not answer: ${message}` }
}

const defect: Endings.Failure = {
  code: "turn:defect",
  message: "Something went wrong inside the runtime. The log has the details.",
  notice: "I could not answer: something went wrong inside the runtime. The log has the details."
}
