/**
 * The typed RPC interface of the daemon: what the console, the web page and client programs use. Served over HTTP and
 * WebSocket; every call carries a bearer token.
 */
import * as Schema from "effect/Schema"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as RpcMiddleware from "effect/rpc/RpcMiddleware"
import * as Context from "effect/Context"
import * as Approval from "../approval/Approval.ts"
import * as Approvals from "../approval/Approvals.ts"
import * as Grant from "../approval/Grant.ts"
import { AttachmentRefused } from "../attachment/Attachment.ts"
import { ChannelNotFound } from "../channel/Channels.ts"
import * as Conversations from "../conversation/Conversations.ts"
import { Overloaded } from "../conversation/Overloaded.ts"
import * as Held from "../conversation/Held.ts"
import * as Ids from "../Ids.ts"
import * as SideEffect from "../ledger/SideEffect.ts"
import * as Undo from "../ledger/Undo.ts"
import * as Entry from "../thread/Entry.ts"
import { StorageUnavailable } from "../storage/StorageError.ts"
import { Failing } from "../storage/StorageHealth.ts"
import * as Inbound from "../thread/Inbound.ts"
import * as Threads from "../thread/Threads.ts"

/** Who is calling. There is one owner; `name` tells apart the programs that act for them. */
export class Caller extends Context.Service<Caller, { readonly name: string }>()("troupe/rpc/Caller") {}

export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", { reason: Schema.String }) {
  override get message() {
    return `Not allowed: ${this.reason}`
  }
}

/** The payload is not what the call expects. `problem` names the field and what may stand there. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", { problem: Schema.String }) {
  override get message() {
    return `The request cannot be understood: ${this.problem}`
  }
}

/** Something broke inside the daemon. What it was is in its log, under this reference, and nowhere else. */
export class InternalError extends Schema.TaggedError<InternalError>()("InternalError", { reference: Schema.String }) {
  override get message() {
    return `The daemon failed to answer. Its log says why, under reference ${this.reference}.`
  }
}

/** What any call can fail with, whatever it does. */
export const EdgeError = Schema.Union([Unauthorized, InvalidRequest, InternalError, StorageUnavailable])
export type EdgeError = typeof EdgeError.Type

export class Authentication extends RpcMiddleware.Service<Authentication, { provides: Caller }>()(
  "troupe/rpc/Authentication",
  { error: EdgeError, requiredForClient: true }
) {}

/** A thread by its id, or by the key that its channel gave it. */
export const ThreadRef = Schema.Union([Ids.ThreadId, Threads.ThreadKey])
export type ThreadRef = typeof ThreadRef.Type

/** Health as progress: how long the oldest unserved message has been waiting, not whether a process exists. */
export const Status = Schema.Struct({
  version: Schema.String,
  pid: Schema.Int,
  incarnation: Ids.IncarnationId,
  startedAt: Schema.Int,
  uptimeMillis: Schema.Int,
  configSource: Schema.String,
  dataDirectory: Schema.String,
  url: Schema.String,
  provider: Schema.String,
  model: Schema.String,
  threads: Schema.Int,
  activeConversations: Schema.Int,
  runningTurns: Schema.Int,
  /** Questions that wait for a person's answer. */
  waitingApprovals: Schema.Int,
  /** Milliseconds; null when nothing waits. */
  oldestOwedMillis: Schema.NullOr(Schema.Int),
  undelivered: Schema.Array(Schema.Struct({ channel: Schema.String, count: Schema.Int })),
  memoryBytes: Schema.Int,
  /** Why the store cannot be written, and since when; null when it can. */
  storageFailing: Schema.NullOr(Failing),
  /** What a restored copy holds back: see `Held`. */
  held: Held.HeldCount
})
export type Status = typeof Status.Type

