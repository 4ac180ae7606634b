/**
 * The running turn's hand on its thread: the log as far as it has been read, the state folded from it, and the writes.
 *
 * The log is the truth. What the turn writes is taken in as the journal gives it back; where other writers added something in
 * between (messages that were accepted), all of it is read, so that everything is seen in its place. What earlier turns have
 * read is not read again. A write and its taking in are never torn apart by an interruption.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Event from "../../src/event/Event.ts"
import type * as EventBus from "../../src/event/EventBus.ts"
import type * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Threads from "../../src/thread/Threads.ts"
import type { TurnRun } from "../../src/turn/TurnRunner.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as Durability from "../storage/Durability.ts"
import * as Patience from "../storage/Patience.ts"

const pageSize = 500

export interface Services {
  readonly journal: Journal.Journal["Service"]
  readonly threads: Threads.Threads["Service"]
  readonly events: EventBus.EventBus["Service"]
}

export interface Settings {
  /** Lives of the process that may end in the middle of a turn. */
  readonly crashLimit: number
  /** How long the turn has worked, in milliseconds. */
  readonly spent: Effect.Effect<number>
}

/** An end of a turn in the journal, without the turn itself. */
type Ending = Omit<Parameters<Journal.Journal["Service"]["endTurn"]>[1], "turnId" | "activeMillis">

export interface Session {
  readonly run: TurnRun
  readonly entries: () => ReadonlyArray<Entry.StoredEntry>
  readonly state: () => TurnState.TurnState
  /**
   * Calls that have begun and have no journaled result, each with its result where one was held back: whether it is to be
   * journaled depends on how the turn goes on.
   */
  readonly unsettled: Map<Ids.CallId, Entry.Entry | undefined>
  /** What a person is told beside the answer, and is worth no entry: a restart may forget it. */
  readonly remarks: Array<string>
  /** Reads what is new in the log and folds it in. */
  readonly refresh: Effect.Effect<void>
  /**
   * Writes that this life of the process works on the turn, and only then reads its log: whatever kills the process from here
   * on has been counted. Gives how many lives there were. A second time it does nothing.
   */
  readonly begin: Effect.Effect<number, Journal.ClaimLost>
  /** Leaves the turn for another life of the process. */
  readonly leave: Effect.Effect<void, Journal.ClaimLost>
  readonly append: (
    entries: ReadonlyArray<Entry.Entry>,
    replies?: ReadonlyArray<Journal.Reply>
  ) => Effect.Effect<void, Journal.ClaimLost>
  readonly fold: (messageIds: ReadonlyArray<Ids.MessageId>) => Effect.Effect<void, Journal.ClaimLost>
  /** Waits until all that was written is on the disk, as must be before anything is done outside. */
  readonly settled: Effect.Effect<void>
  readonly end: (ending: Ending) => Effect.Effect<void, Journal.ClaimLost>
  readonly publish: (event: Event.Event) => Effect.Effect<void>
  /** Whether this life has told that the turn runs. */
  readonly announced: () => boolean
}

