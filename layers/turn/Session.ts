/**
 * The running turn's hand on its thread: the log as far as it has been read, the state folded from it, and the writes.
 *
 * The log is the truth and is read back after every write, so that what other writers added in between (messages that were
 * accepted) is seen in its place. Nothing else keeps a copy of the conversation. A write and its reading back are never
 * torn apart by an interruption.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
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
import * as Patience from "../storage/Patience.ts"

const pageSize = 500

export interface Services {
  readonly journal: Journal.Journal["Service"]
  readonly threads: Threads.Threads["Service"]
  readonly events: EventBus.EventBus["Service"]
}

/** What can happen to a turn in the journal, without the turn itself. */
type Starting = Pick<Parameters<Journal.Journal["Service"]["startTurn"]>[1], "messageIds" | "agent" | "tools">
type Ending = Omit<Parameters<Journal.Journal["Service"]["endTurn"]>[1], "turnId">

export interface Session {
  readonly run: TurnRun
  readonly entries: () => ReadonlyArray<Entry.StoredEntry>
  readonly state: () => TurnState.TurnState
  /**
   * Calls that have begun and have no journaled result, each with its result where one was held back: whether it is to be
   * journaled depends on how the turn goes on.
   */
  readonly unsettled: Map<Ids.CallId, Entry.Entry | undefined>
  /** Reads what is new in the log and folds it in. */
  readonly refresh: Effect.Effect<void>
  readonly start: (turn: Starting) => Effect.Effect<void, Journal.ClaimLost>
  /** Counts this life of the process; gives how many there were. */
  readonly resume: Effect.Effect<number, Journal.ClaimLost>
  /** Leaves the turn for another life of the process. */
  readonly leave: Effect.Effect<void, Journal.ClaimLost>
  readonly append: (entries: ReadonlyArray<Entry.Entry>) => Effect.Effect<void, Journal.ClaimLost>
  readonly fold: (messageIds: ReadonlyArray<Ids.MessageId>) => Effect.Effect<void, Journal.ClaimLost>
  readonly end: (ending: Ending) => Effect.Effect<void, Journal.ClaimLost>
  readonly publish: (event: Event.Event) => Effect.Effect<void>
  /** Whether this life has told that the turn runs. */
  readonly announced: () => boolean
}

export const make = ({ events, journal, threads }: Services, run: TurnRun): Session => {
  const { claim, turnId } = run
  let entries: Array<Entry.StoredEntry> = []
  let nextSeq = run.thread.historyFrom
  let about: TurnMetrics.Turn = { tools: new Set(), startedAt: undefined }
  let state = TurnState.initial(turnId)
  // Whether the journal counts this life among those that worked on the turn.
  let counted = false
  let announced = false

  // A log that cannot be read fails its turn once; that the turn then ends must not fail as well.
  let unreadable = false

  const read: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(threads.entries(run.thread.id, { from: nextSeq, limit: pageSize }), (page) => {
      for (const stored of page.entries) take(stored)
      return page.next === null ? Effect.void : read
    })
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
    entries.push(stored)
    nextSeq = stored.seq + 1
    state = TurnState.apply(state, stored.entry)
    if (stored.entry._tag === "TurnStarted" && stored.entry.turnId === turnId) {
      about = { tools: new Set(stored.entry.tools), startedAt: stored.at }
    }
    if (stored.entry._tag === "HistoryTrimmed") entries = from(entries, stored.entry.keepFrom)
  }
  const committed = Effect.suspend(() =>
    events.publish({ _tag: "EntriesCommitted", threadId: run.thread.id, seq: nextSeq - 1 })
  )
  const write = <A>(writing: Effect.Effect<A, Journal.ClaimLost>) =>
    Effect.uninterruptible(
      Effect.tap(Patience.whileUnavailable(writing), () =>
        Effect.andThen(Patience.whileUnavailable(refresh), committed)
      )
    )
  /** Writes entries and counts them. */
  const journaled = (added: ReadonlyArray<Entry.Entry>, writing: Effect.Effect<void, Journal.ClaimLost>) =>
    Effect.tap(write(writing), () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => TurnMetrics.journaled(about, added, now))
    )
  const countLife = () => {
    counted = true
  }

  return {
    run,
    entries: () => entries,
    state: () => state,
    unsettled: new Map(),
    refresh,
    start: (turn) => write(Effect.tap(journal.startTurn(claim, { turnId, ...turn }), Effect.sync(countLife))),
    resume: Effect.suspend(() => {
      const again = run.begin._tag === "Resume" && run.begin.again
      return Effect.tap(write(Effect.tap(journal.resumeTurn(claim, turnId, { again }), Effect.sync(countLife))), () =>
        Metric.update(TurnMetrics.resumed, 1)
      )
    }),
    leave: Effect.suspend(() =>
      counted && state.ended === undefined ? journal.suspendTurn(claim, turnId) : Effect.void
    ),
    append: (added) => journaled(added, journal.append(claim, added)),
    fold: (messageIds) => write(journal.fold(claim, turnId, messageIds)),
    end: (ending) =>
      journaled(
        [...ending.entries, { _tag: "TurnEnded", turnId, state: ending.state }],
        journal.endTurn(claim, { turnId, ...ending })
      ),
    publish: (event) =>
      Effect.suspend(() => {
        announced ||= event._tag === "TurnStarted"
        return events.publish(event)
      }),
    announced: () => announced
  }
}

const from = (entries: ReadonlyArray<Entry.StoredEntry>, seq: number): Array<Entry.StoredEntry> =>
  entries.filter((stored) => stored.seq >= seq)
