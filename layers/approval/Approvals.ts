/**
 * Approvals in memory: a question lives as long as the call that asked it, so a restart forgets, and thereby denies, all.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Approvals from "../../src/approval/Approvals.ts"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import { Channels } from "../../src/channel/Channels.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as ToolPattern from "../../src/config/ToolPattern.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"

interface Waiting {
  readonly request: Approvals.ApprovalRequest
  readonly outcome: Deferred.Deferred<Approvals.Outcome>
}

export const layer: Layer.Layer<Approvals.Approvals, never, Settings | EventBus | Channels> = Layer.effect(
  Approvals.Approvals,
  Effect.gen(function* () {
    const { require_approval: patterns, timeout_seconds: timeout } = (yield* Settings).tools.approval
    const bus = yield* EventBus
    const channels = yield* Channels
    const required = ToolPattern.compile(patterns)
    const questions = new Map<Ids.ApprovalId, Waiting>()

    const publish = (request: Approvals.ApprovalRequest, outcome: Approvals.Outcome, approver?: string) =>
      bus.publish({
        _tag: "ApprovalResolved",
        approvalId: request.approvalId,
        threadId: request.threadId,
        outcome,
        ...(approver === undefined ? {} : { approver })
      })

    /** Ends a question. Only the first who tries does, so that there is one outcome and one event, whoever comes late. */
    const settle = (request: Approvals.ApprovalRequest, outcome: Approvals.Outcome, approver?: string) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const waiting = questions.get(request.approvalId)
          if (waiting === undefined) return false
          questions.delete(request.approvalId)
          yield* publish(request, outcome, approver)
          yield* Deferred.succeed(waiting.outcome, outcome)
          return true
        })
      )

    const open = Effect.fnUntraced(function* (scope: ToolContext.TurnScope, request: Approvals.ApprovalRequest) {
      const outcome = yield* Deferred.make<Approvals.Outcome>()
      questions.set(request.approvalId, { request, outcome })
      yield* bus.publish({ _tag: "ApprovalRequested", request, channel: scope.channel, chat: scope.chat })
      return { request, outcome }
    })

    const answer = ({ outcome, request }: Waiting) =>
      Effect.timeoutOrElse(Deferred.await(outcome), {
        duration: timeout,
        // An answer that came in the same moment was first if the question is gone already.
        orElse: () => Effect.andThen(settle(request, "expired"), Deferred.await(outcome))
      })

    const ask = Effect.fn("Approvals.ask")(function* (
      scope: ToolContext.TurnScope,
      call: { readonly callId: Ids.CallId; readonly tool: string; readonly detail: string }
    ) {
      const requestedAt = yield* Clock.currentTimeMillis
      const request: Approvals.ApprovalRequest = {
        approvalId: yield* Ids.makeApprovalId,
        threadId: scope.threadId,
        turnId: scope.turnId,
        callId: call.callId,
        tool: call.tool,
        detail: call.detail,
        requestedAt,
        expiresAt: requestedAt + Math.ceil(Duration.toMillis(timeout))
      }
      const channel = yield* channels.find(scope.channel)
      if (channel?.capabilities.approval !== true) {
        yield* Effect.logWarning("A tool needs a person's yes, and the channel cannot ask; the call is denied").pipe(
          Effect.annotateLogs({ tool: call.tool, channel: scope.channel })
        )
        yield* publish(request, "nobody-to-ask")
        return "nobody-to-ask" as const
      }
      const person = yield* PersonWait
      return yield* person.during(
        Effect.acquireUseRelease(open(scope, request), answer, () => settle(request, "cancelled"))
      )
    })

    const decide = Effect.fn("Approvals.decide")(function* (
      approvalId: Ids.ApprovalId,
      decision: Approvals.Decision,
      approver: string
    ) {
      const waiting = questions.get(approvalId)
      const person = decision === "nobody-to-ask" ? undefined : approver
      const first = waiting !== undefined && (yield* settle(waiting.request, decision, person))
      if (!first) return yield* new Approvals.ApprovalNotFound({ approvalId })
    })

    return Approvals.Approvals.of({
      required,
      ask,
      decide,
      waiting: (threadId) =>
        Effect.sync(() =>
          Array.from(questions.values(), (waiting) => waiting.request).filter(
            (request) => request.threadId === threadId
          )
        )
    })
  })
)
