/**
 * The visible part of a thread's log, as far as it has been read. Entries are never changed, so what was read once stays true,
 * and who serves the thread reads only what is new, however long the thread is.
 */
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"

export interface ThreadLog {
  readonly entries: () => ReadonlyArray<Entry.StoredEntry>
  /** The `seq` from which on nothing has been read. */
  readonly nextSeq: () => number
  /** How much text the entries hold, in characters. */
  readonly chars: () => number
  /** Takes in the entry that was read next. */
  readonly take: (stored: Entry.StoredEntry) => void
}

/** Nothing has been read yet of the log from `from` on. */
export const make = (from: number): ThreadLog => {
  let entries: Array<Entry.StoredEntry> = []
  let nextSeq = from
  let chars = 0
  return {
    entries: () => entries,
    nextSeq: () => nextSeq,
    chars: () => chars,
    take: (stored) => {
      entries.push(stored)
      nextSeq = stored.seq + 1
      chars += charsIn(stored)
      const from = visibleFrom(stored.entry)
      if (from === undefined) return
      entries = entries.filter(({ seq }) => seq >= from)
      chars = entries.reduce((sum, one) => sum + charsIn(one), 0)
    }
  }
}

/** Where the visible part begins from this entry on, if it moves that. */
const visibleFrom = (entry: Entry.Entry): number | undefined => {
  if (entry._tag === "HistoryTrimmed") return entry.keepFrom
  return entry._tag === "Compacted" ? entry.readFrom : undefined
}

/** Logs that are kept while nobody works on them: as many as hold so much text, those that were used last. */
export interface KeptLogs {
  /** Gives a kept log away: whoever works with it gives it back when it is done. */
  readonly take: (thread: Ids.ThreadId) => ThreadLog | undefined
  readonly keep: (thread: Ids.ThreadId, log: ThreadLog) => void
  readonly drop: (thread: Ids.ThreadId) => void
}

export const keeping = (maxChars: number): KeptLogs => {
  const logs = new Map<Ids.ThreadId, ThreadLog>()
  let kept = 0
  const take = (thread: Ids.ThreadId) => {
    const log = logs.get(thread)
    if (log === undefined) return undefined
    logs.delete(thread)
    kept -= log.chars()
    return log
  }
  return {
    take,
    keep: (thread, log) => {
      take(thread)
      logs.set(thread, log)
      kept += log.chars()
      for (const oldest of logs.keys()) {
        if (kept <= maxChars) return
        take(oldest)
      }
    },
    drop: take
  }
}

/** What an entry costs beside its texts, about. */
const entryChars = 400

const charsIn = ({ entry }: Entry.StoredEntry): number => entryChars + textIn(entry)

const textIn = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 8
  let sum = 0
  for (const part of Object.values(value)) sum += textIn(part)
  return sum
}
