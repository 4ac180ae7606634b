/**
 * Following one message to its answer: a pure fold over what a watcher of the thread sees.
 *
 * The text of a reply is everything that the agent said in the turn, its steps separated by a blank line, so that it is the
 * same whether it was streamed or read at the end. Live pieces only bring it earlier: the journaled text of a step fills
 * in what was missed.
 */
import type * as Conversations from "./Conversations.ts"
import type * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"

export interface Reply {
  readonly messageId: Ids.MessageId
  /** The turn that took the message up. */
  readonly turnId: Ids.TurnId | undefined
  readonly text: string
  /** Steps whose responses are in the log. A piece of one of them comes late, and is in `text` already. */
  readonly steps: number
  /** The step whose pieces come in, and how much of it is in `text`. */
  readonly live: { readonly step: number; readonly length: number } | undefined
  /** All that the turn took, summaries included. */
  readonly usage: Required<Entry.Usage>
  /** Of the last response. */
  readonly finishReason: string
  readonly ended: Extract<Entry.Entry, { _tag: "TurnEnded" }> | undefined
  /** The `seq` of the entry that ended the turn. */
  readonly endedAt: number | undefined
}

export const start = (messageId: Ids.MessageId): Reply => ({
  messageId,
  turnId: undefined,
  text: "",
  steps: 0,
  live: undefined,
  usage: Entry.noUsage,
  finishReason: "stop",
  ended: undefined,
  endedAt: undefined
})

/** The reply with the item taken in. What was added to its text is what goes to a client that reads along. */
export const next = (reply: Reply, item: Conversations.WatchItem): Reply => {
  if (item._tag === "Entry") return nextEntry(reply, item.stored)
  if (item._tag === "Live" && item.event._tag === "ModelDelta") return nextDelta(reply, item.event)
  return reply
}

const nextEntry = (reply: Reply, { entry, seq }: Entry.StoredEntry): Reply => {
  if (entry._tag === "UserMessage") return reply
  if (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") {
    return entry.messageIds.includes(reply.messageId) ? { ...reply, turnId: entry.turnId } : reply
  }
  if (entry.turnId !== reply.turnId) return reply
  if (entry._tag === "TurnEnded") return { ...reply, ended: entry, endedAt: seq }
  if (entry._tag === "Compacted" || entry._tag === "ToolUseJudged")
    return { ...reply, usage: Entry.addUsage(reply.usage, entry.usage) }
  return entry._tag === "AssistantMessage" ? nextResponse(reply, entry) : reply
}

const nextResponse = (reply: Reply, entry: Extract<Entry.Entry, { _tag: "AssistantMessage" }>): Reply => {
  const had = reply.live?.step === entry.step ? reply.live.length : 0
  return {
    ...append(reply, entry.step, entry.text.slice(had)),
    steps: entry.step,
    live: undefined,
    usage: Entry.addUsage(reply.usage, entry.usage),
    finishReason: entry.finishReason
  }
}

/** A piece that does not follow on what is there is left to the journaled text. */
const nextDelta = (
  reply: Reply,
  delta: {
    readonly turnId: Ids.TurnId
    readonly step: number
    readonly kind: string
    readonly offset: number
    readonly text: string
  }
): Reply => {
  if (delta.kind !== "text" || delta.turnId !== reply.turnId || delta.step <= reply.steps) return reply
  const had = reply.live?.step === delta.step ? reply.live.length : 0
  // A response that was empty but for blanks is asked for again, from its beginning.
  const again = delta.offset === 0 ? { ...reply, live: undefined } : reply
  return delta.offset === 0 || delta.offset === had ? append(again, delta.step, delta.text) : reply
}

const append = (reply: Reply, step: number, text: string): Reply => {
  if (text === "") return reply
  const begun = reply.live?.step === step ? reply.live.length : 0
  const gap = begun === 0 && reply.text !== "" ? "\n\n" : ""
  return { ...reply, text: `${reply.text}${gap}${text}`, live: { step, length: begun + text.length } }
}
