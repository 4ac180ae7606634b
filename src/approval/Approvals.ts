/**
 * Approvals: a person is asked before a tool runs. Nothing unanswered is permission: time running out, a channel that cannot ask or
 * is lost, a client with nobody there and a stop all deny. A question outlives the process until its time is up; a yes lets exactly
 * the call run that was shown, once.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type * as ToolContext from "../tool/ToolContext.ts"
import * as Approval from "./Approval.ts"
import type * as ApprovalStore from "./ApprovalStore.ts"
import type * as Grant from "./Grant.ts"

/** A question that waits for an answer. `detail` is redacted and escaped: it can be shown as it is. */
export const ApprovalRequest = Schema.Struct({
  approvalId: Ids.ApprovalId,
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  callId: Ids.CallId,
  tool: Schema.String,
  detail: Schema.String,
  /** Comes back with the answer. */
  nonce: Schema.String,
  /** Who asked, as their channel knows them; null for schedules and tasks. */
  requester: Schema.NullOr(Schema.String),
  /** Who may answer now. */
  approvers: Schema.Array(Schema.String),
  /** Of how many of them a yes is needed. */
  quorum: Schema.Int,
  approvedBy: Schema.Array(Schema.String),
  requestedAt: Schema.Int,
  expiresAt: Schema.Int
})
export type ApprovalRequest = typeof ApprovalRequest.Type

/**
 * `approved` and `denied` are a person's. `expired`: nobody answered in time. `nobody-to-ask`: the channel cannot ask or is lost, its
 * client has nobody there, or none of those who may answer is known. `cancelled`: the question was withdrawn, as by a stop.
 */
export const Outcome = Schema.Literals(["approved", "denied", "expired", "nobody-to-ask", "cancelled"])
export type Outcome = typeof Outcome.Type

/** What an answer came to: the question is over, or another person's yes is needed. */
export const Answered = Schema.Literals(["decided", "more-needed"])
export type Answered = typeof Answered.Type

export type DecideError = Approval.ApprovalNotFound | Approval.ApprovalDecided | Approval.ApproverRefused

/** A call that needs a yes. */
export interface Call {
  readonly callId: Ids.CallId
  readonly tool: string
  /** The parameters in their normal form: as the tool's schema writes what it has read. */
  readonly parameters: Schema.Json
  readonly detail: string
}

export class Approvals extends Context.Service<
  Approvals,
  {
    /**
     * Asks and waits. A call that was asked about in an earlier life of the process finds its question again. When the outcome is
     * `approved`, it is on disk that the call begins. Interrupting the wait withdraws the question, but see `Leaving`.
     */
    readonly ask: (scope: ToolContext.TurnScope, call: Call) => Effect.Effect<Outcome>
    /** Answers a waiting question of the thread, once. */
    readonly decide: (threadId: Ids.ThreadId, answer: Approval.Answer) => Effect.Effect<Answered, DecideError>
    /** The questions of a thread, or all, oldest first. */
    readonly waiting: (threadId?: Ids.ThreadId) => Effect.Effect<ReadonlyArray<ApprovalRequest>>
    /** How far a call of this or an earlier life of the process came. */
    readonly callState: (callId: Ids.CallId) => Effect.Effect<ApprovalStore.CallState>
    /** Withdraws what is open of a turn: all of it, with what was granted for it, or all but the questions of some calls. */
    readonly withdraw: (turnId: Ids.TurnId, except?: ReadonlyArray<Ids.CallId>) => Effect.Effect<void>
    readonly grants: Effect.Effect<ReadonlyArray<Grant.Grant>>
    readonly revoke: (grantId: Ids.GrantId, by: string) => Effect.Effect<void, Grant.GrantNotFound>
  }
>()("troupe/approval/Approvals") {}

/** A question as people see it. */
export const toRequest = (approval: Approval.Approval, now: number): ApprovalRequest => {
  const { approvalId, callId, detail, expiresAt, nonce, requestedAt, requester, rule, threadId, tool, turnId } =
    approval
  return {
    approvalId,
    threadId,
    turnId,
    callId,
    tool,
    detail,
    nonce,
    requester,
    approvers: Approval.approversAt(approval, now),
    quorum: rule.quorum,
    approvedBy: Approval.yesOf(approval),
    requestedAt,
    expiresAt
  }
}
