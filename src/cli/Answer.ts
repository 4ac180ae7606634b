/** Following one message to its outcome. */
import type * as Conversations from "../conversation/Conversations.ts"
import * as Entry from "../thread/Entry.ts"
import type * as Ids from "../Ids.ts"

export interface Answer {
  readonly messageId: Ids.MessageId
  /** The turn that took the message up; a turn that folds it in counts. */
  readonly turnId: Ids.TurnId | undefined
  /** Whether the turn serves this message and nobody else's. */
  readonly alone: boolean
  /** The last text the turn said without asking for a tool, or the runtime said in its place. */
  readonly text: string
  /** All that the turn took, summaries included. */
  readonly usage: Entry.Usage
  readonly steps: number
  readonly end: Extract<Entry.Entry, { _tag: "TurnEnded" }> | undefined
}

export const start = (messageId: Ids.MessageId): Answer => ({
  messageId,
  turnId: undefined,
  alone: false,
  text: "",
  usage: Entry.noUsage,
  steps: 0,
  end: undefined
})

export const next = (answer: Answer, item: Conversations.WatchItem): Answer => {
  if (item._tag !== "Entry") return answer
  const { entry } = item.stored
  if (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") return takenUp(answer, entry)
  if (entry._tag === "UserMessage" || entry.turnId !== answer.turnId) return answer
  switch (entry._tag) {
    case "AssistantMessage":
      return {
        ...answer,
        text: entry.calls.length === 0 ? entry.text : answer.text,
        steps: answer.steps + 1,
        usage: Entry.addUsage(answer.usage, entry.usage)
      }
    case "Compacted":
    case "ToolUseJudged":
      return { ...answer, usage: Entry.addUsage(answer.usage, entry.usage) }
    case "Notice":
      return { ...answer, text: answer.text === "" ? entry.text : answer.text }
    case "TurnEnded":
      return { ...answer, end: entry }
    default:
      return answer
  }
}

const takenUp = (answer: Answer, entry: Extract<Entry.Entry, { _tag: "TurnStarted" | "MessagesFolded" }>): Answer => {
  if (entry.messageIds.includes(answer.messageId)) {
    return { ...answer, turnId: entry.turnId, alone: entry._tag === "TurnStarted" && entry.messageIds.length === 1 }
  }
  return entry.turnId === answer.turnId ? { ...answer, alone: false } : answer
}
