/** Where a turn's calls and events come from. */
import * as Threads from "../../src/thread/Threads.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import type * as Session from "./Session.ts"

/** What is the same for every call of the turn, as far as its log has been read. */
export const of = ({ entries, run }: Session.Session, ownerId: string): ToolContext.TurnScope => {
  const { channel, chat } = Threads.partsOfKey(run.thread.key)
  const opening =
    run.begin._tag === "Start"
      ? TurnEntries.messages(entries(), run.begin.messageIds)
      : TurnEntries.opening(entries(), run.turnId)
  const senderId = opening.find((message) => message.source === "person")?.sender.id
  return {
    ...(senderId === undefined ? {} : { senderId }),
    ownerId,
    threadId: run.thread.id,
    threadKey: run.thread.key,
    channel,
    chat,
    turnId: run.turnId,
    agent: run.thread.agent,
    chainDepth: 0
  }
}

/** What every event of the turn says of it. */
export const about = ({ channel, chat, threadId, turnId }: ToolContext.TurnScope) => ({
  threadId,
  turnId,
  channel,
  chat
})
