/** Reading what a thread says of one message: pages of its log until the turn of the message has ended. */
import * as Effect from "effect/Effect"
import type * as Ids from "../../src/Ids.ts"
import * as Reply from "../../src/conversation/Reply.ts"
import type * as Requests from "../../src/openai/Requests.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Threads from "../../src/thread/Threads.ts"

const pageSize = 500

/** How far the reply has come in the log. */
export const reply = (threads: Threads.Threads["Service"], place: Requests.Place): Effect.Effect<Reply.Reply> =>
  Effect.map(read(threads, place.threadId, place.seq, place.messageId, nothing), ({ reply }) => reply)

/**
 * What was said in a thread up to the end of the turn that the message got. Undefined when that is more than `longest`
 * characters: no message could tell it.
 */
export const upTo = Effect.fnUntraced(function* (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  messageId: Ids.MessageId,
  longest: number
) {
  const said: Array<Entry.StoredEntry> = []
  let characters = 0
  const keep = (stored: Entry.StoredEntry): boolean => {
    const length = spoken(stored.entry)
    if (length === undefined) return true
    characters += length
    said.push(stored)
    return characters <= longest
  }
  const { reply, whole } = yield* read(threads, threadId, 1, messageId, keep)
  return whole ? said.filter(({ seq }) => seq <= (reply.endedAt ?? seq)) : undefined
})

/** Reads until the reply has ended, or `keep` says that it is enough. */
const read = Effect.fnUntraced(function* (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  first: number,
  messageId: Ids.MessageId,
  keep: (stored: Entry.StoredEntry) => boolean
) {
  let reply = Reply.start(messageId)
  let from: number | null = first
  while (from !== null && reply.ended === undefined) {
    const page: Threads.EntryPage = yield* threads.entries(threadId, { from, limit: pageSize })
    for (const stored of page.entries) {
      reply = Reply.next(reply, { _tag: "Entry", stored })
      if (!keep(stored)) return { reply, whole: false }
    }
    from = page.next
  }
  return { reply, whole: true }
})

const nothing = () => true

/** Characters of an entry that are words of the conversation; undefined for one that says nothing of it. */
const spoken = (entry: Entry.Entry): number | undefined => {
  switch (entry._tag) {
    case "UserMessage":
    case "AssistantMessage":
    case "Notice":
      return entry.text.length
    case "TurnStarted":
    case "MessagesFolded":
      return 0
    default:
      return undefined
  }
}
