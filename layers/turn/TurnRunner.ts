/**
 * The turn loop: ask what is next, do it, journal the outcome, fold it in.
 *
 * Every journal point is uninterruptible together with the effect it records, so a stop falls between points: a tool's
 * result is never lost and never invented.
 */
import type * as AiError from "effect/ai/AiError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Agents from "../../src/agent/Agents.ts"
import * as SystemPrompt from "../../src/agent/SystemPrompt.ts"
import * as Channels from "../../src/channel/Channels.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as Models from "../../src/model/Models.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as ToolCalls from "../../src/tool/ToolCalls.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import type * as ToolResult from "../../src/tool/ToolResult.ts"
import * as ActiveTime from "../../src/turn/ActiveTime.ts"
import * as History from "../../src/turn/History.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import { TurnRunner, type TurnRun } from "../../src/turn/TurnRunner.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as ModelStep from "./ModelStep.ts"
import * as Session from "./Session.ts"
import * as TurnCapabilities from "./TurnCapabilities.ts"

const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const agents = yield* Agents.Agents
  const models = yield* Models.Models
  const prompts = yield* SystemPrompt.SystemPrompt
  const toolCalls = yield* ToolCalls.ToolCalls
  const channels = yield* Channels.Channels
  const journal = yield* Journal.Journal
  const threads = yield* Threads.Threads
  const events = yield* EventBus.EventBus

  const limits: TurnState.Limits = {
    maxSteps: settings.llm.max_tool_iterations,
    maxToolCalls: Math.max(12, 2 * settings.llm.max_tool_iterations)
  }

  /** Everything that is fixed for the whole turn. */
  const prepare = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session) {
    const scope = scopeOf(run, settings.runtime.owner_id, senderOf(session.entries(), run))
    const agent = yield* Effect.catchTag(agents.get(run.thread.agent), "AgentNotFound", () =>
      Effect.succeed(agents.main)
    )
    const effects = TurnCapabilities.make(run.turnId, session.entries, settings.memory.max_history_messages)
    const tools = yield* toolCalls.forTurn(scope, agent.tools, effects.grant)
    const names = tools.offers.map((offer) => offer.name)
    const system = yield* prompts.compose({ agent, turn: scope, tools: names })
    return { scope, agent, tools, names, system, effects }
  })
  type Prepared = Effect.Success<ReturnType<typeof prepare>>

  const selected = (agent: Agents.Agent) => models.get({ provider: agent.provider, model: agent.model })

  /** Takes up messages that came in since the last look, if they may join now. True when some did. */
  const foldNews = Effect.fnUntraced(function* (
    run: TurnRun,
    session: Session.Session,
    deliveries: ReadonlyArray<Entry.Delivery>
  ) {
    if (!(yield* run.takeNews)) return false
    const { waiting } = yield* journal.owed(run.thread.id)
    const joining = waiting.filter(mayFold(deliveries)).map((message) => message.messageId)
    if (joining.length === 0) return false
    yield* journal.fold(run.claim, run.turnId, joining)
    yield* session.refresh
    yield* session.committed
    return true
  })

  const askModel = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session, prepared: Prepared) {
    const model = yield* selected(prepared.agent)
    const step = session.state().steps + 1
    const about = aboutTurn(prepared.scope)
    const response = yield* ModelStep.ask({
      model,
      prompt: History.render(session.entries(), {
        system: prepared.system,
        maxMessages: settings.memory.max_history_messages,
        turnId: run.turnId
      }),
      tools: prepared.tools.offers,
      retries: settings.llm.retry_attempts,
      onDelta: (kind, text) => session.publish({ _tag: "ModelDelta", ...about, step, kind, text })
    }).pipe(Effect.withSpan("turn.step", { attributes: { step, model: model.model, provider: model.provider } }))
    const reasoning = response.reasoning.map(({ text }) => text).join("\n")
    if (reasoning !== "") yield* session.publish({ _tag: "Reasoning", ...about, step, text: reasoning })
    const format = session.state().format
    return {
      _tag: "AssistantMessage",
      turnId: run.turnId,
      step,
      provider: model.provider,
      model: model.model,
      ...response,
      ...(format === undefined || response.calls.length > 0 ? {} : { format })
    } satisfies Entry.Entry
  })

  /** One model response, journaled. An answer that nothing can join any more ends the turn in the same write. */
  const respond = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session, prepared: Prepared) {
    const entry = yield* askModel(run, session, prepared)
    if (entry.calls.length === 0) yield* answer(run, session, prepared, entry)
    else yield* Effect.uninterruptible(session.append([entry]))
  })

  const answer = (run: TurnRun, session: Session.Session, prepared: Prepared, entry: Entry.Entry) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const { waiting } = (yield* run.takeNews) ? yield* journal.owed(run.thread.id) : { waiting: [] }
        const joins = waiting.some(mayFold(["now", "after-tool"])) && session.state().steps + 1 < limits.maxSteps
        if (!joins) return yield* end(run, session, prepared, { state: "answered", entries: [entry] })
        yield* session.append([entry])
        const joining = waiting.filter(mayFold(["now", "after-tool"])).map((message) => message.messageId)
        yield* journal.fold(run.claim, run.turnId, joining)
        yield* session.refresh
        yield* session.committed
      })
    )

  const runCall = Effect.fnUntraced(function* (
    run: TurnRun,
    session: Session.Session,
    prepared: Prepared,
    call: Entry.ToolCallRequest,
    inDoubt: boolean
  ) {
    const replay = yield* toolCalls.replay(call.name)
    if (inDoubt && replay === "unknown") {
      return yield* Effect.uninterruptible(session.append([unrun(run, call, "unknown", "tool:unknown_outcome", interruptedText)]))
    }
    yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        // The call has a fiber of its own, so that an interruption of the turn becomes a result of the call.
        const fiber = yield* Effect.forkChild(Effect.timed(toolCalls.run(prepared.tools, call)))
        const waited = yield* Effect.exit(restore(Fiber.await(fiber)))
        if (Exit.isFailure(waited)) yield* toolCalls.cancel(call.callId)
        const [took, result] = yield* Fiber.join(fiber)
        // Left by a shutdown, not stopped by a person: a call that may run again is not given a result now.
        if (result.outcome === "cancelled" && replay !== "unknown" && !(yield* run.stopRequested)) return
        yield* session.append([resultEntry(run, call, result, took), ...prepared.effects.take()])
      })
    )
  })

  const advance = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session, prepared: Prepared) {
    const next = TurnState.next(session.state(), limits)
    switch (next._tag) {
      case "AskModel":
        yield* foldNews(run, session, ["now", "after-tool"])
        return yield* respond(run, session, prepared)
      case "RunCall": {
        const interrupted = !next.inDoubt && (yield* foldNewsPending(run))
        return interrupted
          ? yield* refuse(run, session, session.state().pending, skippedForNews)
          : yield* runCall(run, session, prepared, next.call, next.inDoubt)
      }
      case "RefuseCalls":
        return yield* refuse(run, session, next.calls, next)
      case "Guide":
        return yield* Effect.uninterruptible(
          session.append([{ _tag: "Guidance", turnId: run.turnId, text: next.text }])
        )
      case "Answered":
        // Only a turn that was resumed between its answer and its end comes here.
        return yield* Effect.uninterruptible(end(run, session, prepared, { state: "answered", entries: [] }))
      case "GiveUp":
        return yield* Effect.uninterruptible(
          end(run, session, prepared, {
            state: "failed",
            reason: next.reason,
            failure: { code: `turn:${next.reason}`, message: next.notice },
            entries: [{ _tag: "Notice", turnId: run.turnId, text: next.notice }]
          })
        )
    }
  })

  /** Whether a message that asked to be seen at once is waiting. It is taken up when the calls are out of the way. */
  const foldNewsPending = Effect.fnUntraced(function* (run: TurnRun) {
    if (!(yield* run.peekNews)) return false
    const { waiting } = yield* journal.owed(run.thread.id)
    return waiting.some(mayFold(["now"]))
  })

  const refuse = (
    run: TurnRun,
    session: Session.Session,
    calls: ReadonlyArray<Entry.ToolCallRequest>,
    why: { readonly outcome: Entry.CallOutcome; readonly code: string; readonly text: string }
  ) =>
    Effect.uninterruptible(session.append(calls.map((call) => unrun(run, call, why.outcome, why.code, why.text))))

  /** What goes to the outbox: nothing where the client reads the thread itself. A channel that is down still gets it. */
  const repliesOf = Effect.fnUntraced(function* (scope: ToolContext.TurnScope, state: TurnState.TurnState, ending: Ending) {
    const channel = yield* channels.find(scope.channel)
    if (channel !== undefined && channel.deliver === undefined) return []
    const notices = ending.entries.flatMap((entry) => (entry._tag === "Notice" ? [entry.text] : []))
    return [...state.answers, ...notices].map((text): Journal.Reply => ({
      channel: scope.channel,
      chat: scope.chat,
      text,
      ...(state.format === undefined ? {} : { format: state.format })
    }))
  })

  /** Writes the end of the turn. Calls without a result get one, so that the history stays valid. */
  const end = Effect.fnUntraced(function* (
    run: TurnRun,
    session: Session.Session,
    prepared: Pick<Prepared, "scope"> | undefined,
    ending: Ending
  ) {
    const scope = prepared?.scope ?? scopeOf(run, settings.runtime.owner_id, undefined)
    const unanswered = session
      .state()
      .pending.map((call) => unrun(run, call, "skipped", "turn:ended", "This call was not run: the turn ended before it."))
    const entries = [...unanswered, ...ending.entries]
    const folded = entries.reduce(TurnState.apply, session.state())
    const { failure, reason, state } = ending
    yield* journal.endTurn(run.claim, {
      turnId: run.turnId,
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(failure === undefined ? {} : { failure }),
      entries,
      replies: yield* repliesOf(scope, folded, ending),
      alsoStopped: []
    })
    yield* session.refresh
    yield* session.committed
    yield* Metric.update(TurnMetrics.ended(state), 1)
    yield* session.publish(
      state === "answered"
        ? {
            _tag: "TurnCompleted",
            ...aboutTurn(scope),
            ...modelOf(session.entries()),
            steps: folded.steps,
            usage: folded.usage,
            toolsUsed: folded.toolsUsed,
            shouldReply: true
          }
        : {
            _tag: "TurnFailed",
            ...aboutTurn(scope),
            state,
            failure: failure ?? { code: `turn:${state}`, message: stoppedText }
          }
    )
  })

  const isOver = (session: Session.Session, run: TurnRun) =>
    session.entries().some(({ entry }) => entry._tag === "TurnEnded" && entry.turnId === run.turnId)

  const fail = (run: TurnRun, session: Session.Session, failure: Entry.Failure) =>
    Effect.uninterruptible(
      Effect.andThen(
        session.refresh,
        end(run, session, undefined, {
          state: "failed",
          failure,
          entries: [{ _tag: "Notice", turnId: run.turnId, text: `I could not answer: ${failure.message}` }]
        })
      )
    )

  /** The turn was interrupted: by a person, which ends it, or by the process going away, which does not. */
  const interrupted = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session) {
    yield* session.refresh
    if (isOver(session, run)) return
    if (!(yield* run.stopRequested)) return yield* journal.suspendTurn(run.claim, run.turnId)
    yield* foldNews({ ...run, takeNews: Effect.succeed(true) }, session, ["now", "after-tool"])
    yield* end(run, session, undefined, {
      state: "stopped",
      entries: [{ _tag: "Notice", turnId: run.turnId, text: stoppedText }]
    })
  })

  const begin = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session, prepared: Prepared) {
    if (run.begin._tag === "Start") {
      yield* Effect.uninterruptible(
        journal.startTurn(run.claim, {
          turnId: run.turnId,
          messageIds: run.begin.messageIds,
          agent: prepared.agent.name,
          tools: prepared.names
        })
      )
    }
    yield* session.refresh
    yield* session.committed
    const about = aboutTurn(prepared.scope)
    yield* session.publish({ _tag: "TurnStarted", ...about, availableTools: prepared.names })
    yield* session.publish({
      _tag: "TurnInputPrepared",
      ...about,
      text: openingText(session.entries(), run),
      availableTools: prepared.names
    })
  })

  const work = Effect.fnUntraced(function* (run: TurnRun, session: Session.Session) {
    yield* session.refresh
    const prepared = yield* prepare(run, session)
    yield* begin(run, session, prepared)
    while (!isOver(session, run)) yield* advance(run, session, prepared)
  })

  const run = Effect.fn("TurnRunner.run")(function* (turn: TurnRun) {
    const session = Session.make({ journal, threads, events }, turn)
    const exit = yield* Effect.exit(
      ActiveTime.limit(work(turn, session), settings.runtime.agent_timeout_seconds).pipe(
        Effect.onInterrupt(() => Effect.orDie(interrupted(turn, session)))
      )
    )
    if (Exit.isSuccess(exit)) return
    return yield* settle(turn, session, exit.cause)
  })

  const settle = (
    turn: TurnRun,
    session: Session.Session,
    cause: Cause.Cause<TurnError>
  ): Effect.Effect<void, Journal.ClaimLost> => {
    const error = Cause.findError(cause)
    if (Cause.hasInterrupts(cause)) return Effect.interrupt
    if (error._tag === "Success") {
      return error.success._tag === "ClaimLost" ? Effect.fail(error.success) : fail(turn, session, failureOf(error.success))
    }
    return Effect.andThen(
      Effect.logError("A turn ended in a defect", cause),
      fail(turn, session, { code: "turn:defect", message: "Something went wrong inside the runtime. The log has the details." })
    )
  }

  const park = Effect.fn("TurnRunner.park")(function* (turn: TurnRun) {
    const session = Session.make({ journal, threads, events }, turn)
    yield* session.refresh
    const notice =
      "I gave up on this: working on it ended the process several times. It is parked and will not be tried again by itself."
    yield* end(turn, session, undefined, {
      state: "parked",
      failure: { code: "turn:parked", message: notice },
      entries: [{ _tag: "Notice", turnId: turn.turnId, text: notice }]
    })
  })

  return TurnRunner.of({ run, park })
})

