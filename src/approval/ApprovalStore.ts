/** Where questions and grants are kept. Every change of a question is one step from the state that it was read in. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Ids from "../Ids.ts"
import type * as Approval from "./Approval.ts"
import * as Grant from "./Grant.ts"

/** How far a call came: it was never asked about, its question keeps it from running, or it began. */
export type CallState = "unasked" | "held" | "begun"

/** More than these are not listed. */
export const mostListed = 1000

export class ApprovalStore extends Context.Service<
  ApprovalStore,
  {
    readonly insert: (approval: Approval.Approval) => Effect.Effect<void>
    readonly find: (id: Ids.ApprovalId) => Effect.Effect<Approval.Approval | undefined>
    /** The last one about a call with this effect. */
    readonly ofCall: (callId: Ids.CallId, effect: string) => Effect.Effect<Approval.Approval | undefined>
    readonly callState: (callId: Ids.CallId) => Effect.Effect<CallState>
    /**
     * Reads a question, and writes what `step` makes of it, undefined for nothing, unless it changed meanwhile: then both are done
     * again. `grant` is kept with it in the same write.
     */
    readonly change: <E>(
      id: Ids.ApprovalId,
      step: (approval: Approval.Approval) => Result.Result<Approval.Approval | undefined, E>,
      grant?: (approval: Approval.Approval) => Grant.Grant | undefined
    ) => Effect.Effect<Approval.Approval | undefined, E>
    /** Questions without an answer, oldest first: of a thread, or of all. */
    readonly waiting: (threadId?: Ids.ThreadId) => Effect.Effect<ReadonlyArray<Approval.Approval>>
    /** Those of a turn that wait, or whose yes was not used. */
    readonly open: (turnId: Ids.TurnId) => Effect.Effect<ReadonlyArray<Approval.Approval>>
    /** Writes a question that a grant answers, unless the grant is gone. False when it is. */
    readonly insertGranted: (approval: Approval.Approval) => Effect.Effect<boolean>
    /** Newest first: all, or those for one effect. */
    readonly grants: (effect?: string) => Effect.Effect<ReadonlyArray<Grant.Grant>>
    readonly revoke: (id: Ids.GrantId) => Effect.Effect<void, Grant.GrantNotFound>
    /** Takes back what was granted for a turn. */
    readonly endTurn: (turnId: Ids.TurnId) => Effect.Effect<void>
  }
>()("troupe/approval/ApprovalStore") {
  /** In memory, for tests: a restart forgets, and thereby denies, everything. */
  static readonly layerMemory: Layer.Layer<ApprovalStore> = Layer.sync(ApprovalStore, () => {
    const approvals = new Map<Ids.ApprovalId, Approval.Approval>()
    const grants = new Map<Ids.GrantId, Grant.Grant>()
    const where = (wanted: (approval: Approval.Approval) => boolean) =>
      Effect.sync(() => [...approvals.values()].filter(wanted).slice(0, mostListed))
    const put = (approval: Approval.Approval) => approvals.set(approval.approvalId, approval)

    return ApprovalStore.of({
      insert: (approval) => Effect.sync(() => put(approval)),
      find: (id) => Effect.sync(() => approvals.get(id)),
      ofCall: (callId, effect) =>
        Effect.map(
          where((approval) => approval.callId === callId && approval.effect === effect),
          (found) => found.at(-1)
        ),
      callState: (callId) =>
        Effect.map(
          where((approval) => approval.callId === callId),
          (found) => (found.length === 0 ? "unasked" : found.some(({ state }) => state === "used") ? "begun" : "held")
        ),
      change: (id, step, grant) =>
        Effect.suspend(() => {
          const before = approvals.get(id)
          if (before === undefined) return Effect.undefined
          return Effect.map(Effect.fromResult(step(before)), (after) => {
            if (after === undefined) return undefined
            put(after)
            const granted = grant?.(after)
            if (granted !== undefined) grants.set(granted.grantId, granted)
            return after
          })
        }),
      waiting: (threadId) =>
        where((approval) => approval.state === "waiting" && (threadId ?? approval.threadId) === approval.threadId),
      open: (turnId) =>
        where(({ state, turnId: of }) => of === turnId && (state === "waiting" || state === "approved")),
      insertGranted: (approval) =>
        Effect.sync(() => {
          const stands = approval.grantId !== null && grants.has(approval.grantId)
          if (stands) put(approval)
          return stands
        }),
      grants: (effect) =>
        Effect.sync(() =>
          [...grants.values()].filter((grant) => (effect ?? grant.effect) === grant.effect).toReversed()
        ),
      revoke: (grantId) =>
        Effect.suspend(() =>
          grants.delete(grantId) ? Effect.void : Effect.fail(new Grant.GrantNotFound({ grantId }))
        ),
      endTurn: (turnId) =>
        Effect.sync(() => {
          for (const grant of grants.values()) {
            if (grant.scope === "turn" && grant.turnId === turnId) grants.delete(grant.grantId)
          }
        })
    })
  })
}
