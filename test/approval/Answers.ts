import type * as Approval from "../../src/approval/Approval.ts"
import type * as Approvals from "../../src/approval/Approvals.ts"

/** The answer of a person, the owner's when nobody is named, to a question as it came. */
export const answerTo = (
  { approvalId, nonce }: Pick<Approvals.ApprovalRequest, "approvalId" | "nonce">,
  decision: Approval.Decision,
  more: { readonly approver?: string; readonly scope?: Approval.Scope; readonly nonce?: string } = {}
): Approval.Answer => ({ approvalId, nonce, decision, approver: "primary", via: "test", ...more })
