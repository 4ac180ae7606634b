import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Approvals } from "../../src/approval/Approvals.ts"
import type * as Event from "../../src/event/Event.ts"
import * as Ids from "../../src/Ids.ts"
import * as Fixtures from "../tool/Fixtures.ts"

const asking = Fixtures.pipeline({
  tools: { approval: { require_approval: ["memory_*", "wait"], timeout_seconds: 90 } }
})

/** Asks, and gives the question once it waits. */
const begin = Effect.fnUntraced(function* (channel?: string) {
  const events = yield* Fixtures.recordEvents
  const approvals = yield* Approvals
  const scope = yield* Fixtures.makeScope(channel)
  const callId = yield* Ids.makeCallId
  const fiber = yield* Effect.forkChild(approvals.ask(scope, { callId, tool: "wait", detail: "milliseconds: 5" }), {
    startImmediately: true
  })
  const [question] = yield* approvals.waiting(scope.threadId)
  return { approvals, events, fiber, question, scope, callId }
})

const outcomesOf = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ApprovalResolved" ? [[event.outcome, event.approver]] : []))

describe("a question", () => {
  it.effect("is needed for tools that a pattern names", () =>
    Effect.gen(function* () {
      const { required } = yield* Approvals
      assert.deepStrictEqual(["wait", "memory_get", "waits", "grep"].map(required), [true, true, false, false])
    }).pipe(Effect.provide(asking))
  )

  it.effect("is announced, answered once, and then gone", () =>
    Effect.gen(function* () {
      for (const decision of ["approved", "denied"] as const) {
        const { approvals, callId, events, fiber, question, scope } = yield* begin()
        assert.isDefined(question)
        assert.deepInclude(question, { tool: "wait", detail: "milliseconds: 5", callId, turnId: scope.turnId })
        assert.strictEqual(question.expiresAt - question.requestedAt, 90_000)
        yield* approvals.decide(question.approvalId, decision, "owner")
        assert.strictEqual(yield* Fiber.join(fiber), decision)
        const late = yield* Effect.flip(approvals.decide(question.approvalId, "approved", "owner"))
        assert.strictEqual(late._tag, "ApprovalNotFound")
        assert.deepStrictEqual(yield* approvals.waiting(scope.threadId), [])
        assert.deepStrictEqual(
          (yield* events.all).map((event) => event._tag),
          ["ApprovalRequested", "ApprovalResolved"]
        )
        assert.deepStrictEqual(outcomesOf(yield* events.all), [[decision, "owner"]])
      }
    }).pipe(Effect.provide(asking))
  )

  it.effect("can be handed back by who has nobody to ask: that is no person's no", () =>
    Effect.gen(function* () {
      const { approvals, events, fiber, question } = yield* begin()
      assert.isDefined(question)
      yield* approvals.decide(question.approvalId, "nobody-to-ask", "owner")
      assert.strictEqual(yield* Fiber.join(fiber), "nobody-to-ask")
      assert.deepStrictEqual(outcomesOf(yield* events.all), [["nobody-to-ask", undefined]])
    }).pipe(Effect.provide(asking))
  )

  it.effect("that nobody answers in time is a no, also with a late yes", () =>
    Effect.gen(function* () {
      const { approvals, events, fiber, question } = yield* begin()
      assert.isDefined(question)
      yield* TestClock.adjust("89 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), "expired")
      yield* Effect.flip(approvals.decide(question.approvalId, "approved", "owner"))
      assert.deepStrictEqual(outcomesOf(yield* events.all), [["expired", undefined]])
    }).pipe(Effect.provide(asking))
  )

  it.effect("is withdrawn when its call is stopped", () =>
    Effect.gen(function* () {
      const { approvals, events, fiber, question, scope } = yield* begin()
      assert.isDefined(question)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* approvals.waiting(scope.threadId), [])
      yield* Effect.flip(approvals.decide(question.approvalId, "approved", "owner"))
      assert.deepStrictEqual(outcomesOf(yield* events.all), [["cancelled", undefined]])
    }).pipe(Effect.provide(asking))
  )

  it.effect("is not asked where the channel cannot ask, or is gone", () =>
    Effect.gen(function* () {
      const { events, fiber, question } = yield* begin("console")
      assert.isUndefined(question)
      assert.strictEqual(yield* Fiber.join(fiber), "nobody-to-ask")
      assert.deepStrictEqual(outcomesOf(yield* events.all), [["nobody-to-ask", undefined]])
    }).pipe(Effect.provide(asking))
  )

  it.effect("is one of several, each with its own answer", () =>
    Effect.gen(function* () {
      const first = yield* begin()
      const second = yield* begin()
      assert.isDefined(first.question)
      assert.isDefined(second.question)
      yield* second.approvals.decide(second.question.approvalId, "approved", "owner")
      yield* first.approvals.decide(first.question.approvalId, "denied", "owner")
      assert.deepStrictEqual([yield* Fiber.join(first.fiber), yield* Fiber.join(second.fiber)], ["denied", "approved"])
    }).pipe(Effect.provide(asking))
  )
})
