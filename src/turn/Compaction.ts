/**
 * Compaction: a summary stands for the older part of a thread, so that a conversation never outgrows what its model can
 * read. The log keeps everything; what the model sees begins with the last summary. Pure.
 *
 * Units are shown or hidden by the entry that begins them: a message by the entry with which a turn took it up, a result with
 * the response that made its call. So wherever a compaction begins, no call is parted from its result.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Attachment from "../attachment/Attachment.ts"
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"
import * as TurnEntries from "./TurnEntries.ts"

type Log = ReadonlyArray<Entry.StoredEntry>
export type Compacted = Extract<Entry.Entry, { _tag: "Compacted" }>

/** How much of a thread is shown as it is, and what stands for the rest. */
export interface Standing {
  /** Nothing that begins before this `seq` is shown; 1 when everything is. */
  readonly keepFrom: number
  /** The turn that ran when the compaction was made: its messages are shown all the same, since they had no answer yet. */
  readonly turnId: Ids.TurnId | undefined
  /** What stands for the rest. Undefined when there is none, or when it was taken out of what the model sees. */
  readonly compacted: Compacted | undefined
  /** Whether the turn had given responses by then, which are among the rest. */
  readonly midTurn: boolean
}

/** Whether a compaction is one for who reads the history. */
export type Holds = (compacted: Compacted) => boolean

/** One that every reader can read. */
export const isSummary: Holds = ({ items }) => items === undefined

/** What holds after these entries: the last compaction, and nothing that an earlier one hid comes back. */
export const standing = (entries: Log, holds: Holds = () => true): Standing => {
  let found: Standing = { keepFrom: 1, turnId: undefined, compacted: undefined, midTurn: false }
  for (const { entry } of entries) {
    if (entry._tag === "Compacted" && holds(entry)) {
      const { keepFrom, step, turnId } = entry
      found = { keepFrom: Math.max(found.keepFrom, keepFrom), turnId, compacted: entry, midTurn: step > 0 }
    }
    // Trimming takes the oldest first, and that is the summary; unless it tells what the same turn has done.
    if (entry._tag === "HistoryTrimmed" && !(found.midTurn && found.turnId === entry.turnId)) {
      found = { ...found, compacted: undefined }
    }
  }
  return found
}

/** How many compactions came since the last that everybody can read. */
export const nativeInRow = (entries: Log): number => {
  const compactions = entries.flatMap(({ entry }) => (entry._tag === "Compacted" ? [entry] : []))
  return compactions.length - 1 - compactions.findLastIndex(isSummary)
}

/** Whether what the entry begins is not shown. */
export const hides = ({ keepFrom, turnId }: Standing, { entry, seq }: Entry.StoredEntry): boolean =>
  seq < keepFrom && !(takesUp(entry) && entry.turnId === turnId)

/** The messages of people and models that are shown as they are, or wait to be. */
export const visible = (entries: Log): Log => {
  const now = standing(entries)
  const hidden = new Set(
    entries.flatMap((stored) => (takesUp(stored.entry) && hides(now, stored) ? stored.entry.messageIds : []))
  )
  return entries.filter((stored) =>
    stored.entry._tag === "UserMessage"
      ? !hidden.has(stored.entry.messageId)
      : stored.entry._tag === "AssistantMessage" && !hides(now, stored)
  )
}

type TakingUp = Extract<Entry.Entry, { _tag: "TurnStarted" | "MessagesFolded" }>

/** Whether the entry begins what its messages say. */
export const takesUp = (entry: Entry.Entry): entry is TakingUp =>
  entry._tag === "TurnStarted" || entry._tag === "MessagesFolded"

// ---------------------------------------------------------------------------------------------------------------------
// When

/** What decides how long a history may become. */
export interface Limit {
  /** `[memory].max_history_tokens`. */
  readonly maxHistoryTokens: number | undefined
  /** How much of what the model can read may be used, above 0 and at most 1. */
  readonly ratio: number
  /** Tokens that the model can read, where that is known. */
  readonly contextTokens: number | undefined
}

/** Tokens from which on a history is compacted; undefined when nothing is known. */
export const budget = ({ contextTokens, maxHistoryTokens, ratio }: Limit): number | undefined =>
  maxHistoryTokens ?? (contextTokens === undefined ? undefined : Math.max(1, Math.floor(contextTokens * ratio)))

/** How long the history was in the last response to it. */
export interface Measurement {
  /** The response. */
  readonly seq: number
  /** Who gave it. */
  readonly by: Entry.ModelName
  /** Tokens that it read and wrote, as the provider counted them; undefined when it counted none. */
  readonly tokens: number | undefined
}

/** The last measurement of the history as it is now: none after it has been shortened and before it has been read again. */
export const measured = (entries: Log): Measurement | undefined => {
  const last = entries.findLast(({ entry: { _tag } }) => _tag === "AssistantMessage" || shortens.has(_tag))
  if (last?.entry._tag !== "AssistantMessage") return undefined
  const { model, provider, usage } = last.entry
  const { inputTokens, outputTokens } = usage
  return { seq: last.seq, by: { provider, model }, tokens: inputTokens > 0 ? inputTokens + outputTokens : undefined }
}

const shortens: ReadonlySet<Entry.EntryKind> = new Set(["Compacted", "HistoryTrimmed"])

