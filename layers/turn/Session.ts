/**
 * The running turn's view of its thread: the log as far as it has been read, and the state folded from it.
 *
 * The log is the truth and is read back after every write, so that what other writers added in between (messages that were
 * accepted) is seen in its place. Nothing else keeps a copy of the conversation.
 */
import * as Effect from "effect/Effect"
import type * as Event from "../../src/event/Event.ts"
import type * as EventBus from "../../src/event/EventBus.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Threads from "../../src/thread/Threads.ts"
import type { TurnRun } from "../../src/turn/TurnRunner.ts"
import * as TurnState from "../../src/turn/TurnState.ts"

const pageSize = 500

export interface Services {
  readonly journal: Journal.Journal["Service"]
  readonly threads: Threads.Threads["Service"]
  readonly events: EventBus.EventBus["Service"]
}

export interface Session {
  readonly entries: () => ReadonlyArray<Entry.StoredEntry>
  readonly state: () => TurnState.TurnState
  /** Reads what is new in the log and folds it in. */
  readonly refresh: Effect.Effect<void>
  /** Journals entries of this turn, tells watchers, and reads them back. */
  readonly append: (entries: ReadonlyArray<Entry.Entry>) => Effect.Effect<void, Journal.ClaimLost>
  /** Tells watchers how far the log has come. */
  readonly committed: Effect.Effect<void>
  readonly publish: (event: Event.Event) => Effect.Effect<void>
}

export const make = ({ events, journal, threads }: Services, run: TurnRun): Session => {
  let entries: Array<Entry.StoredEntry> = []
  let nextSeq = run.thread.historyFrom
  let state = TurnState.initial(run.turnId)

  const refresh: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(threads.entries(run.thread.id, { from: nextSeq, limit: pageSize }), (page) => {
      for (const stored of page) take(stored)
      return page.length === pageSize ? refresh : Effect.void
    })
  )
  const take = (stored: Entry.StoredEntry) => {
    entries.push(stored)
    nextSeq = stored.seq + 1
    state = TurnState.apply(state, stored.entry)
    if (stored.entry._tag === "HistoryTrimmed") entries = from(entries, stored.entry.keepFrom)
  }
  const committed = Effect.suspend(() =>
    events.publish({ _tag: "EntriesCommitted", threadId: run.thread.id, seq: nextSeq - 1 })
  )
  const append = (added: ReadonlyArray<Entry.Entry>) =>
    journal.append(run.claim, added).pipe(Effect.andThen(refresh), Effect.andThen(committed))

  return {
    entries: () => entries,
    state: () => state,
    refresh,
    append,
    committed,
    publish: events.publish
  }
}

const from = (entries: ReadonlyArray<Entry.StoredEntry>, seq: number): Array<Entry.StoredEntry> =>
  entries.filter((stored) => stored.seq >= seq)
