/**
 * Approvals: a person is asked before a tool runs. Nothing unanswered is permission: time running out, a channel that
 * cannot ask, a lost client, a stop and a restart all deny.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type * as ToolContext from "../tool/ToolContext.ts"

/** A question that waits for an answer. `detail` is redacted and escaped: it can be shown as it is. */
export const ApprovalRequest = Schema.Struct({
  approvalId: Ids.ApprovalId,
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  callId: Ids.CallId,
  tool: Schema.String,
  detail: Schema.String,
  requestedAt: Schema.Int,
  expiresAt: Schema.Int
})
export type ApprovalRequest = typeof ApprovalRequest.Type

/** `nobody-to-ask` is no person's answer: who got the question has nobody to put it to, such as a script. */
export const Decision = Schema.Literals(["approved", "denied", "nobody-to-ask"])
export type Decision = typeof Decision.Type

/**
 * `approved` and `denied` are a person's. `expired`: nobody answered in time. `nobody-to-ask`: the channel cannot ask, or
 * its client has nobody there. `cancelled`: the question was withdrawn, as by a stop.
 */
export const Outcome = Schema.Literals(["approved", "denied", "expired", "nobody-to-ask", "cancelled"])
export type Outcome = typeof Outcome.Type

export class ApprovalNotFound extends Schema.TaggedError<ApprovalNotFound>()("ApprovalNotFound", {
  approvalId: Ids.ApprovalId
}) {
  override get message() {
    return `No question ${this.approvalId} waits for an answer. It was answered, or its time ran out.`
  }
}

export class Approvals extends Context.Service<
  Approvals,
  {
    /** Whether calls of this tool need a person's yes. */
    readonly required: (tool: string) => boolean
    /** Asks and waits. Interrupting the wait withdraws the question. */
    readonly ask: (
      scope: ToolContext.TurnScope,
      call: { readonly callId: Ids.CallId; readonly tool: string; readonly detail: string }
    ) => Effect.Effect<Outcome>
    /** Answers a waiting question, once. */
    readonly decide: (
      approvalId: Ids.ApprovalId,
      decision: Decision,
      approver: string
    ) => Effect.Effect<void, ApprovalNotFound>
    readonly waiting: (threadId: Ids.ThreadId) => Effect.Effect<ReadonlyArray<ApprovalRequest>>
  }
>()("troupe/approval/Approvals") {}
