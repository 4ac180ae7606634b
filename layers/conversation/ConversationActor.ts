/**
 * The actor that serves one thread: one loop owns the thread while anything is owed, and the turn runs beneath it, so that
 * stop, decisions and questions about its state are answered meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Entity from "effect/cluster/Entity"
import * as Approvals from "../../src/approval/Approvals.ts"
import * as Settings from "../../src/config/Settings.ts"
import { ConversationEntity, Signal } from "../../src/conversation/ConversationEntity.ts"
import type * as Conversations from "../../src/conversation/Conversations.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import { TurnRunner, type TurnRun } from "../../src/turn/TurnRunner.ts"
import { TurnSlots } from "./TurnSlots.ts"

/** The turn at work, and whether a person asked to stop it. */
interface Running {
  readonly turnId: Ids.TurnId
  readonly fiber: Fiber.Fiber<void, Journal.ClaimLost>
  stopRequested: boolean
}

const make = Effect.gen(function* () {
  const address = yield* Entity.CurrentAddress
  const threadId = yield* Effect.orDie(Schema.decodeUnknownEffect(Ids.ThreadId)(address.entityId))
  const settings = yield* Settings.Settings
  const journal = yield* Journal.Journal
  const threads = yield* Threads.Threads
  const runner = yield* TurnRunner
  const slots = yield* TurnSlots
  const approvals = yield* Approvals.Approvals
  const events = yield* EventBus.EventBus

  yield* Effect.acquireRelease(Metric.modify(TurnMetrics.conversations, 1), () =>
    Metric.modify(TurnMetrics.conversations, -1)
  )

  let serving = false
  let news = false
  let running: Running | undefined

  const takeNews = Effect.sync(() => {
    const had = news
    news = false
    return had
  })

  /** One turn: the one that another life began, or a new one with what waits. False when nothing is owed. */
  const serveOne = Effect.fnUntraced(function* (claim: Journal.Claim) {
    yield* takeNews
    const owed = yield* journal.owed(threadId)
    const thread = yield* threads.get(threadId)
    if (owed.running !== null) {
      const run = turnRun(thread, claim, owed.running.turnId, { _tag: "Resume" })
      yield* slots.use(thread, resume(run))
      return true
    }
    const messageIds = opening(owed.waiting)
    if (messageIds.length === 0) return false
    const run = turnRun(thread, claim, yield* Ids.makeTurnId, { _tag: "Start", messageIds })
    yield* slots.use(thread, runTurn(run))
    return true
  })

  const turnRun = (
    thread: Threads.Thread,
    claim: Journal.Claim,
    turnId: Ids.TurnId,
    begin: TurnRun["begin"]
  ): TurnRun => ({
    thread,
    claim,
    turnId,
    begin,
    peekNews: Effect.sync(() => news),
    takeNews,
    stopRequested: Effect.sync(() => running?.turnId === turnId && running.stopRequested)
  })

  const resume = Effect.fnUntraced(function* (run: TurnRun) {
    const lives = yield* journal.resumeTurn(run.claim, run.turnId)
    yield* lives > settings.runtime.turn_crash_limit ? runner.park(run) : runTurn(run)
  })

  /** Runs the turn in a fiber of its own, so that a stop ends the turn and not the loop. */
  const runTurn = (run: TurnRun): Effect.Effect<void, Journal.ClaimLost> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(restore(runner.run(run)))
        const turn: Running = { turnId: run.turnId, fiber, stopRequested: false }
        running = turn
        const exit = yield* restore(Fiber.await(fiber)).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.ensuring(Effect.sync(() => (running = undefined)))
        )
        if (!turn.stopRequested) yield* exit
      })
    )

  const serveAll = Effect.gen(function* () {
    const claim = yield* journal.claim(threadId)
    while (serving) {
      const served = yield* serveOne(claim)
      // Looked at and given up in one step: a message that comes in finds the loop either running or free.
      if (!served && !news) serving = false
    }
  }).pipe(
    Effect.catchTag(["ClaimLost", "ThreadNotFound"], (error) =>
      Effect.logWarning(`Left a thread alone: ${error.message}`)
    ),
    Effect.ensuring(Effect.sync(() => (serving = false)))
  )

  const wake = Effect.suspend(() => {
    news = true
    if (serving) return Effect.void
    serving = true
    // A defect must not kill the actor: it is reported, and the sweep comes back for what is still owed.
    return Effect.catchDefect(serveAll, (defect) =>
      Effect.logError("A conversation could not make progress", defect)
    )
  })

  const stop = Effect.gen(function* () {
    const turn = running
    if (turn === undefined) return idle
    turn.stopRequested = true
    yield* Fiber.interrupt(turn.fiber)
    return yield* endedAsStopped(turn.turnId)
  })

  /** The turn may have answered in the moment it was stopped; then there was nothing to stop. */
  const endedAsStopped = Effect.fnUntraced(function* (turnId: Ids.TurnId) {
    const last = yield* threads.latest(threadId, 20)
    const ended = last.find(({ entry }) => entry._tag === "TurnEnded" && entry.turnId === turnId)?.entry
    return ended?._tag === "TurnEnded" && ended.state === "stopped" ? stopped : idle
  })

  return ConversationEntity.of({
    Wake: ({ payload: { accepted } }) =>
      accepted === null
        ? wake
        : Effect.andThen(events.publish({ _tag: "MessageAccepted", threadId, ...accepted }), wake),
    Stop: ({ payload: { by } }) =>
      Effect.andThen(events.publish({ _tag: "TurnStopRequested", threadId, by }), stop),
    Decide: ({ payload: { approvalId, approver, decision } }) => approvals.decide(approvalId, decision, approver),
    Inspect: () =>
      Effect.map(
        Effect.all([journal.owed(threadId), approvals.waiting(threadId)]),
        ([owed, questions]): Conversations.Activity => ({
          threadId,
          running: owed.running,
          waiting: owed.waiting.length,
          approvals: questions
        })
      ),
    Watch: () =>
      Stream.unwrap(
        Effect.map(events.subscribeThread(threadId), (happened) =>
          Stream.concat(
            Stream.succeed(Signal.make({ _tag: "Listening" })),
            Stream.map(happened, (event) => Signal.make({ _tag: "Happened", event }))
          )
        )
      )
  })
})

/** Serves threads; idle actors leave memory. */
export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, ({ runtime }) =>
    ConversationEntity.toLayer(make, {
      maxIdleTime: runtime.conversation_idle_seconds,
      // Stop, decisions and questions are served while a turn runs.
      concurrency: "unbounded",
      disableFatalDefects: true
    })
  )
)

const idle: Conversations.StopOutcome = "idle"
const stopped: Conversations.StopOutcome = "stopped"

/** What a new turn begins with: the oldest message, and with a person's message all others that may join its turn. */
const opening = (waiting: ReadonlyArray<Journal.WaitingMessage>): ReadonlyArray<Ids.MessageId> => {
  const [first] = waiting
  if (first === undefined) return []
  const joins = (message: Journal.WaitingMessage) => message.source === "person" && message.delivery !== "after-turn"
  return (joins(first) ? waiting.filter(joins) : [first]).map((message) => message.messageId)
}
