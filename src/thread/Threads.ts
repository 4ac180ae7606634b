/**
 * Reading threads: the durable, append-only logs of conversations. Writing goes through `conversation/Journal`.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Entry from "./Entry.ts"

/** `<channel>:<chat>`: what a channel calls the conversation; the same key always means the same thread. */
export const ThreadKey = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,31}:[^\p{C}\s]{1,200}$/u, {
    expected: "a thread key of the form channel:chat, for example console:main"
  })
).pipe(Schema.brand("ThreadKey"))
export type ThreadKey = typeof ThreadKey.Type

/** Splits a key into the channel and the channel's own name of the chat. */
export const partsOfKey = (key: ThreadKey): { readonly channel: string; readonly chat: string } => {
  const colon = key.indexOf(":")
  return { channel: key.slice(0, colon), chat: key.slice(colon + 1) }
}

export const Thread = Schema.Struct({
  id: Ids.ThreadId,
  key: ThreadKey,
  agent: Schema.String,
  title: Schema.NullOr(Schema.String),
  /** The number of entries, which is also the `seq` of the last one. */
  entries: Schema.Int,
  /** The first entry that is still part of what the model sees. */
  historyFrom: Schema.Int,
  createdAt: Schema.Int,
  updatedAt: Schema.Int
})
export type Thread = typeof Thread.Type

/** How far a message has come. Every accepted message reaches exactly one of the last four. */
export const MessageState = Schema.Literals(["accepted", "running", "answered", "failed", "stopped", "unknown"])
export type MessageState = typeof MessageState.Type

export const MessageReceipt = Schema.Struct({
  messageId: Ids.MessageId,
  threadId: Ids.ThreadId,
  seq: Schema.Int,
  state: MessageState,
  turnId: Schema.NullOr(Ids.TurnId),
  failure: Schema.NullOr(Entry.Failure),
  acceptedAt: Schema.Int,
  endedAt: Schema.NullOr(Schema.Int)
})
export type MessageReceipt = typeof MessageReceipt.Type

export class ThreadNotFound extends Schema.TaggedError<ThreadNotFound>()("ThreadNotFound", {
  thread: Schema.String
}) {
  override get message() {
    return `There is no thread ${JSON.stringify(this.thread)}. \`troupe threads\` lists them.`
  }
}

export class MessageNotFound extends Schema.TaggedError<MessageNotFound>()("MessageNotFound", {
  messageId: Ids.MessageId
}) {
  override get message() {
    return `There is no message ${this.messageId}.`
  }
}

/** A page of threads, most recently active first. `next` is handed back as `before` to go on. */
export interface ThreadPage {
  readonly threads: ReadonlyArray<Thread>
  readonly next: ThreadCursor | null
}

/** A place in the list of threads; ties in time are broken by id, so no thread is shown twice or left out. */
export const ThreadCursor = Schema.Struct({ updatedAt: Schema.Int, id: Ids.ThreadId })
export type ThreadCursor = typeof ThreadCursor.Type

/**
 * Bytes of stored entries that are read at once, at most: more than that only when a single entry has more. Whoever reads
 * a thread holds one page at a time, however much was said in it.
 */
export const pageBytes = 1024 * 1024

/** Entries of a thread, oldest first. `next` is the `seq` to go on from; null when these reach the end of the log. */
export interface EntryPage {
  readonly entries: ReadonlyArray<Entry.StoredEntry>
  readonly next: number | null
}

export class Threads extends Context.Service<
  Threads,
  {
    readonly get: (id: Ids.ThreadId) => Effect.Effect<Thread, ThreadNotFound>
    readonly byKey: (key: ThreadKey) => Effect.Effect<Thread, ThreadNotFound>
    readonly list: (options: { readonly limit: number; readonly before?: ThreadCursor }) => Effect.Effect<ThreadPage>
    /** Entries with `seq >= from`: at most `limit` and at most `pageBytes`, but at least one if there is one. */
    readonly entries: (
      id: Ids.ThreadId,
      options: { readonly from: number; readonly limit: number }
    ) => Effect.Effect<EntryPage>
    /** The last entries, oldest first: at most `limit` and at most `pageBytes`, but at least one if there is one. */
    readonly latest: (id: Ids.ThreadId, limit: number) => Effect.Effect<ReadonlyArray<Entry.StoredEntry>>
    readonly receipt: (id: Ids.MessageId) => Effect.Effect<MessageReceipt, MessageNotFound>
  }
>()("troupe/thread/Threads") {}
