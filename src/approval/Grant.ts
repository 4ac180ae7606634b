/**
 * A yes that holds for more than one call. It covers what the person saw and nothing else: the same tool with the very same effect,
 * asked by the same person. It is listed, and can be taken back at any time.
 */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Approval from "./Approval.ts"

export const Grant = Schema.Struct({
  grantId: Ids.GrantId,
  scope: Schema.Literals(["turn", "thread", "always"]),
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  tool: Schema.String,
  /** SHA-256 over the tool and its parameters in their normal form. */
  effect: Schema.String,
  /** The effect as it was shown. */
  detail: Schema.String,
  requester: Schema.NullOr(Schema.String),
  /** Who said yes. */
  grantedBy: Schema.Array(Schema.String),
  approvalId: Ids.ApprovalId,
  grantedAt: Schema.Int
})
export type Grant = typeof Grant.Type

export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", { grantId: Ids.GrantId }) {
  override get message() {
    return `There is no grant ${this.grantId}. It was taken back, or its turn is over.`
  }
}

/** What an answered question grants besides its own call; undefined for nothing. */
export const of = (approval: Approval.Approval, grantId: Ids.GrantId): Grant | undefined => {
  const scope = approval.state === "approved" ? Approval.scopeOf(approval) : "once"
  if (scope === "once") return undefined
  const { approvalId, detail, effect, endedAt, requestedAt, requester, threadId, tool, turnId } = approval
  const grantedBy = Approval.yesOf(approval)
  const grantedAt = endedAt ?? requestedAt
  return { grantId, scope, threadId, turnId, tool, effect, detail, requester, grantedBy, approvalId, grantedAt }
}

/** Whether it answers this question: it must be as good as an answer of the people who may give one now. */
export const covers = (grant: Grant, approval: Approval.Approval): boolean => {
  const may = Approval.approversAt(approval, approval.requestedAt)
  return (
    grant.tool === approval.tool &&
    grant.effect === approval.effect &&
    grant.requester === approval.requester &&
    (grant.scope === "always" || grant.threadId === approval.threadId) &&
    (grant.scope !== "turn" || grant.turnId === approval.turnId) &&
    grant.grantedBy.filter((person) => may.includes(person)).length >= approval.rule.quorum
  )
}