export const layer = Layer.effect(TurnRunner, make)

interface Ending {
  readonly state: Entry.TurnEnd
  readonly reason?: string
  readonly failure?: Entry.Failure
  readonly entries: ReadonlyArray<Entry.Entry>
}

type TurnError =
  | AiError.AiError
  | ModelError.ModelUnavailable
  | ModelStep.EmptyResponse
  | ActiveTime.TurnTimedOut
  | Journal.ClaimLost

const stoppedText = "Stopped at your request."
const interruptedText =
  "The process ended while this call was running. Whether it had its effect is not known: check before you repeat it."
const skippedForNews = {
  outcome: "skipped",
  code: "turn:newer_message",
  text: "This call was not run: a newer message of the person came first. Read it before you go on."
} as const

const failureOf = (error: Exclude<TurnError, Journal.ClaimLost>): Entry.Failure => {
  if (error._tag !== "AiError") return { code: error.code, message: error.message }
  const { code, message } = ModelError.describe(error)
  return { code, message }
}

const mayFold = (deliveries: ReadonlyArray<Entry.Delivery>) => (message: Journal.WaitingMessage) =>
  message.source === "person" && deliveries.includes(message.delivery)

const scopeOf = (run: TurnRun, ownerId: string, senderId: string | undefined): ToolContext.TurnScope => {
  const { channel, chat } = Threads.partsOfKey(run.thread.key)
  return {
    ...(senderId === undefined ? {} : { senderId }),
    ownerId,
    threadId: run.thread.id,
    threadKey: run.thread.key,
    channel,
    chat,
    turnId: run.turnId,
    agent: run.thread.agent,
    chainDepth: 0
  }
}

