/**
 * The actor that serves one thread: one loop owns the thread while anything is owed, and the turn runs beneath it, so that
 * stop, decisions and questions about its state are answered meanwhile.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Entity from "effect/cluster/Entity"
import { Approvals } from "../../src/approval/Approvals.ts"
import * as Settings from "../../src/config/Settings.ts"
import { ConversationEntity, Signal } from "../../src/conversation/ConversationEntity.ts"
import type * as Conversations from "../../src/conversation/Conversations.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import * as StorageError from "../../src/storage/StorageError.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as ThreadLog from "../../src/turn/ThreadLog.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import { TurnRunner, type TurnRun } from "../../src/turn/TurnRunner.ts"
import * as Durability from "../storage/Durability.ts"

/** How long a thread that could not make progress is left alone; doubled each time, up to the last. */
const firstPauseMillis = 5_000
const longestPauseMillis = 300_000

/** The same for a store that cannot be written: nothing is wrong with the thread, and somebody may be making room. */
const firstStoragePauseMillis = 1_000
const longestStoragePauseMillis = 30_000

/** The turn at work, and whether a person asked to stop it. */
interface Running {
  readonly turnId: Ids.TurnId
  readonly fiber: Fiber.Fiber<void, Journal.ClaimLost>
  stopRequested: boolean
  ended: Entry.TurnEnd | undefined
}