export const make = ({ events, journal, threads }: Services, run: TurnRun, settings: Settings): Session => {
  const { claim, turnId } = run
  const { crashLimit, spent } = settings
  const { log } = run
  let about: TurnMetrics.Turn = { tools: new Set(), startedAt: undefined }
  // What is in memory of the log already, what an earlier try of the same turn has read included.
  let state = log.entries().reduce((before, { entry }) => TurnState.apply(before, entry), TurnState.initial(turnId))
  // How many lives worked on the turn, once the journal counts this one among them.
  let lives: number | undefined
  let announced = false

  // A log that cannot be read fails its turn once; that the turn then ends must not fail as well.
  let unreadable = false

  const read: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(
      Durability.deferred(threads.entries(run.thread.id, { from: log.nextSeq(), limit: pageSize })),
      (page) => {
        for (const stored of page.entries) take(stored)
        return page.next === null ? Effect.void : read
      }
    )
  )
  const refresh = Effect.suspend(() =>
    unreadable
      ? Effect.void
      : Effect.onError(read, (cause) =>
          Effect.sync(() => {
            unreadable = Cause.hasDies(cause)
          })
        )
  )
  const take = (stored: Entry.StoredEntry) => {
    log.take(stored)
    state = TurnState.apply(state, stored.entry)
    if (stored.entry._tag === "TurnStarted" && stored.entry.turnId === turnId) {
      about = { ...about, startedAt: stored.at }
    }
  }
  const committed = Effect.suspend(() =>
    events.publish({ _tag: "EntriesCommitted", threadId: run.thread.id, seq: log.nextSeq() - 1 })
  )
  /** What was just written is next in the log, unless somebody else has written before it. */
  const takeIn = (written: ReadonlyArray<Entry.StoredEntry>): Effect.Effect<void> => {
    if (unreadable || written[0]?.seq !== log.nextSeq()) return Patience.whileUnavailable(refresh)
    for (const stored of written) take(stored)
    return Effect.void
  }
  const write = <A>(
    writing: Effect.Effect<A, Journal.ClaimLost>,
    entriesIn: (result: A) => ReadonlyArray<Entry.StoredEntry>
  ) =>
    Effect.uninterruptible(
      Effect.tap(Patience.whileUnavailable(writing), (result) => Effect.andThen(takeIn(entriesIn(result)), committed))
    )
  /** How long the turn has worked, noted with what is written. */
  const noting = <A>(writing: (progress: Required<Journal.Progress>) => Effect.Effect<A, Journal.ClaimLost>) =>
    Effect.flatMap(spent, (millis) => writing({ activeMillis: Math.round(millis) }))
  /** Writes entries and counts them: what is on disk is counted. */
  const journaled = (
    writing: (
      progress: Required<Journal.Progress>
    ) => Effect.Effect<ReadonlyArray<Entry.StoredEntry>, Journal.ClaimLost>
  ) =>
    Effect.uninterruptible(
      Effect.flatMap(
        write(noting(writing), (written) => written),
        (written) => TurnMetrics.journaled(about, written)
      )
    )

  const enter = Effect.suspend(() => {
    const { begin, thread } = run
    return begin._tag === "Start"
      ? Effect.as(journal.startTurn(claim, { turnId, messageIds: begin.messageIds, agent: thread.agent }), 1)
      : journal.resumeTurn(claim, turnId, { again: begin.again })
  }).pipe(
    Effect.tap((count) =>
      Effect.sync(() => {
        lives = count
        // Even the attempt to park it has killed the process: reading its log may be what does.
        unreadable ||= count > crashLimit + 1
      })
    )
  )

  return {
    run,
    entries: log.entries,
    state: () => state,
    unsettled: new Map(),
    remarks: [],
    refresh,
    begin: Effect.suspend(() => {
      if (lives !== undefined) return Effect.succeed(lives)
      return run.begin._tag === "Start"
        ? write(enter, unseen)
        : Effect.uninterruptible(Effect.tap(write(enter, unseen), () => Metric.update(TurnMetrics.resumed, 1)))
    }),
    leave: Effect.suspend(() =>
      lives === undefined || state.ended !== undefined
        ? Effect.void
        : Effect.flatMap(spent, (millis) => journal.suspendTurn(claim, turnId, { activeMillis: Math.round(millis) }))
    ),
    append: (added, replies = []) => journaled((progress) => journal.append(claim, added, { ...progress, replies })),
    fold: (messageIds) =>
      write(
        noting((progress) => journal.fold(claim, turnId, messageIds, progress)),
        unseen
      ),
    settled: Effect.suspend(() => Patience.whileUnavailable(journal.settled)),
    end: (ending) => journaled((progress) => journal.endTurn(claim, { turnId, ...ending, ...progress })),
    publish: (event) =>
      Effect.suspend(() => {
        if (event._tag === "TurnStarted") {
          announced = true
          about = { ...about, tools: new Set(event.availableTools) }
        }
        return events.publish(event)
      }),
    announced: () => announced
  }
}

/** The messages that it takes up come before what it writes, and are still to be read. */
const unseen = (): ReadonlyArray<Entry.StoredEntry> => []
