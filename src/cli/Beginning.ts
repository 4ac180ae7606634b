/** Where a stretch of a thread begins for a reader: at a turn's first message, never in the middle. */
import type * as Entry from "../thread/Entry.ts"
import type { Style } from "./Style.ts"

/** How many entries more than wanted are read to find the beginning of a turn. */
export const slack = 200

/**
 * The entries from the beginning of a turn on: with at least `wanted` of them if that is to be had, or else from the first
 * turn that begins among them. What is one turn without a beginning stays as it is.
 */
export const whole = (entries: ReadonlyArray<Entry.StoredEntry>, wanted: number): ReadonlyArray<Entry.StoredEntry> => {
  const beginnings = entries.flatMap((_, index) => (isBeginning(entries, index) ? [index] : []))
  const latest = Math.max(0, entries.length - wanted)
  const start = beginnings.findLast((index) => index <= latest) ?? beginnings[0] ?? latest
  return entries.slice(start)
}

/** After the end of a turn, unless a message of the next turn came before that end. */
const isBeginning = (entries: ReadonlyArray<Entry.StoredEntry>, index: number): boolean => {
  if (entries[index]?.seq === 1) return true
  if (index === 0 || entries[index - 1]?.entry._tag !== "TurnEnded") return false
  const next = entries.slice(index).find(({ entry }) => entry._tag === "TurnStarted")?.entry
  if (next?._tag !== "TurnStarted") return true
  const here = new Set(
    entries.slice(index).flatMap(({ entry }) => (entry._tag === "UserMessage" ? [entry.messageId] : []))
  )
  return next.messageIds.every((id) => here.has(id))
}

/**
 * How much of a thread is above a stretch of `shown` entries that begins with `first`, and how to see it (`more`, before a
 * number); nothing at its beginning.
 */
export const above = (first: Entry.StoredEntry, shown: number, style: Style, more = "/history"): string => {
  const count = first.seq - 1
  if (count === 0) return ""
  const all = Math.min(largest, count + shown)
  return style.dim(
    `── ${count === 1 ? "1 entry" : `${count} entries`} above; ${more} ${all} shows ${all < count + shown ? "more" : "all"} ──\n`
  )
}

/** How many entries can be asked for. */
const largest = 1000
