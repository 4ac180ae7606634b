/** The entries that a turn writes, and what it reads out of those of its thread. Pure. */
import * as Duration from "effect/Duration"
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"
import type * as ToolResult from "../tool/ToolResult.ts"
import * as Compaction from "./Compaction.ts"

type Log = ReadonlyArray<Entry.StoredEntry>
type UserEntry = Extract<Entry.Entry, { _tag: "UserMessage" }>
type ResultEntry = Extract<Entry.Entry, { _tag: "ToolResult" }>

/** Why a call has no result of its own. */
export interface Refusal {
  readonly outcome: Entry.CallOutcome
  readonly code: string
  /** What the model reads. */
  readonly text: string
}

const restoredBegins = "[The person has undone file changes of an earlier turn of yours."

/** Whether a text is such a note, and nothing that a person wrote. */
export const isRestoredNote = (text: string): boolean => text.startsWith(restoredBegins)

/** What the model reads where a person took back changes of files. */
export const restoredNote = ({ left, restored }: Extract<Entry.Entry, { _tag: "FilesRestored" }>): string =>
  `${restoredBegins} As they were before it again: ` +
  `${restored.join(", ")}.${left.length === 0 ? "" : ` Left as they are: ${left.join(", ")}.`} Read a file before you rely on what you know of it.]`

export const newerMessage: Refusal = {
  outcome: "skipped",
  code: "turn:newer_message",
  text: "This call was not run: a newer message of the person came first. Read it before you go on."
}

export const turnEnded: Refusal = {
  outcome: "skipped",
  code: "turn:ended",
  text: "This call was not run: the turn ended before it."
}

export const unknownOutcome: Refusal = {
  outcome: "unknown",
  code: "tool:unknown_outcome",
  text: "The process ended while this call was running. Whether it had its effect is not known: check before you repeat it."
}

/** The result of a call that another life of the process was running, and that may not run again. */
export const notRunAgain = ({ errorCode, text }: ToolResult.ToolResult): Refusal => ({
  outcome: "unknown",
  code: errorCode ?? unknownOutcome.code,
  text: `${unknownOutcome.text} It was not run again: ${text}`
})

/** The result of a call that its tool gave none for. */
export const refused = (turnId: Ids.TurnId, call: Entry.ToolCallRequest, why: Refusal): ResultEntry => ({
  _tag: "ToolResult",
  turnId,
  callId: call.callId,
  name: call.name,
  outcome: why.outcome,
  text: why.text,
  data: null,
  errorCode: why.code,
  durationMillis: 0
})

/** The result that a call's tool gave. */
export const resulted = (
  turnId: Ids.TurnId,
  call: Entry.ToolCallRequest,
  result: ToolResult.ToolResult,
  took: Duration.Duration
): ResultEntry => ({
  _tag: "ToolResult",
  turnId,
  callId: call.callId,
  name: call.name,
  outcome: result.outcome,
  text: result.text,
  data: result.data,
  ...(result.errorCode === undefined ? {} : { errorCode: result.errorCode }),
  ...(result.untrusted === undefined ? {} : { untrusted: result.untrusted }),
  ...(result.approved === undefined ? {} : { approved: result.approved }),
  durationMillis: Math.round(Duration.toMillis(took))
})

export const notice = (turnId: Ids.TurnId, text: string): Entry.Entry => ({ _tag: "Notice", turnId, text })

/** The messages that opened the turn. */
export const opening = (log: Log, turnId: Ids.TurnId): ReadonlyArray<UserEntry> => {
  const started = beginning(log, turnId)?.entry
  return started?._tag === "TurnStarted" ? messages(log, started.messageIds) : []
}

