/**
 * One question whether a call may run, from its asking to its use, as a record and the pure steps between its states.
 *
 * ```
 * waiting ─▶ approved ─▶ used        the call began
 *    │           └─────▶ cancelled   the turn ended, or the yes grew too old
 *    ├─▶ denied, nobody-to-ask       somebody said so
 *    ├─▶ expired                     nobody answered in time
 *    └─▶ cancelled                   the question was withdrawn
 * ```
 *
 * Every other state than `used` means that the call has not begun.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"

export const State = Schema.Literals(["waiting", "approved", "used", "denied", "expired", "nobody-to-ask", "cancelled"])
export type State = typeof State.Type

/**
 * For what else a yes holds: for nothing (`once`), or for all further calls of the same tool with the very same effect, asked by
 * the same person, in the same turn, in the same thread, or everywhere (`always`).
 */
export const Scope = Schema.Literals(["once", "turn", "thread", "always"])
export type Scope = typeof Scope.Type

/** `nobody-to-ask` is no person's answer: who got the question has nobody to put it to, such as a script. */
export const Decision = Schema.Literals(["approved", "denied", "nobody-to-ask"])
export type Decision = typeof Decision.Type

/** What a person said. `via` is the program that brought it. */
export const Vote = Schema.Struct({
  approver: Schema.String,
  via: Schema.String,
  decision: Decision,
  scope: Scope,
  at: Schema.Int
})
export type Vote = typeof Vote.Type

/** Who may answer. People are named by the ids that their channels know them by. */
export const Rule = Schema.Struct({
  approvers: Schema.Array(Schema.String),
  /** Of so many of them a yes is needed; one no is enough. */
  quorum: Schema.Int,
  /** Whether who asked may answer. */
  requesterMayAnswer: Schema.Boolean,
  /** Who may answer besides, from `escalatesAt` on. */
  escalateTo: Schema.Array(Schema.String),
  /** Milliseconds since 1970; null when nobody else is asked. */
  escalatesAt: Schema.NullOr(Schema.Int)
})
export type Rule = typeof Rule.Type

export const Approval = Schema.Struct({
  approvalId: Ids.ApprovalId,
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  callId: Ids.CallId,
  channel: Schema.String,
  chat: Schema.String,
  tool: Schema.String,
  /** SHA-256 over the tool and its parameters in their normal form. */
  effect: Schema.String,
  /** The effect as it was shown. */
  detail: Schema.String,
  /** Whose message the turn answers; null for schedules and tasks. */
  requester: Schema.NullOr(Schema.String),
  rule: Rule,
  /** Comes back with the answer, once. */
  nonce: Schema.String,
  state: State,
  requestedAt: Schema.Int,
  /** From then on nothing counts as an answer, whatever the process did meanwhile. Milliseconds since 1970. */
  expiresAt: Schema.Int,
  votes: Schema.Array(Vote),
  /** When it was answered, or ended without. */
  endedAt: Schema.NullOr(Schema.Int),
  /** The earlier yes that stands in for an answer. */
  grantId: Schema.NullOr(Ids.GrantId)
})
export type Approval = typeof Approval.Type

export interface Answer {
  readonly approvalId: Ids.ApprovalId
  readonly nonce: string
  readonly decision: Decision
  readonly approver: string
  readonly via: string
  readonly scope?: Scope | undefined
}

/** No question with this id was asked in this conversation. */
export class ApprovalNotFound extends Schema.TaggedError<ApprovalNotFound>()("ApprovalNotFound", {
  approvalId: Ids.ApprovalId
}) {
  override get message() {
    return `There is no question ${this.approvalId} in this conversation.`
  }
}

/** The question is over. `by` is absent when no person decided. */
export class ApprovalDecided extends Schema.TaggedError<ApprovalDecided>()("ApprovalDecided", {
  approvalId: Ids.ApprovalId,
  outcome: Schema.Literals(["approved", "denied", "expired", "nobody-to-ask", "cancelled"]),
  by: Schema.Array(Schema.String),
  /** Milliseconds since 1970. */
  at: Schema.Int
}) {
  override get message() {
    const by = this.by.length === 0 ? "" : ` by ${this.by.join(", ")}`
    return `This question is over: ${words[this.outcome]}${by}. The answer changed nothing.`
  }
}

/** The answer does not count, and the question stays open. */
export class ApproverRefused extends Schema.TaggedError<ApproverRefused>()("ApproverRefused", {
  approvalId: Ids.ApprovalId,
  approver: Schema.String,
  reason: Schema.Literals(["not-an-approver", "asked-for-it", "answered-already", "other-question", "no-such-scope"])
}) {
  override get message() {
    return `The answer does not count, and the question stays open: ${refusals[this.reason]}.`
  }
}

