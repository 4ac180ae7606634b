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
  Effect.map(read(threads, place.threadId, place.seq, place.messageId), ({ reply }) => reply)

/** The entries of a thread up to the end of the turn that the message got. */
export const upTo = (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  messageId: Ids.MessageId
): Effect.Effect<ReadonlyArray<Entry.StoredEntry>> =>
  Effect.map(read(threads, threadId, 1, messageId), ({ entries, reply }) =>
    entries.filter(({ seq }) => seq <= (reply.endedAt ?? seq))
  )

const read = Effect.fnUntraced(function* (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  first: number,
  messageId: Ids.MessageId
) {
  const entries: Array<Entry.StoredEntry> = []
  let reply = Reply.start(messageId)
  let from = first
  while (reply.ended === undefined) {
    const page = yield* threads.entries(threadId, { from, limit: pageSize })
    for (const stored of page) reply = Reply.next(reply, { _tag: "Entry", stored })
    entries.push(...page)
    from += page.length
    if (page.length < pageSize) break
  }
  return { entries, reply }
})
