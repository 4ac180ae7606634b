/**
 * The actor of one thread as the cluster knows it. All of its messages are volatile: what is owed stands in tables, and a
 * lost message costs time, never work.
 */
import * as Entity from "effect/cluster/Entity"
import * as Schema from "effect/Schema"
import * as Rpc from "effect/rpc/Rpc"
import * as Approval from "../approval/Approval.ts"
import * as Approvals from "../approval/Approvals.ts"
import * as Event from "../event/Event.ts"
import * as Ids from "../Ids.ts"
import * as Conversations from "./Conversations.ts"

/** What the owner of a thread tells its watchers. `Listening` comes first: from then on no event is missed. */
export const Signal = Schema.TaggedUnion({ Listening: {}, Happened: { event: Event.Event } })
export type Signal = typeof Signal.Type

export const ConversationEntity = Entity.make("Conversation", [
  /** Something may be owed. Answered when nothing is any more. */
  Rpc.make("Wake", {
    payload: { accepted: Schema.NullOr(Schema.Struct({ messageId: Ids.MessageId, seq: Schema.Int })) }
  }),
  Rpc.make("Stop", { payload: { by: Schema.String }, success: Conversations.StopOutcome }),
  Rpc.make("Decide", {
    payload: {
      approvalId: Ids.ApprovalId,
      nonce: Schema.String,
      decision: Approval.Decision,
      approver: Schema.String,
      via: Schema.String,
      scope: Schema.optional(Approval.Scope)
    },
    success: Approvals.Answered,
    error: Schema.Union([Approval.ApprovalNotFound, Approval.ApprovalDecided, Approval.ApproverRefused])
  }),
  Rpc.make("Inspect", { success: Conversations.Activity }),
  Rpc.make("Watch", { success: Signal, stream: true })
])