const words = {
  approved: "it was approved",
  denied: "it was denied",
  expired: "its time ran out",
  "nobody-to-ask": "nobody could be asked",
  cancelled: "it was withdrawn"
} as const

const refusals = {
  "not-an-approver": "only the people that the settings name for it ([tools.approval]) may answer",
  "asked-for-it": "who asked for it may not answer it themselves",
  "answered-already": "this person has said yes already, and another one is needed",
  "other-question": "its nonce is not the one of this question",
  "no-such-scope": "only a yes can hold for more than one call"
} as const

/** How a question that is over came out. A call that began was approved. */
export type Outcome = ApprovalDecided["outcome"]

export const outcomeOf = (state: Exclude<State, "waiting">): Outcome => (state === "used" ? "approved" : state)

/** The people who may answer now. */
export const approversAt = ({ requester, rule }: Approval, now: number): ReadonlyArray<string> => {
  const all = isEscalated(rule, now) ? [...rule.approvers, ...rule.escalateTo] : rule.approvers
  return [...new Set(all)].filter((person) => rule.requesterMayAnswer || person !== requester)
}

export const isEscalated = ({ escalatesAt }: Rule, now: number): boolean => escalatesAt !== null && now >= escalatesAt

/** Takes an answer in. The result is over, or waits for another person's yes. */
export const answer = (
  approval: Approval,
  given: Answer,
  now: number
): Result.Result<Approval, ApprovalDecided | ApproverRefused> => {
  const { approver, decision, scope = "once", via } = given
  if (approval.state !== "waiting") return Result.fail(decided(approval, approval.state, now))
  if (now >= approval.expiresAt) return Result.fail(decided(approval, "expired", now))
  const reason = refusalOf(approval, given, now)
  if (reason !== undefined) {
    return Result.fail(new ApproverRefused({ approvalId: approval.approvalId, approver, reason }))
  }
  const answered = { ...approval, votes: [...approval.votes, { approver, via, decision, scope, at: now }] }
  return Result.succeed(
    decision !== "approved"
      ? { ...answered, state: decision, endedAt: now }
      : yesOf(answered).length < approval.rule.quorum
        ? answered
        : { ...answered, state: "approved", endedAt: now }
  )
}

const refusalOf = (
  approval: Approval,
  { approver, decision, nonce, scope = "once" }: Answer,
  now: number
): ApproverRefused["reason"] | undefined => {
  if (nonce !== approval.nonce) return "other-question"
  if (!approversAt(approval, now).includes(approver)) {
    return approver === approval.requester && !approval.rule.requesterMayAnswer ? "asked-for-it" : "not-an-approver"
  }
  if (decision !== "approved") return scope === "once" ? undefined : "no-such-scope"
  return yesOf(approval).includes(approver) ? "answered-already" : undefined
}

/** Who has said yes. */
export const yesOf = ({ votes }: Approval): ReadonlyArray<string> =>
  votes.flatMap(({ approver, decision }) => (decision === "approved" ? [approver] : []))

/** What all who said yes agree on. */
export const scopeOf = ({ votes }: Approval): Scope =>
  votes.reduce<Scope>(
    (least, { decision, scope }) =>
      decision === "approved" && Scope.literals.indexOf(scope) < Scope.literals.indexOf(least) ? scope : least,
    votes.length === 0 ? "once" : "always"
  )

/** Ends a question without a person's answer; undefined when it is over already. A yes that was not used can be withdrawn. */
export const end = (
  approval: Approval,
  state: "expired" | "cancelled" | "nobody-to-ask",
  now: number
): Approval | undefined =>
  approval.state === "waiting" || (approval.state === "approved" && state === "cancelled")
    ? { ...approval, state, endedAt: now }
    : undefined

/** How long a yes that could not be used at once is good for: the process may be down for days. */
const unusedYesMillis = 3_600_000

/** Uses a yes, once; undefined when there is none to use. */
export const use = (approval: Approval, now: number): Approval | undefined =>
  approval.state === "approved" && now < (approval.endedAt ?? 0) + unusedYesMillis
    ? { ...approval, state: "used" }
    : undefined

export const decided = (approval: Approval, state: Exclude<State, "waiting">, now: number): ApprovalDecided => {
  const outcome = outcomeOf(state)
  const by =
    outcome === "approved" || outcome === "denied" ? approval.votes.filter((vote) => vote.decision === outcome) : []
  return new ApprovalDecided({
    approvalId: approval.approvalId,
    outcome,
    by: by.map(({ approver }) => approver),
    at: approval.endedAt ?? now
  })
}
