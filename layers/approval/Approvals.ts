/** Approvals over a store: who asks waits here, and whoever answers changes the store first and wakes them then. */
import * as Clock from "effect/Clock"
import * as Base64Url from "effect/encoding/Base64Url"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Approval from "../../src/approval/Approval.ts"
import * as ApprovalMetrics from "../../src/approval/ApprovalMetrics.ts"
import * as Approvals from "../../src/approval/Approvals.ts"
import { ApprovalStore } from "../../src/approval/ApprovalStore.ts"
import * as Grant from "../../src/approval/Grant.ts"
import { Leaving } from "../../src/approval/Leaving.ts"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import { Channels } from "../../src/channel/Channels.ts"
import { Settings } from "../../src/config/Settings.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import * as NormalForm from "../../src/tool/NormalForm.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as Fingerprint from "../Fingerprint.ts"
import * as ApprovalRules from "./ApprovalRules.ts"

/** How often who waits looks at the clock and the channel, in milliseconds. */
const lookMillis = 1000
/** How long a channel may be away, in milliseconds: one that is set up anew comes back. */
const lostMillis = 10_000
/** How often questions are ended whose turn nobody serves, such as that of a process that died. */
const sweepInterval = "30 seconds"
const nonceBytes = 16

const make = Effect.gen(function* () {
  const { tools } = yield* Settings
  const rules = ApprovalRules.compile(tools.approval)
  const bus = yield* EventBus
  const channels = yield* Channels
  const store = yield* ApprovalStore
  const random = yield* SecureRandom.SecureRandom
  /** Closed while no question waits: nothing is looked for then. */
  const asked = Latch.makeUnsafe(true)
  /** Turns that have asked, or may have in an earlier life: most never do, and cost nothing at their end. */
  const askers = new Set<Ids.TurnId>()
  const waiters = new Map<Ids.ApprovalId, Deferred.Deferred<void>>()

  const wake = (approvalId: Ids.ApprovalId) => {
    const waiter = waiters.get(approvalId)
    return waiter === undefined ? Effect.void : Deferred.succeed(waiter, undefined)
  }

  const announce = Effect.fnUntraced(function* (approval: Approval.Approval) {
    const request = Approvals.toRequest(approval, yield* Clock.currentTimeMillis)
    yield* bus.publish({ _tag: "ApprovalRequested", request, channel: approval.channel, chat: approval.chat })
  })

  /** Tells that a question is over, and wakes who waits for it. */
  const conclude = Effect.fnUntraced(function* (approval: Approval.Approval, outcome: Approval.Outcome) {
    const { approvalId, endedAt, requestedAt, threadId } = approval
    const by = outcome === "approved" || outcome === "denied" ? approval.votes.at(-1) : undefined
    yield* Metric.modify(ApprovalMetrics.waiting, -1)
    yield* ApprovalMetrics.over(outcome, (endedAt ?? requestedAt) - requestedAt)
    yield* bus.publish({
      _tag: "ApprovalResolved",
      approvalId,
      threadId,
      outcome,
      ...(by === undefined ? {} : { approver: by.approver, via: by.via })
    })
    yield* wake(approvalId)
  })

  /** Ends a question without an answer, unless it is over. */
  const settle = (approvalId: Ids.ApprovalId, state: "expired" | "cancelled" | "nobody-to-ask") =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        let waited = false
        const ended = yield* store.change(approvalId, (approval) => {
          waited = approval.state === "waiting"
          return Result.succeed(Approval.end(approval, state, now))
        })
        if (ended === undefined) return
        yield* waited ? conclude(ended, state) : wake(approvalId)
      })
    )

  /** The question as it would be asked now. */
  const questionOf = Effect.fnUntraced(function* (scope: ToolContext.TurnScope, call: Approvals.Call) {
    const now = yield* Clock.currentTimeMillis
    const { rule, timeoutMillis } = rules.of(call.tool, scope, now)
    const { callId, detail, parameters, tool } = call
    const { channel, chat, senderId, threadId, turnId } = scope
    return {
      approvalId: yield* Ids.makeApprovalId,
      threadId,
      turnId,
      callId,
      channel,
      chat,
      tool,
      effect: Fingerprint.of(tool, NormalForm.text(parameters)),
      detail,
      requester: senderId ?? null,
      rule,
      nonce: Base64Url.encode(yield* Effect.orDie(random.randomBytes(nonceBytes))),
      state: "waiting",
      requestedAt: now,
      expiresAt: now + timeoutMillis,
      votes: [],
      endedAt: null,
      grantId: null
    } satisfies Approval.Approval
  })

  /** Answers a question by an earlier yes that covers it, and that nobody has taken back in this moment. */
  const byGrant = Effect.fnUntraced(function* (question: Approval.Approval) {
    for (const grant of yield* store.grants(question.effect)) {
      if (!Grant.covers(grant, question)) continue
      const { grantId } = grant
      const used = { ...question, state: "used", endedAt: question.requestedAt, grantId } as const
      if (!(yield* store.insertGranted(used))) continue
      yield* ApprovalMetrics.over("granted")
      return true
    }
    return false
  })

  /** Why nobody can be asked; undefined when somebody can. */
  const hindrance = Effect.fnUntraced(function* (question: Approval.Approval) {
    const channel = yield* channels.find(question.channel)
    if (channel?.capabilities.approval !== true) return "the channel cannot ask"
    const { escalatesAt } = question.rule
    const people = Approval.approversAt(question, Math.max(question.requestedAt, escalatesAt ?? 0))
    return people.length < question.rule.quorum ? "fewer people are known who may answer than must" : undefined
  })

  const refuse = Effect.fnUntraced(function* (question: Approval.Approval, why: string) {
    const over = { ...question, state: "nobody-to-ask", endedAt: question.requestedAt } as const
    yield* Effect.logWarning(`A tool needs a person's yes, and ${why}; the call is denied`).pipe(
      Effect.annotateLogs({ tool: question.tool, channel: question.channel })
    )
    yield* store.insert(over)
    yield* Metric.modify(ApprovalMetrics.waiting, 1)
    yield* conclude(over, "nobody-to-ask")
    return "nobody-to-ask" as const
  })

  /** Puts the question to the people of a channel that is written to. One that cannot be sent is denied. */
  const send = Effect.fnUntraced(function* (question: Approval.Approval) {
    const channel = yield* channels.find(question.channel)
    if (channel?.ask === undefined) return
    const request = Approvals.toRequest(question, yield* Clock.currentTimeMillis)
    yield* channel
      .ask(request, question.chat)
      .pipe(
        Effect.catchCause((cause) =>
          Effect.logWarning("A question could not be sent; the call is denied", cause).pipe(
            Effect.annotateLogs({ tool: question.tool, channel: question.channel }),
            Effect.andThen(settle(question.approvalId, "nobody-to-ask"))
          )
        )
      )
  })

  /**
   * Until the question is over. Its time is that of the day, so that it goes on while the process is down or the machine sleeps; a
   * clock that is set back makes it no longer.
   */
  const untilOver = Effect.fnUntraced(function* (question: Approval.Approval, over: Deferred.Deferred<void>) {
    const { approvalId, expiresAt, rule } = question
    const until = (yield* Monotonic.millis) + (expiresAt - (yield* Clock.currentTimeMillis))
    let lostAt: number | undefined
    let told = Approval.isEscalated(rule, question.requestedAt)
    while (!(yield* Deferred.isDone(over))) {
      const now = yield* Clock.currentTimeMillis
      const passed = yield* Monotonic.millis
      const left = Math.min(expiresAt - now, until - passed)
      if (left <= 0) return yield* settle(approvalId, "expired")
      const channel = yield* channels.find(question.channel)
      lostAt = channel?.capabilities.approval === true ? undefined : (lostAt ?? passed)
      if (lostAt !== undefined && passed - lostAt >= lostMillis) {
        yield* Effect.logWarning("The channel of a question is gone; the call is denied").pipe(
          Effect.annotateLogs({ tool: question.tool, channel: question.channel })
        )
        return yield* settle(approvalId, "nobody-to-ask")
      }
      if (!told && Approval.isEscalated(rule, now)) {
        told = true
        yield* announce(question)
        yield* Effect.forkChild(send(question))
      }
      const escalates = told || rule.escalatesAt === null ? lookMillis : rule.escalatesAt - now
      yield* Effect.timeoutOption(Deferred.await(over), Math.ceil(Math.max(1, Math.min(lookMillis, left, escalates))))
    }
  })

  const wait = (question: Approval.Approval) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const over = waiters.get(question.approvalId) ?? Deferred.makeUnsafe<void>()
        waiters.set(question.approvalId, over)
        return over
      }),
      (over) =>
        Effect.raceFirst(
          Effect.andThen(announce(question), untilOver(question, over)),
          Effect.andThen(send(question), Effect.never)
        ),
      () => Effect.sync(() => waiters.delete(question.approvalId))
    )

  /** What came of a question that is over. A yes is used by that, so that nothing else ever runs on it. */
  const take = Effect.fnUntraced(function* ({ approvalId }: Approval.Approval): Effect.fn.Return<Approval.Outcome> {
    const now = yield* Clock.currentTimeMillis
    const used = yield* store.change(approvalId, (approval) => Result.succeed(Approval.use(approval, now)))
    if (used !== undefined) return "approved"
    const state = (yield* store.find(approvalId))?.state
    if (state === "denied" || state === "expired" || state === "nobody-to-ask") return state
    yield* settle(approvalId, "cancelled")
    return state === "approved" ? "expired" : "cancelled"
  }, Effect.uninterruptible)

  const awaitAnswer = Effect.fnUntraced(function* (question: Approval.Approval) {
    const person = yield* PersonWait
    const leaving = yield* Leaving
    yield* person
      .during(wait(question))
      .pipe(
        Effect.onInterrupt(() =>
          Effect.flatMap(leaving, (left) => (left ? Effect.void : settle(question.approvalId, "cancelled")))
        )
      )
    return yield* take(question)
  })

  const ask = Effect.fn("Approvals.ask")(function* (
    scope: ToolContext.TurnScope,
    call: Approvals.Call
  ): Effect.fn.Return<Approval.Outcome> {
    askers.add(scope.turnId)
    const question = yield* questionOf(scope, call)
    const known = yield* store.ofCall(call.callId, question.effect)
    if (known?.state === "waiting") return yield* awaitAnswer(known)
    if (known !== undefined && known.state !== "used") {
      const outcome = yield* take(known)
      // A yes that nobody could use for so long says nothing of today.
      if (known.state !== "approved" || outcome === "approved") return outcome
    }
    if (yield* byGrant(question)) return "approved"
    const why = yield* hindrance(question)
    if (why !== undefined) return yield* refuse(question, why)
    yield* Effect.uninterruptible(
      Effect.andThen(store.insert(question), Effect.andThen(asked.open, Metric.modify(ApprovalMetrics.waiting, 1)))
    )
    return yield* awaitAnswer(question)
  })

  const decide = Effect.fn("Approvals.decide")(function* (threadId: Ids.ThreadId, given: Approval.Answer) {
    const { approvalId } = given
    const now = yield* Clock.currentTimeMillis
    const grantId = yield* Ids.makeGrantId
    if ((yield* store.find(approvalId))?.threadId !== threadId) {
      return yield* new Approval.ApprovalNotFound({ approvalId })
    }
    const answered = yield* store
      .change(
        approvalId,
        (approval) => Approval.answer(approval, given, now),
        (approval) => Grant.of(approval, grantId)
      )
      .pipe(
        Effect.tapError((error) =>
          Effect.andThen(
            ApprovalMetrics.refusedAnswer(error._tag === "ApproverRefused" ? error.reason : "decided-already"),
            // It came too late, and nobody had noticed.
            error._tag === "ApprovalDecided" && error.outcome === "expired"
              ? settle(approvalId, "expired")
              : Effect.void
          )
        )
      )
    if (answered === undefined || answered.state === "waiting") {
      if (answered !== undefined) yield* announce(answered)
      return "more-needed"
    }
    yield* conclude(answered, given.decision)
    return "decided"
  }, Effect.uninterruptible)

  const waiting = Effect.fnUntraced(function* (threadId?: Ids.ThreadId) {
    const now = yield* Clock.currentTimeMillis
    const found = yield* store.waiting(threadId)
    return found.filter(({ expiresAt }) => now < expiresAt).map((approval) => Approvals.toRequest(approval, now))
  })

  const withdraw = Effect.fn("Approvals.withdraw")(function* (turnId: Ids.TurnId, except?: ReadonlyArray<Ids.CallId>) {
    if (except === undefined && !askers.has(turnId)) return
    askers.add(turnId)
    for (const { approvalId, callId } of yield* store.open(turnId)) {
      if (except?.includes(callId) !== true) yield* settle(approvalId, "cancelled")
    }
    if (except !== undefined) return
    yield* store.endTurn(turnId)
    askers.delete(turnId)
  })

  const sweep = Effect.gen(function* () {
    yield* asked.close
    const now = yield* Clock.currentTimeMillis
    const all = yield* store.waiting()
    yield* Metric.update(ApprovalMetrics.waiting, all.length)
    for (const { approvalId, expiresAt } of all) {
      if (now >= expiresAt && !waiters.has(approvalId)) yield* settle(approvalId, "expired")
    }
    if (all.length === 0) yield* asked.await
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("Old questions could not be looked through", cause)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(sweep, Effect.sleep(sweepInterval))))

  return Approvals.Approvals.of({
    ask,
    decide,
    waiting,
    callState: store.callState,
    withdraw,
    grants: store.grants(),
    revoke: Effect.fn("Approvals.revoke")(function* (grantId, by) {
      yield* store.revoke(grantId)
      yield* Effect.annotateLogs(Effect.logInfo("A grant was taken back"), { grantId, by })
    })
  })
})

/** Needs a store: `ApprovalRows.layer`, or `ApprovalStore.layerMemory` in tests. */
export const layer: Layer.Layer<Approvals.Approvals, never, Settings | EventBus | Channels | ApprovalStore> =
  Layer.effect(Approvals.Approvals, make).pipe(Layer.provide(SecureRandom.layerWebCrypto))
