/**
 * Conversations: the actors that serve threads, seen from outside. Whoever talks to Troupe (a channel, the RPC server, a
 * schedule, an embedding program) does it through this service.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Approval from "../approval/Approval.ts"
import * as Approvals from "../approval/Approvals.ts"
import * as Event from "../event/Event.ts"
import * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"
import type * as Threads from "../thread/Threads.ts"
import * as Journal from "./Journal.ts"
import type { Overloaded } from "./Overloaded.ts"

/**
 * What a watcher of one thread sees. `Entry` items are the log itself, in order and without gaps: the last `seq` is the
 * cursor to come back with. `Live` items are what has not been written (text as it streams, progress of tools, questions)
 * and are not repeated. `CaughtUp` comes once, when everything that was on disk has been sent.
 */
export const WatchItem = Schema.TaggedUnion({
  Entry: { stored: Entry.StoredEntry },
  Live: { event: Event.Event },
  CaughtUp: { seq: Schema.Int }
})
export type WatchItem = typeof WatchItem.Type

/** What a conversation is doing now. */
export const Activity = Schema.Struct({
  threadId: Ids.ThreadId,
  running: Schema.NullOr(Journal.RunningTurn),
  waiting: Schema.Int,
  approvals: Schema.Array(Approvals.ApprovalRequest)
})
export type Activity = typeof Activity.Type

/** `stopped`: the running turn was ended. `idle`: nothing was running, or its answer was already there. */
export const StopOutcome = Schema.Literals(["stopped", "idle"])
export type StopOutcome = typeof StopOutcome.Type

/** The runtime is shutting down, or cannot reach the conversation's owner. What was accepted is safe; ask again. */
export class ConversationUnavailable extends Schema.TaggedError<ConversationUnavailable>()("ConversationUnavailable", {
  threadId: Ids.ThreadId,
  reason: Schema.String
}) {
  override get message() {
    return `The conversation ${this.threadId} cannot be reached now: ${this.reason}`
  }
}

export class Conversations extends Context.Service<
  Conversations,
  {
    /**
     * Writes the message and wakes its conversation. When this succeeds, the message is on disk; when it fails, nothing of it
     * is, and the sender should try again with the same `externalId`. `Overloaded`: the process is short of memory.
     */
    readonly accept: (
      message: Journal.InboundMessage
    ) => Effect.Effect<Journal.Accepted, StorageUnavailable | Overloaded>
    /**
     * Writes the message alone, for one who wants to watch its turn from the very beginning: watch, and `wake` the
     * conversation at `CaughtUp`. Should that not happen, the sweep finds the message.
     */
    readonly acceptQuietly: (
      message: Journal.InboundMessage
    ) => Effect.Effect<Journal.Accepted, StorageUnavailable | Overloaded>
    /** Tells the conversation of a message that was accepted quietly. */
    readonly wake: (message: Omit<Journal.Accepted, "duplicate">) => Effect.Effect<void>
    /** Ends the running turn, and with it the messages that wait for it. */
    readonly stop: (
      threadId: Ids.ThreadId,
      by: string
    ) => Effect.Effect<StopOutcome, Threads.ThreadNotFound | ConversationUnavailable>
    /** Answers a question that a turn of this thread waits for. */
    readonly decide: (
      threadId: Ids.ThreadId,
      answer: Approval.Answer
    ) => Effect.Effect<Approvals.Answered, Approvals.DecideError | Threads.ThreadNotFound | ConversationUnavailable>
    readonly inspect: (
      threadId: Ids.ThreadId
    ) => Effect.Effect<Activity, Threads.ThreadNotFound | ConversationUnavailable>
    /** The log from `from` on (1 is the beginning), then what happens, until the consumer ends it. */
    readonly watch: (
      threadId: Ids.ThreadId,
      options: { readonly from: number }
    ) => Stream.Stream<WatchItem, Threads.ThreadNotFound | ConversationUnavailable>
  }
>()("troupe/conversation/Conversations") {}