/** What the turn was asked, its opening and what has joined it, in the order in which it took it up. */
export const requests = (log: Log, turnId: Ids.TurnId): string =>
  log
    .flatMap(({ entry }) =>
      (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") && entry.turnId === turnId
        ? messages(log, entry.messageIds)
        : []
    )
    .map((message) => saidIn(log, message))
    .join("\n\n")

/** The text of a message, and behind it what is said in its recordings. */
export const saidIn = (log: Log, { messageId, text }: UserEntry): string => {
  const heard = log.flatMap(({ entry }) =>
    entry._tag === "RecordingsHeard" && entry.messageId === messageId ? entry.heard : []
  )
  const texts = heard.flatMap((one) => (one.text === null || one.text === "" ? [] : [one.text]))
  return texts.length === 0 ? text : [...(text.trim() === "" ? [] : [text]), ...texts].join("\n\n")
}

/** Messages with files that this turn has taken up. */
export const takenWithFiles = (log: Log, turnId: Ids.TurnId): ReadonlyArray<UserEntry> => {
  const withFiles = log.flatMap(({ entry }) =>
    entry._tag === "UserMessage" && entry.attachments.length > 0 ? [entry] : []
  )
  if (withFiles.length === 0) return []
  const taken = new Set(
    log.flatMap(({ entry }) => (Compaction.takesUp(entry) && entry.turnId === turnId ? entry.messageIds : []))
  )
  return withFiles.filter(({ messageId }) => taken.has(messageId))
}

/** The `seq` of the turn's beginning; undefined when it has not begun. */
export const startedAt = (log: Log, turnId: Ids.TurnId): number | undefined => beginning(log, turnId)?.seq

const beginning = (log: Log, turnId: Ids.TurnId): Entry.StoredEntry | undefined =>
  log.find(({ entry }) => entry._tag === "TurnStarted" && entry.turnId === turnId)

/** The messages with these ids, in the order in which they came in. */
export const messages = (log: Log, ids: ReadonlyArray<Ids.MessageId>): ReadonlyArray<UserEntry> =>
  log.flatMap(({ entry }) => (entry._tag === "UserMessage" && ids.includes(entry.messageId) ? [entry] : []))

/** The model that was asked last in the turn, where it is another than the agent's. */
export const switchedTo = (log: Log, turnId: Ids.TurnId): Entry.ModelName | undefined => {
  const last = log.findLast(({ entry }) => entry._tag === "ModelSwitched" && entry.turnId === turnId)?.entry
  return last?._tag === "ModelSwitched" ? last.to : undefined
}

/** The provider and model of the last response. */
export const lastModel = (log: Log): { readonly provider: string; readonly model: string } => {
  const last = log.findLast(({ entry }) => entry._tag === "AssistantMessage")?.entry
  return last?._tag === "AssistantMessage"
    ? { provider: last.provider, model: last.model }
    : { provider: "", model: "" }
}

/** Tokens of a turn and of what its model read last. */
export interface TokenTrace {
  /** All that the turn took, in and out, summaries included. */
  readonly turn: number
  /** How long the history was in the last response. */
  readonly session: number
  readonly sessionBeforeCompaction?: number
  /** Known when a response came after the compaction. */
  readonly sessionAfterCompaction?: number
}

export const tokenTrace = (log: Log, turnId: Ids.TurnId, usage: Entry.Usage): TokenTrace => {
  const own = log.flatMap(({ entry }) => (entry._tag === "UserMessage" || entry.turnId !== turnId ? [] : [entry]))
  const compacted = own.findLastIndex((entry) => entry._tag === "Compacted")
  const first = own.find((entry) => entry._tag === "Compacted")
  const read = own.findLastIndex((entry) => entry._tag === "AssistantMessage")
  const last = own[read]
  const session = last?._tag === "AssistantMessage" ? last.usage.inputTokens + last.usage.outputTokens : 0
  return {
    turn: usage.inputTokens + usage.outputTokens,
    session,
    ...(first?._tag === "Compacted" ? { sessionBeforeCompaction: first.tokensBefore } : {}),
    ...(first !== undefined && read > compacted ? { sessionAfterCompaction: session } : {})
  }
}

/** The compactions of the turn. */
export const compactions = (log: Log, turnId: Ids.TurnId): ReadonlyArray<Compaction.Compacted> =>
  log.flatMap(({ entry }) => (entry._tag === "Compacted" && entry.turnId === turnId ? [entry] : []))