/** A tool as people see it. */
export const ToolSummary = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  timeout: Schema.String,
  cancellation: Schema.Literals(["interruptible", "atomic"]),
  replay: Schema.Literals(["safe", "idempotent", "unknown"]),
  capabilities: Schema.Array(Schema.String),
  needsApproval: Schema.Boolean,
  /** The setting that keeps it from the main agent, such as `[tools.wait].enabled`; null when none does. */
  keptOffBy: Schema.NullOr(Schema.String)
})
export type ToolSummary = typeof ToolSummary.Type

/** Everything that is known of a tool, on or off. */
export const ToolDefinition = Schema.Struct({
  ...ToolSummary.fields,
  /** JSON Schema of what it takes, as models are shown it. */
  parameters: Schema.Json,
  /** JSON Schema of what it gives. */
  result: Schema.Json,
  /** Code → meaning of its own failures; null for a tool that is not built in. */
  failures: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  limits: Schema.Struct({
    timeout: Schema.String,
    /** What of an output is shown inline. */
    maxChars: Schema.Int,
    /** The field of the result that moves to a file when it is longer; null for the whole result. */
    spill: Schema.NullOr(Schema.String),
    /** Calls at the same time in the whole process; null for any number. */
    concurrency: Schema.NullOr(Schema.Int),
    /** Calls in one turn; null for any number. */
    perTurn: Schema.NullOr(Schema.Int)
  }),
  /** The setting that turns it on and off, such as `[tools.wait].enabled`; null for one that is always on, or not built in. */
  enabledBy: Schema.NullOr(Schema.String)
})
export type ToolDefinition = typeof ToolDefinition.Type

/** What `Send` takes. */
const message = {
  thread: Threads.ThreadKey,
  text: Inbound.MessageText,
  externalId: Schema.optionalKey(Inbound.ExternalId),
  sender: Schema.optionalKey(Inbound.Sender),
  delivery: Schema.optionalKey(Entry.Delivery),
  attachments: Schema.optionalKey(Inbound.Attachments)
}

/** Where an accepted message is. `seq` is that of its entry in the thread. */
const accepted = {
  threadId: Ids.ThreadId,
  messageId: Ids.MessageId,
  seq: Schema.Int,
  duplicate: Schema.Boolean
}

/** That a message is on disk. */
const Accepted = Schema.TaggedStruct("Accepted", accepted)
export type Accepted = typeof Accepted.Type

/** What the sender of a message sees who stays: first that it is on disk, then the thread from it on. */
export const SentItem = Schema.Union([Accepted, Conversations.WatchItem])
export type SentItem = typeof SentItem.Type

/** A place in the log of a thread; 1 is the beginning. */
export const Seq = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** How many of a list one call may ask for. */
export const PageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))