/** A rough count of tokens, for when nobody has a better one: four bytes each. */
export const estimate = (text: string): number => Math.ceil(encoder.encode(text).length / bytesPerToken)

/** The same for all that a prompt says; files are not counted. */
export const estimatePrompt = (prompt: Prompt.Prompt): number =>
  estimate(JSON.stringify(prompt.content, (_, value) => (value instanceof Uint8Array ? undefined : value)))

const encoder = new TextEncoder()
const bytesPerToken = 4

// ---------------------------------------------------------------------------------------------------------------------
// What

export interface Plan {
  /** What begins before this `seq` is replaced by a summary. */
  readonly keepFrom: number
  /** Nothing before this `seq` is needed any more, neither to show what is left nor to go on with the turn. */
  readonly readFrom: number
}

export interface Planning {
  /** The turn that runs. */
  readonly turnId: Ids.TurnId
  /** How many of the latest tokens (as estimated) are kept as they are. */
  readonly keepTokens: number
  /** The provider has refused the history as too long: unanswered questions of earlier turns may be what is too long. */
  readonly refused: boolean
  /** The compactions that the model can read whose provider is to compact; a summary, for everybody, when left out. */
  readonly native?: Holds | undefined
}

/**
 * Where a compaction begins. Kept is what came after the last response, for it has no answer yet, and of the latest
 * responses what fits into `keepTokens`. Undefined when that leaves nothing to be replaced.
 */
export const plan = (entries: Log, { keepTokens, native, refused, turnId }: Planning): Plan | undefined => {
  const before = standing(entries, native ?? isSummary)
  const units = entries.filter((stored) => begins.has(stored.entry._tag) && stored.seq >= before.keepFrom)
  const lastResponse = units.findLastIndex(({ entry }) => entry._tag === "AssistantMessage")
  const ownBegin = units.findIndex(({ entry }) => entry._tag === "TurnStarted" && entry.turnId === turnId)
  const unanswered = refused && lastResponse < ownBegin ? ownBegin : lastResponse + 1
  const cut = refused ? unanswered : keepLatest(entries, units, unanswered, keepTokens)
  const replaced = units.slice(0, cut).filter(({ entry }) => !(takesUp(entry) && entry.turnId === turnId))
  if (!replaced.some(({ entry }) => entry._tag !== "Notice")) return undefined
  const keepFrom = units[cut]?.seq ?? (entries.at(-1)?.seq ?? 0) + 1
  // For other readers, what a provider compacts itself stays as it was.
  const needed = native === undefined ? readFrom(entries, keepFrom, turnId) : (entries[0]?.seq ?? keepFrom)
  return { keepFrom, readFrom: needed }
}

const begins: ReadonlySet<Entry.EntryKind> = new Set([
  "TurnStarted",
  "MessagesFolded",
  "AssistantMessage",
  "Guidance",
  "FilesRestored",
  "Notice"
])

/** How far back from `end` the units go that fit. */
const keepLatest = (entries: Log, units: Log, end: number, tokens: number): number => {
  let left = tokens
  let from = end
  while (from > 0) {
    const unit = units[from - 1]
    left -= unit === undefined ? 0 : tokensOf(entries, unit.entry)
    if (left < 0) break
    from--
  }
  return from
}

/** About how many tokens a unit takes, with the files that came with it. */
const tokensOf = (entries: Log, unit: Entry.Entry): number =>
  estimate(textOf(entries, unit)) +
  messagesOf(entries, unit).reduce(
    (sum, { attachments }) => sum + attachments.reduce((all, file) => all + Attachment.tokensOf(file), 0),
    0
  )

const messagesOf = (entries: Log, unit: Entry.Entry) =>
  takesUp(unit)
    ? entries.flatMap(({ entry }) =>
        entry._tag === "UserMessage" && unit.messageIds.includes(entry.messageId) ? [entry] : []
      )
    : []

/** All that a unit says. */
const textOf = (entries: Log, unit: Entry.Entry): string => {
  switch (unit._tag) {
    case "TurnStarted":
    case "MessagesFolded":
      return messagesOf(entries, unit)
        .map(({ text }) => text)
        .join("")
    case "AssistantMessage": {
      const calls = new Set(unit.calls.map(({ callId }) => callId))
      const results = entries.map(({ entry }) =>
        entry._tag === "ToolResult" && calls.has(entry.callId) ? entry.text : ""
      )
      return [unit.text, ...unit.calls.map((call) => call.arguments), ...results].join("")
    }
    case "FilesRestored":
      return TurnEntries.restoredNote(unit)
    case "Guidance":
    case "Notice":
      return unit.text
    default:
      return ""
  }
}

/** The first entry that what is left needs: the running turn's own, and messages that are shown or wait. */
const readFrom = (entries: Log, keepFrom: number, turnId: Ids.TurnId): number => {
  const gone = new Set(
    entries.flatMap(({ entry, seq }) =>
      takesUp(entry) && seq < keepFrom && entry.turnId !== turnId ? entry.messageIds : []
    )
  )
  const needed = entries.find(({ entry }) =>
    entry._tag === "UserMessage" ? !gone.has(entry.messageId) : entry.turnId === turnId
  )
  return Math.min(keepFrom, needed?.seq ?? keepFrom)
}
