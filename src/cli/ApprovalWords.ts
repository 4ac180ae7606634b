/** Questions, answers and grants in words. */
import * as DateTime from "effect/DateTime"
import type * as Approval from "../approval/Approval.ts"
import type * as Approvals from "../approval/Approvals.ts"
import type * as Grant from "../approval/Grant.ts"
import * as Plain from "./Plain.ts"

export const answer = {
  no: "no",
  once: "yes",
  turn: "yes, in this turn",
  thread: "yes, in this conversation",
  always: "yes, always"
} as const

/** What is sent for an answer. */
export const decisionOf = (
  given: keyof typeof answer
): { readonly decision: Approval.Decision; readonly scope: Approval.Scope } =>
  given === "no" ? { decision: "denied", scope: "once" } : { decision: "approved", scope: given }

export const moreNeeded = "Noted. Another person's yes is needed.\n"
export const revoked = "Taken back.\n"

/** What waits and what was allowed, one below the other. */
export const list = (questions: ReadonlyArray<Approvals.ApprovalRequest>, grants: ReadonlyArray<Grant.Grant>): string =>
  [
    ...(questions.length === 0 ? ["No question waits."] : ["Waiting:", ...questions.flatMap(questionLines)]),
    ...(grants.length === 0 ? ["Nothing is allowed beyond its call."] : ["Allowed:", ...grants.flatMap(grantLines)]),
    ""
  ].join("\n")

const questionLines = (request: Approvals.ApprovalRequest): ReadonlyArray<string> => {
  const { approvalId, approvedBy, approvers, expiresAt, quorum, requester } = request
  const yes = quorum === 1 ? "" : `, ${approvedBy.length} of ${quorum} yeses`
  const asked = requester === null ? "" : `, asked by ${Plain.line(requester)}`
  return [
    `  ${approvalId}  until ${timeOf(expiresAt)}${asked}; ${approvers.map(Plain.line).join(", ")} may answer${yes}`,
    ...effectLines(request)
  ]
}

const grantLines = (grant: Grant.Grant): ReadonlyArray<string> => {
  const { grantId, grantedAt, grantedBy, requester, scope, threadId } = grant
  const where = scope === "always" ? "everywhere" : scope === "thread" ? `in ${threadId}` : "in its turn"
  const forWhom = requester === null ? "" : ` for ${Plain.line(requester)}`
  return [
    `  ${grantId}  ${where}${forWhom}, since ${timeOf(grantedAt)}, by ${grantedBy.map(Plain.line).join(", ")}`,
    ...effectLines(grant)
  ]
}

const effectLines = ({ detail, tool }: { readonly tool: string; readonly detail: string }): ReadonlyArray<string> => [
  `    ${Plain.clipped(tool, 64)}`,
  ...Plain.lines(detail)
    .split("\n")
    .map((line) => `      ${line}`)
]

const timeOf = (at: number): string => DateTime.formatIso(DateTime.makeUnsafe(at)).slice(0, 19).replace("T", " ")