const aboutTurn = ({ channel, chat, threadId, turnId }: ToolContext.TurnScope) => ({ threadId, turnId, channel, chat })

const unrun = (
  run: TurnRun,
  call: Entry.ToolCallRequest,
  outcome: Entry.CallOutcome,
  errorCode: string,
  text: string
): Entry.Entry => ({
  _tag: "ToolResult",
  turnId: run.turnId,
  callId: call.callId,
  name: call.name,
  outcome,
  text,
  data: null,
  errorCode,
  durationMillis: 0
})

const resultEntry = (
  run: TurnRun,
  call: Entry.ToolCallRequest,
  result: ToolResult.ToolResult,
  took: Duration.Duration
): Entry.Entry => ({
  _tag: "ToolResult",
  turnId: run.turnId,
  callId: call.callId,
  name: call.name,
  outcome: result.outcome,
  text: result.text,
  data: result.data,
  ...(result.errorCode === undefined ? {} : { errorCode: result.errorCode }),
  durationMillis: Math.round(Duration.toMillis(took))
})

/** The messages that opened the turn. */
const openingMessages = (entries: ReadonlyArray<Entry.StoredEntry>, run: TurnRun) => {
  const ids =
    run.begin._tag === "Start"
      ? run.begin.messageIds
      : entries.flatMap(({ entry }) =>
          entry._tag === "TurnStarted" && entry.turnId === run.turnId ? entry.messageIds : []
        )
  return entries.flatMap(({ entry }) => (entry._tag === "UserMessage" && ids.includes(entry.messageId) ? [entry] : []))
}

const openingText = (entries: ReadonlyArray<Entry.StoredEntry>, run: TurnRun): string =>
  openingMessages(entries, run)
    .map((message) => message.text)
    .join("\n\n")

const senderOf = (entries: ReadonlyArray<Entry.StoredEntry>, run: TurnRun): string | undefined =>
  openingMessages(entries, run).find((message) => message.source === "person")?.sender.id

/** The provider and model of the turn's last response. */
const modelOf = (entries: ReadonlyArray<Entry.StoredEntry>): { readonly provider: string; readonly model: string } => {
  const last = entries.findLast(({ entry }) => entry._tag === "AssistantMessage")?.entry
  // Nothing but the two: the caller spreads what it gets into an event.
  if (last?._tag !== "AssistantMessage") return { provider: "", model: "" }
  return { provider: last.provider, model: last.model }
}
