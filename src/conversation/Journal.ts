/**
 * Writing threads. Each operation is one transaction: the entries, the inbox rows, the turn's row and the outbox rows
 * that belong to one point of a conversation's life are on disk together or not at all.
 *
 * `accept` may be called by anybody. All other writes need a `Claim`: the proof that this incarnation owns the thread.
 * A claim is void from the moment another incarnation claims the same thread; a write with a void claim changes nothing
 * and fails with `ClaimLost`.
 *
 * What a turn writes on its way (`startTurn`, `resumeTurn`, `fold`, `append`) is told as soon as it is committed: no end of the
 * process takes it any more. A power cut may, until it is on the disk, which all other operations wait for, and `settled` does
 * alone. So whoever acts outside on what these four have written waits for that first.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Attachment from "../attachment/Attachment.ts"
import * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"
import * as Threads from "../thread/Threads.ts"

/** What a channel hands in. `externalId` is the channel's own id of the message: the same one is accepted once. */
export const InboundMessage = Schema.Struct({
  thread: Threads.ThreadKey,
  channel: Schema.String,
  externalId: Schema.NonEmptyString.check(Schema.isMaxLength(200)),
  sender: Entry.Sender,
  source: Entry.Source,
  delivery: Entry.Delivery,
  text: Schema.String,
  /** What `Attachments.judge` has let pass. */
  attachments: Schema.Array(Attachment.Judged),
  agent: Schema.String,
  /** The channel's place in its own feed, stored with the message (for example Telegram's update offset). */
  cursor: Schema.optionalKey(Schema.String)
})
export type InboundMessage = typeof InboundMessage.Type

export interface Accepted {
  readonly threadId: Ids.ThreadId
  readonly messageId: Ids.MessageId
  readonly seq: number
  /** The channel handed in a message it had handed in before; nothing was written. */
  readonly duplicate: boolean
}

export interface Claim {
  readonly threadId: Ids.ThreadId
  readonly incarnation: Ids.IncarnationId
}

export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", { threadId: Ids.ThreadId }) {
  override get message() {
    return `Another process owns thread ${this.threadId} now.`
  }
}

/** A message that no turn has taken up yet. */
export const WaitingMessage = Schema.Struct({
  messageId: Ids.MessageId,
  seq: Schema.Int,
  delivery: Entry.Delivery,
  source: Entry.Source
})
export type WaitingMessage = typeof WaitingMessage.Type

/**
 * A turn that has begun and not ended. `attempts` counts the lives of the process that worked on it, `activeMillis` how long
 * they did, as far as it was written.
 */
export const RunningTurn = Schema.Struct({
  turnId: Ids.TurnId,
  attempts: Schema.Int,
  steps: Schema.Int,
  activeMillis: Schema.Int,
  startedAt: Schema.Int
})
export type RunningTurn = typeof RunningTurn.Type

export interface Owed {
  readonly running: RunningTurn | null
  readonly waiting: ReadonlyArray<WaitingMessage>
}

/**
 * How long a turn has worked so far, in milliseconds. Written with what is written anyway, and left as it is where it is left
 * out.
 */
export interface Progress {
  readonly activeMillis?: number
}

/** What a person does to a thread besides writing in it. */
export type NotedEntry = Extract<Entry.Entry, { readonly _tag: "FilesRestored" }>

/** A reply for a channel, committed together with the entry it repeats. */
export interface Reply {
  readonly channel: string
  readonly chat: string
  readonly text: string
  readonly format?: Entry.AnswerFormat
  readonly files?: ReadonlyArray<Entry.SentFile>
}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Writes the message, the files that came with it, its inbox row, the thread if it is new, and the channel's cursor. Fails when the store cannot be
     * written now; then nothing was accepted.
     */
    readonly accept: (message: InboundMessage) => Effect.Effect<Accepted, StorageUnavailable>
    /** Where a channel goes on in its own feed: the cursor of the last message accepted with one; null before the first. */
    readonly cursor: (channel: string) => Effect.Effect<string | null>
    /** Takes the thread over from whoever owned it. */
    readonly claim: (threadId: Ids.ThreadId) => Effect.Effect<Claim, Threads.ThreadNotFound>
    readonly owed: (threadId: Ids.ThreadId) => Effect.Effect<Owed>
    /** Threads with a running turn or a waiting message, oldest debt first. */
    readonly owedThreads: (limit: number) => Effect.Effect<ReadonlyArray<Ids.ThreadId>>
    /** Age of the oldest message that has no outcome yet, in milliseconds; null when nothing is owed. */
    readonly oldestOwed: Effect.Effect<number | null>
    readonly startTurn: (
      claim: Claim,
      turn: {
        readonly turnId: Ids.TurnId
        readonly messageIds: ReadonlyArray<Ids.MessageId>
        readonly agent: string
      }
    ) => Effect.Effect<void, ClaimLost>
    /**
     * Counts one more life of the process for the turn and records it; gives the new count. `again`: this life was counted
     * before, and had to leave the turn because the store could not be written.
     */
    readonly resumeTurn: (
      claim: Claim,
      turnId: Ids.TurnId,
      options?: { readonly again: boolean }
    ) => Effect.Effect<number, ClaimLost>
    /** This life of the process ends on purpose in the middle of the turn: it does not count as a crash. */
    readonly suspendTurn: (claim: Claim, turnId: Ids.TurnId, progress?: Progress) => Effect.Effect<void, ClaimLost>
    readonly fold: (
      claim: Claim,
      turnId: Ids.TurnId,
      messageIds: ReadonlyArray<Ids.MessageId>,
      progress?: Progress
    ) => Effect.Effect<void, ClaimLost>
    /**
     * Appends entries of the running turn; an `AssistantMessage` also counts its step and tokens in the turn's row. Gives them
     * as they are read from now on: with their place in the log, and well-formed. `replies` leave before those of the turn's end.
     */
    readonly append: (
      claim: Claim,
      entries: ReadonlyArray<Entry.Entry>,
      progress?: Progress & { readonly replies?: ReadonlyArray<Reply> }
    ) => Effect.Effect<ReadonlyArray<Entry.StoredEntry>, ClaimLost>
    /** Appends what a person did to a thread between its messages. It needs no claim: it is taken in as a message is. */
    readonly note: (threadId: Ids.ThreadId, entry: NotedEntry) => Effect.Effect<Entry.StoredEntry, StorageUnavailable>
    /** Waits until all that was written is on the disk. */
    readonly settled: Effect.Effect<void>
    /**
     * Ends the turn: its last entries, its row, the outcome of every message it took up, and the replies. Gives all that it
     * added to the log, its end included, as `append` does.
     */
    readonly endTurn: (
      claim: Claim,
      end: Progress & {
        readonly turnId: Ids.TurnId
        readonly state: Entry.TurnEnd
        readonly reason?: string
        readonly failure?: Entry.Failure
        readonly entries: ReadonlyArray<Entry.Entry>
        readonly replies: ReadonlyArray<Reply>
      }
    ) => Effect.Effect<ReadonlyArray<Entry.StoredEntry>, ClaimLost>
  }
>()("troupe/conversation/Journal") {}