export class TroupeRpcs extends RpcGroup.make(
  Rpc.make("Status", { success: Status }),
  /** Accepts a message, with what is attached to it. Success means that it is on disk. The same `externalId` is accepted once. */
  Rpc.make("Send", {
    payload: message,
    success: Schema.Struct(accepted),
    error: Schema.Union([StorageUnavailable, Overloaded, ChannelNotFound, AttachmentRefused])
  }),
  /**
   * `Send` and `Watch` in one: `Accepted` when the message is on disk, then the thread from the message on. Its turn begins
   * only when the stream listens, so that not the first event of it is missed.
   */
  Rpc.make("SendAndWatch", {
    payload: message,
    success: SentItem,
    error: Schema.Union([
      StorageUnavailable,
      Overloaded,
      ChannelNotFound,
      AttachmentRefused,
      Threads.ThreadNotFound,
      Conversations.ConversationUnavailable
    ]),
    stream: true
  }),
  Rpc.make("MessageState", {
    payload: { messageId: Ids.MessageId },
    success: Threads.MessageReceipt,
    error: Threads.MessageNotFound
  }),
  /** The log of a thread from `from` on, then what happens in it. */
  Rpc.make("Watch", {
    payload: { thread: ThreadRef, from: Seq },
    success: Conversations.WatchItem,
    error: Schema.Union([Threads.ThreadNotFound, Conversations.ConversationUnavailable]),
    stream: true
  }),
  Rpc.make("Stop", {
    payload: { thread: ThreadRef },
    success: Conversations.StopOutcome,
    error: Schema.Union([Threads.ThreadNotFound, Conversations.ConversationUnavailable])
  }),
  /** Answers a question, once. `approver` is whose answer it is, the owner's when left out. */
  Rpc.make("Decide", {
    payload: {
      thread: ThreadRef,
      approvalId: Ids.ApprovalId,
      nonce: Inbound.Name,
      decision: Approval.Decision,
      approver: Schema.optionalKey(Inbound.Name),
      scope: Schema.optionalKey(Approval.Scope)
    },
    success: Approvals.Answered,
    error: Schema.Union([
      Approval.ApprovalNotFound,
      Approval.ApprovalDecided,
      Approval.ApproverRefused,
      Threads.ThreadNotFound,
      Conversations.ConversationUnavailable
    ])
  }),
  /** The questions that wait for an answer, in all threads, oldest first; at most 1000. */
  Rpc.make("Approvals", { success: Schema.Array(Approvals.ApprovalRequest) }),
  /** What was allowed for more than one call, newest first; at most 1000. */
  Rpc.make("Grants", { success: Schema.Array(Grant.Grant) }),
  Rpc.make("RevokeGrant", { payload: { grantId: Ids.GrantId }, error: Grant.GrantNotFound }),
  Rpc.make("Inspect", {
    payload: { thread: ThreadRef },
    success: Conversations.Activity,
    error: Schema.Union([Threads.ThreadNotFound, Conversations.ConversationUnavailable])
  }),
  Rpc.make("Threads", {
    payload: { limit: PageLimit, before: Schema.optionalKey(Threads.ThreadCursor) },
    success: Schema.Struct({ threads: Schema.Array(Threads.Thread), next: Schema.NullOr(Threads.ThreadCursor) })
  }),
  Rpc.make("Thread", { payload: { thread: ThreadRef }, success: Threads.Thread, error: Threads.ThreadNotFound }),
  /**
   * A page of entries with `seq >= from`, or of the last `limit` ones when `from` is absent. A page holds fewer than
   * `limit` when they are large, but at least one; `next` is the `from` of the next one, null at the end of the log.
   */
  Rpc.make("History", {
    payload: { thread: ThreadRef, from: Schema.optionalKey(Seq), limit: PageLimit },
    success: Schema.Struct({ entries: Schema.Array(Entry.StoredEntry), next: Schema.NullOr(Schema.Int) }),
    error: Threads.ThreadNotFound
  }),
  /** What a restored copy holds back until it is released. */
  Rpc.make("Held", { success: Held.HeldItems }),
  Rpc.make("Release", { payload: { how: Held.Release }, success: Held.HeldCount, error: StorageUnavailable }),
  /** What a turn changed outside of its thread, oldest first: at most the newest `limit` of it. */
  Rpc.make("SideEffects", {
    payload: { thread: ThreadRef, turnId: Ids.TurnId, limit: PageLimit },
    success: Schema.Array(SideEffect.SideEffect),
    error: Threads.ThreadNotFound
  }),
  /**
   * Puts the files that a turn changed back to what they were, the newest turn that changed some when none is named. What
   * was changed since is left alone.
   */
  Rpc.make("Undo", {
    payload: {
      thread: ThreadRef,
      turnId: Schema.optionalKey(Ids.TurnId),
      dryRun: Schema.optionalKey(Schema.Boolean)
    },
    success: Undo.UndoReport,
    error: Schema.Union([Threads.ThreadNotFound, Undo.NothingToUndo, Undo.TurnStillRuns, StorageUnavailable])
  }),
  Rpc.make("Tools", { success: Schema.Array(ToolSummary) }),
  /** The same tools with everything that is known of them. */
  Rpc.make("ToolDefinitions", { success: Schema.Array(ToolDefinition) }),
  /** The effective configuration as TOML, secrets masked. */
  Rpc.make("ShowConfig", { success: Schema.String })
).middleware(Authentication) {}
