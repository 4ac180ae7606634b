/**
 * The capabilities that act on the running turn itself: looking at its history and shortening it. What they change is handed
 * over as entries, which are journaled in one transaction with the result of the call that asked for them.
 */
import * as Effect from "effect/Effect"
import type * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Capability from "../../src/tool/Capability.ts"
import * as HistoryCapability from "../../src/tools/history/History.ts"
import * as History from "../../src/turn/History.ts"

export interface TurnCapabilities {
  readonly grant: (granted: Capability.Granted) => Capability.Granted
  /** Entries that calls have asked for since the last time. */
  readonly take: () => ReadonlyArray<Entry.Entry>
}

export const make = (
  turnId: Ids.TurnId,
  entries: () => ReadonlyArray<Entry.StoredEntry>,
  maxHistoryMessages: number | undefined
): TurnCapabilities => {
  let asked: Array<Entry.Entry> = []

  const infoOf = (log: ReadonlyArray<Entry.StoredEntry>): HistoryCapability.Info => ({
    totalMessages: History.countMessages(log),
    summarised: History.isSummarised(log),
    maxHistoryMessages: maxHistoryMessages ?? null
  })
  const history = {
    info: Effect.sync(() => infoOf(entries())),
    trim: (keepLatest: number) =>
      Effect.sync((): HistoryCapability.Trimmed => {
        const log = entries()
        const now = infoOf(log)
        if (keepLatest >= now.totalMessages) return { ...now, removedMessages: 0 }
        const keepFrom = History.keepFrom(log, keepLatest, turnId)
        const trimmed = (removedMessages: number): Entry.Entry => ({
          _tag: "HistoryTrimmed",
          turnId,
          keepFrom,
          removedMessages
        })
        const last = { seq: (log.at(-1)?.seq ?? 0) + 1, at: 0, entry: trimmed(0) }
        const left = infoOf([...log.filter(({ seq }) => seq >= keepFrom), last])
        const removedMessages = now.totalMessages - left.totalMessages
        if (removedMessages > 0) asked.push(trimmed(removedMessages))
        return { ...left, removedMessages }
      })
  }

  return {
    grant: (granted) => granted.with(HistoryCapability.History, history),
    take: () => {
      const entriesAsked = asked
      asked = []
      return entriesAsked
    }
  }
}