const make = Effect.fnUntraced(function* (logs: ThreadLog.KeptLogs) {
  const address = yield* Entity.CurrentAddress
  const threadId = yield* Effect.orDie(Schema.decodeUnknownEffect(Ids.ThreadId)(address.entityId))
  const journal = yield* Journal.Journal
  const threads = yield* Threads.Threads
  const runner = yield* TurnRunner
  const approvals = yield* Approvals
  const events = yield* EventBus.EventBus
  const scope = yield* Effect.scope

  yield* Effect.acquireRelease(Metric.modify(TurnMetrics.conversations, 1), () =>
    Effect.andThen(
      Metric.modify(TurnMetrics.conversations, -1),
      Effect.sync(() => logs.drop(threadId))
    )
  )

  let serving = false
  /** Something came in since the running turn last looked whether it joins. */
  let news = false
  /** Something may be owed besides the turn that runs: a message came in, or waits beside it. */
  let owing = false
  let claimed: Journal.Claim | undefined
  let running: Running | undefined
  /** The turn that this life had to leave because the store failed. */
  let left: Ids.TurnId | undefined
  // Closed while the loop looks for its next turn: who wants to stop a turn must know whether there is one.
  const decided = Latch.makeUnsafe(true)
  let failures = 0
  let pausedUntil = 0

  const takeNews = Effect.sync(() => {
    const had = news
    news = false
    return had
  })

  /** The turn that another life began, or a new one with what waits. Undefined when nothing is owed. */
  const nextTurn = Effect.fnUntraced(function* (
    claim: Journal.Claim
  ): Effect.fn.Return<TurnRun | undefined, Threads.ThreadNotFound> {
    yield* takeNews
    owing = false
    const owed = yield* Durability.deferred(journal.owed(threadId))
    const messageIds = opening(owed.waiting)
    if (owed.running === null && messageIds.length === 0) return undefined
    // Those that wait beside it may join it, or are next.
    const others = owed.waiting.length > (owed.running === null ? messageIds.length : 0)
    news ||= others
    owing ||= others
    const turnId = owed.running?.turnId ?? (yield* Ids.makeTurnId)
    const activeMillis = owed.running?.activeMillis ?? 0
    const thread = yield* Durability.deferred(threads.get(threadId))
    return {
      thread,
      claim,
      log: logs.take(threadId) ?? ThreadLog.make(thread.historyFrom),
      turnId,
      begin:
        owed.running === null
          ? { _tag: "Start", messageIds }
          : { _tag: "Resume", again: left === turnId, activeMillis },
      peekNews: Effect.sync(() => news),
      takeNews,
      stopRequested: Effect.sync(() => running?.turnId === turnId && running.stopRequested),
      ended: (how) =>
        Effect.sync(() => {
          if (running?.turnId === turnId) running.ended = how
        })
    }
  })

  /** Runs the turn in a fiber of its own, so that a stop ends the turn and not the loop. */
  const runTurn = (run: TurnRun): Effect.Effect<void, Journal.ClaimLost> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(runner.run(run), { uninterruptible: true })
        const turn: Running = { turnId: run.turnId, fiber, stopRequested: false, ended: undefined }
        running = turn
        decided.openUnsafe()
        const exit = yield* restore(Fiber.await(fiber)).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.ensuring(
            Effect.sync(() => {
              running = undefined
              decided.closeUnsafe()
            })
          )
        )
        if (exit._tag === "Failure" && StorageError.unavailableIn(exit.cause) !== undefined) left = run.turnId
        // After a failure the log is read anew.
        if (exit._tag === "Success") logs.keep(threadId, run.log)
        // A stop ends the turn by interrupting it.
        yield* turn.stopRequested ? Effect.catchCauseIf(exit, Cause.hasInterruptsOnly, () => Effect.void) : exit
      })
    )

  /** Ends the loop. Called in the step that decides it, so that a message that comes in finds the loop running or free. */
  const free = () => {
    serving = false
    decided.openUnsafe()
  }

  /** Serves the next turn. False when nothing more is owed and the loop has ended. */
  const serveOne = Effect.fnUntraced(function* (claim: Journal.Claim) {
    const run = yield* nextTurn(claim)
    if (run !== undefined) yield* runTurn(run)
    if (!owing) free()
    return serving
  })

  /** Held until a write says that another process has taken the thread. */
  const claim = Effect.suspend(() =>
    claimed === undefined
      ? Effect.tap(Durability.deferred(journal.claim(threadId)), (claim) => Effect.sync(() => (claimed = claim)))
      : Effect.succeed(claimed)
  )

  const serve = Effect.gen(function* () {
    const held = yield* claim
    while (yield* serveOne(held)) failures = 0
  }).pipe(
    Effect.catchTag(["ClaimLost", "ThreadNotFound"], (error) =>
      Effect.andThen(
        Effect.logWarning(`Left a thread alone: ${error.message}`),
        Effect.sync(() => {
          claimed = undefined
          free()
        })
      )
    ),
    Effect.catchDefect((defect) => pause(defect)),
    Effect.onInterrupt(() => Effect.sync(free))
  )

  /** A defect must not kill the actor: the sweep comes back for what is still owed, ever more rarely. */
  const pause = Effect.fnUntraced(function* (defect: unknown) {
    const storage = StorageError.isStorageUnavailable(defect)
    const [first, longest] = storage
      ? [firstStoragePauseMillis, longestStoragePauseMillis]
      : [firstPauseMillis, longestPauseMillis]
    const millis = Math.min(longest, first * 2 ** failures)
    failures += 1
    const words = storage
      ? Effect.logWarning(`A conversation waits for the store: ${defect.message}`)
      : Effect.logError("A conversation could not make progress", defect)
    yield* Effect.annotateLogs(words, { threadId, failures, pauseMillis: millis })
    pausedUntil = (yield* Monotonic.millis) + millis
    free()
  })

  /** Serves what is owed, unless that is under way, or was tried in vain not long ago and nothing has changed. */
  const wake = (changed: boolean) =>
    Effect.flatMap(Monotonic.millis, (now) => {
      news = true
      owing = true
      if (serving || (!changed && now < pausedUntil)) return Effect.void
      serving = true
      decided.closeUnsafe()
      return serve
    })

  const stop = Effect.gen(function* () {
    // What another life left behind, or what its wake-up is still on the way for, would begin right after.
    if (!serving && (yield* isOwed)) yield* Effect.forkIn(wake(true), scope, { startImmediately: true })
    yield* decided.await
    const turn = running
    if (turn === undefined) return idle
    turn.stopRequested = true
    yield* Fiber.interrupt(turn.fiber)
    const exit = turn.fiber.pollUnsafe()
    const unavailable = exit?._tag === "Failure" ? StorageError.unavailableIn(exit.cause) : undefined
    // Its end could not be written, so it is not over.
    if (unavailable !== undefined) return yield* Effect.die(unavailable)
    // It may have answered in the moment it was stopped; then there was nothing to stop.
    return turn.ended === "stopped" ? stopped : idle
  })

  const isOwed = Effect.map(
    Effect.suspend(() => journal.owed(threadId)),
    ({ running, waiting }) => running !== null || waiting.length > 0
  )

  return ConversationEntity.of({
    Wake: ({ payload: { accepted } }) =>
      accepted === null
        ? wake(false)
        : Effect.andThen(events.publish({ _tag: "MessageAccepted", threadId, ...accepted }), wake(true)),
    Stop: ({ payload: { by } }) => Effect.andThen(events.publish({ _tag: "TurnStopRequested", threadId, by }), stop),
    // An answer is for the conversation it was given in.
    Decide: ({ payload }) => approvals.decide(threadId, payload),
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

/** How much text of logs is kept between the turns of all threads that are in memory, in characters. */
const keptChars = 8 * 1024 * 1024

/** Serves threads; idle actors leave memory. */
export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, ({ runtime }) =>
    ConversationEntity.toLayer(make(ThreadLog.keeping(keptChars)), {
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
