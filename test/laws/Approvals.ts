/** What holds for approvals, whatever they are kept in. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as ApprovalsLive from "../../layers/approval/Approvals.ts"
import * as ChannelsLive from "../../layers/channel/Channels.ts"
import type * as Approval from "../../src/approval/Approval.ts"
import * as Approvals from "../../src/approval/Approvals.ts"
import { ApprovalStore } from "../../src/approval/ApprovalStore.ts"
import { Leaving } from "../../src/approval/Leaving.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Settings } from "../../src/config/Settings.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import * as Threads from "../../src/thread/Threads.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import { answerTo } from "../approval/Answers.ts"
import * as ClockRig from "../rigs/ClockRig.ts"
import * as Fixtures from "../tool/Fixtures.ts"

const settings = Layer.orDie(
  Settings.layer({
    tools: {
      approval: {
        require_approval: ["pay", "tell"],
        timeout_seconds: 60,
        rules: {
          pairs: { tools: ["pair"], approvers: ["requester", "bob", "owner"], quorum: 2 },
          others: { tools: ["other"], requester_may_answer: false },
          late: { tools: ["late"], approvers: ["bob"], escalate_to: ["owner"], escalate_after_seconds: 20 },
          nobody: { tools: ["unasked"], approvers: ["requester"] }
        }
      }
    }
  })
)

/** A turn that a test asks in. `prepare` makes the rows that a store wants there. */
export type Prepare = (scope: ToolContext.TurnScope) => Effect.Effect<void>

/** A person named `ada` asks on a channel that can. */
const makeScope = (prepare: Prepare, more: Partial<ToolContext.TurnScope> = {}) =>
  Effect.gen(function* () {
    const scope: ToolContext.TurnScope = {
      ownerId: "primary",
      senderId: "ada",
      threadId: yield* Ids.makeThreadId,
      threadKey: Threads.ThreadKey.make("phone:main"),
      channel: "phone",
      chat: "main",
      turnId: yield* Ids.makeTurnId,
      agent: "troupe",
      chainDepth: 0,
      ...more
    }
    yield* prepare(scope)
    return scope
  })

const capabilities = { approval: true, formatting: ["text"], files: false } as const

type Life = Approvals.Approvals | EventBus | Channels.Channels

/** One life of a process over the store. */
const startLife = Effect.gen(function* () {
  const store = yield* ApprovalStore
  const below = Layer.mergeAll(EventBus.layer, ChannelsLive.layer, settings, Layer.succeed(ApprovalStore, store))
  const phone = Layer.effectDiscard(
    Channels.Channels.use((channels) => Effect.orDie(channels.register({ name: "phone", capabilities })))
  )
  return yield* Layer.build(Layer.fresh(ApprovalsLive.layer.pipe(Layer.provideMerge(phone), Layer.provideMerge(below))))
})

const callOf = (tool: string, parameters: Schema.Json = { to: "eve", amount: 5 }) =>
  Effect.map(Ids.makeCallId, (callId): Approvals.Call => ({ callId, tool, parameters, detail: "to: eve\namount: 5" }))

/** Lets fibers come to where they wait. */
const settle = Effect.repeat(Effect.yieldNow, { times: 60 })

const begin = Effect.fnUntraced(function* (scope: ToolContext.TurnScope, call: Approvals.Call) {
  const approvals = yield* Approvals.Approvals
  let leaving = false
  const fiber = yield* approvals.ask(scope, call).pipe(
    Effect.provideService(
      Leaving,
      Effect.sync(() => leaving)
    ),
    Effect.forkChild({ startImmediately: true })
  )
  yield* settle
  const question = (yield* approvals.waiting(scope.threadId)).find(({ callId }) => callId === call.callId)
  const die = Effect.suspend(() => {
    leaving = true
    return Fiber.interrupt(fiber)
  })
  return { fiber, question, die }
})

const asked = Effect.fnUntraced(function* (scope: ToolContext.TurnScope, call: Approvals.Call) {
  const { die, fiber, question } = yield* begin(scope, call)
  assert(question !== undefined, "it waits")
  return { die, fiber, question }
})

export const laws = (name: string, store: Layer.Layer<ApprovalStore | Prepared>) =>
  describe(`approvals (${name})`, () => {
    const law = <A, E>(
      title: string,
      body: (prepare: Prepare) => Effect.Effect<A, E, ApprovalStore | Life | Scope.Scope>
    ) =>
      it.effect(title, () =>
        Effect.gen(function* () {
          const life = yield* startLife
          return yield* Effect.provideContext(body(yield* Prepared), life)
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(store)), Effect.asVoid)
      )
    answering(law)
    running(law)
    approvers(law)
    granting(law)
    it.effect.prop(
      "whatever happens in whatever order, a call begins on a yes of those who may give it, and once",
      { commands: Arbitrary.array(Arbitrary.schema(Command), { minLength: 4, maxLength: 14 }), pair: Schema.Boolean },
      ({ commands, pair }) =>
        Effect.gen(function* () {
          yield* play(commands, pair ? "pair" : "pay", yield* Prepared)
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(store))),
      { arbitrary: { runs: 80 }, timeout: 120_000 }
    )
  })

/** What a store wants to be there before a turn asks. */
export class Prepared extends Context.Service<Prepared, Prepare>()("troupe/test/laws/Approvals/Prepared") {}

type Law = <A, E>(
  title: string,
  body: (prepare: Prepare) => Effect.Effect<A, E, ApprovalStore | Life | Scope.Scope>
) => void

// ---------------------------------------------------------------------------------------------------------------------
// Answers

const answering = (law: Law) => {
  law(
    "a yes lets the call begin, and no answer after it changes anything: it is told who decided, when and what",
    (prepare) =>
      Effect.gen(function* () {
        const approvals = yield* Approvals.Approvals
        for (const decision of ["approved", "denied"] as const) {
          const scope = yield* makeScope(prepare)
          const call = yield* callOf("pay")
          const { fiber, question } = yield* asked(scope, call)
          assert.deepStrictEqual(question.approvers, ["ada", "primary"])
          assert.strictEqual(yield* approvals.decide(scope.threadId, answerTo(question, decision)), "decided")
          assert.strictEqual(yield* Fiber.join(fiber), decision)
          for (const late of ["approved", "denied", "nobody-to-ask"] as const) {
            const error = yield* Effect.flip(approvals.decide(scope.threadId, answerTo(question, late)))
            assert.deepInclude(error, { _tag: "ApprovalDecided", outcome: decision, by: ["primary"] })
          }
          assert.strictEqual(yield* approvals.callState(call.callId), decision === "approved" ? "begun" : "held")
          assert.deepStrictEqual(yield* approvals.waiting(), [])
        }
      })
  )

  law("F027 silence is a no, also when a yes comes late, and the call has not begun", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const call = yield* callOf("pay")
      const { fiber, question } = yield* asked(scope, call)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), "expired")
      const late = yield* Effect.flip(approvals.decide(scope.threadId, answerTo(question, "approved")))
      assert.deepInclude(late, { _tag: "ApprovalDecided", outcome: "expired", by: [] })
      assert.strictEqual(yield* approvals.callState(call.callId), "held")
    })
  )

  law("F119 two questions of a turn each get their own answer, also over a restart", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const calls = [yield* callOf("pay"), yield* callOf("pay")] as const
      const first = yield* asked(scope, calls[0])
      const second = yield* asked(scope, calls[1])
      yield* approvals.decide(scope.threadId, answerTo(second.question, "denied"))
      assert.strictEqual(yield* Fiber.join(second.fiber), "denied")
      yield* first.die
      const next = yield* startLife
      yield* Effect.gen(function* () {
        const again = yield* asked(scope, calls[0])
        assert.strictEqual(again.question.approvalId, first.question.approvalId)
        yield* (yield* Approvals.Approvals).decide(scope.threadId, answerTo(again.question, "approved"))
        assert.strictEqual(yield* Fiber.join(again.fiber), "approved")
      }).pipe(Effect.provideContext(next))
    })
  )

  law("an answer belongs to the conversation that was asked", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const other = yield* makeScope(prepare)
      const { fiber, question } = yield* asked(scope, yield* callOf("pay"))
      const error = yield* Effect.flip(approvals.decide(other.threadId, answerTo(question, "approved")))
      assert.strictEqual(error._tag, "ApprovalNotFound")
      assert.isUndefined(fiber.pollUnsafe())
    })
  )

  law("a question whose channel cannot ask, is lost, or fails to send it is denied", (prepare) =>
    Effect.gen(function* () {
      const channels = yield* Channels.Channels
      const mute = yield* makeScope(prepare, { channel: "mute" })
      assert.strictEqual(yield* Fiber.join((yield* begin(mute, yield* callOf("pay"))).fiber), "nobody-to-ask")

      const lost = yield* makeScope(prepare, { channel: "lost" })
      const asking = yield* Effect.gen(function* () {
        yield* channels.register({ name: "lost", capabilities })
        return yield* asked(lost, yield* callOf("pay"))
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(asking.fiber.pollUnsafe(), "it may come back")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(asking.fiber), "nobody-to-ask")

      const sent: Array<string> = []
      yield* channels.register({
        name: "push",
        capabilities,
        ask: ({ tool }, chat) =>
          Effect.andThen(
            Effect.sync(() => sent.push(`${tool} ${chat}`)),
            Effect.fail(new Channels.DeliveryRefused({ reason: "blocked", retryable: false }))
          )
      })
      const push = yield* makeScope(prepare, { channel: "push" })
      assert.strictEqual(yield* Fiber.join((yield* begin(push, yield* callOf("pay"))).fiber), "nobody-to-ask")
      assert.deepStrictEqual(sent, ["pay main"])
      assert.deepStrictEqual(yield* (yield* Approvals.Approvals).waiting(), [])
    })
  )
}

// ---------------------------------------------------------------------------------------------------------------------
// Lives of the process, and time

const running = (law: Law) => {
  law(
    "a question outlives the process: it is the same one, with the same end of its time, and is answered once",
    (prepare) =>
      Effect.gen(function* () {
        const scope = yield* makeScope(prepare)
        const call = yield* callOf("pay")
        const before = yield* asked(scope, call)
        yield* TestClock.adjust("30 seconds")
        yield* before.die
        const next = yield* startLife
        yield* Effect.gen(function* () {
          const approvals = yield* Approvals.Approvals
          // Nobody serves the turn yet, and the question can be answered all the same.
          assert.deepStrictEqual(yield* approvals.waiting(scope.threadId), [before.question])
          const again = yield* asked(scope, call)
          assert.deepStrictEqual(again.question, before.question)
          yield* TestClock.adjust("30 seconds")
          assert.strictEqual(yield* Fiber.join(again.fiber), "expired")
        }).pipe(Effect.provideContext(next))
      })
  )

  law("a yes from before a crash is used once, and a yes that is too old is asked for again", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const [fresh, old] = [yield* callOf("pay"), yield* callOf("pay")]
      for (const call of [fresh, old]) {
        const { die, question } = yield* asked(scope, call)
        yield* die
        yield* approvals.decide(scope.threadId, answerTo(question, "approved"))
        assert.strictEqual(yield* approvals.callState(call.callId), "held")
      }
      assert.strictEqual(yield* approvals.ask(scope, fresh), "approved")
      // It was used: the same call is asked about anew.
      const again = yield* asked(scope, fresh)
      yield* Fiber.interrupt(again.fiber)
      yield* TestClock.adjust("1 hour")
      const anew = yield* asked(scope, old)
      assert.strictEqual(anew.question.requestedAt - again.question.requestedAt, 3_600_000)
    })
  )

  law("a yes is for the effect that was shown: the same call with another one is asked about anew", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const call = yield* callOf("pay", { amount: 5, to: "eve" })
      const { die, question } = yield* asked(scope, call)
      yield* die
      yield* approvals.decide(scope.threadId, answerTo(question, "approved"))
      const other = yield* asked(scope, { ...call, parameters: { amount: 500, to: "eve" } })
      assert.notStrictEqual(other.question.approvalId, question.approvalId)
      // The order in which the parameters are written is no difference.
      assert.strictEqual(yield* approvals.ask(scope, { ...call, parameters: { to: "eve", amount: 5 } }), "approved")
    })
  )

  law(
    "a clock that jumps forward or a machine that slept ends its time, and one that is set back makes it no longer",
    (prepare) =>
      Effect.gen(function* () {
        const approvals = yield* Approvals.Approvals
        const { shiftTimeOfDay } = yield* ClockRig.ClockRig
        const scope = yield* makeScope(prepare)
        const slept = yield* asked(scope, yield* callOf("pay"))
        yield* shiftTimeOfDay("10 minutes")
        // Nobody has noticed yet, and it counts for nothing.
        const late = yield* Effect.flip(approvals.decide(scope.threadId, answerTo(slept.question, "approved")))
        assert.deepInclude(late, { _tag: "ApprovalDecided", outcome: "expired" })
        assert.strictEqual(yield* Fiber.join(slept.fiber), "expired")
        const unnoticed = yield* asked(scope, yield* callOf("pay"))
        yield* shiftTimeOfDay("10 minutes")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(unnoticed.fiber), "expired")
        const back = yield* asked(scope, yield* callOf("pay"))
        yield* shiftTimeOfDay("-1 hour")
        yield* TestClock.adjust("59 seconds")
        assert.isUndefined(back.fiber.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(back.fiber), "expired")
      }).pipe(Effect.provide(ClockRig.layer))
  )

  law(
    "a stop withdraws the question, the end of a turn what is open of it, and a later look what nobody serves",
    (prepare) =>
      Effect.gen(function* () {
        const approvals = yield* Approvals.Approvals
        const store = yield* ApprovalStore
        const scope = yield* makeScope(prepare)
        const stopped = yield* asked(scope, yield* callOf("pay"))
        yield* Fiber.interrupt(stopped.fiber)
        const kept = yield* asked(scope, yield* callOf("pay"))
        const orphan = yield* asked(scope, yield* callOf("pay"))
        yield* orphan.die
        yield* approvals.withdraw(scope.turnId, [kept.question.callId])
        yield* approvals.withdraw(scope.turnId)
        assert.strictEqual(yield* Fiber.join(kept.fiber), "cancelled")
        for (const { question } of [stopped, kept, orphan]) {
          assert.strictEqual((yield* store.find(question.approvalId))?.state, "cancelled")
        }
        const left = yield* asked(scope, yield* callOf("pay"))
        yield* left.die
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual((yield* store.find(left.question.approvalId))?.state, "expired")
      })
  )
}

// ---------------------------------------------------------------------------------------------------------------------
// Who may answer

const approvers = (law: Law) => {
  law(
    "F149 a bystander cannot answer, nor an old or another question's button; the question stays open for who may",
    (prepare) =>
      Effect.gen(function* () {
        const approvals = yield* Approvals.Approvals
        const scope = yield* makeScope(prepare)
        const { fiber, question } = yield* asked(scope, yield* callOf("pay"))
        const refusal = (answer: Approval.Answer) => Effect.flip(approvals.decide(scope.threadId, answer))
        for (const decision of ["approved", "denied", "nobody-to-ask"] as const) {
          const bystander = yield* refusal(answerTo(question, decision, { approver: "eve" }))
          assert.deepInclude(bystander, { _tag: "ApproverRefused", reason: "not-an-approver", approver: "eve" })
          const forged = yield* refusal(answerTo(question, decision, { nonce: "another" }))
          assert.deepInclude(forged, { _tag: "ApproverRefused", reason: "other-question" })
        }
        const always = yield* refusal(answerTo(question, "approved", { approver: "eve", scope: "always" }))
        assert.strictEqual(always._tag, "ApproverRefused")
        assert.deepStrictEqual(yield* approvals.grants, [])
        assert.isUndefined(fiber.pollUnsafe())
        yield* approvals.decide(scope.threadId, answerTo(question, "approved", { approver: "ada" }))
        const twice = yield* refusal(answerTo(question, "approved", { approver: "ada" }))
        assert.deepInclude(twice, { _tag: "ApprovalDecided", by: ["ada"] })
        assert.strictEqual(yield* Fiber.join(fiber), "approved")
      })
  )

  law(
    "F150 nobody named is nobody, not everybody: without a requester the call is denied before it is asked",
    (prepare) =>
      Effect.gen(function* () {
        const { senderId: _, ...schedule } = yield* makeScope(prepare)
        assert.strictEqual(yield* Fiber.join((yield* begin(schedule, yield* callOf("unasked"))).fiber), "nobody-to-ask")
        // Where the owner may answer as well, a schedule can be asked about.
        const { question } = yield* asked(schedule, yield* callOf("pay"))
        assert.deepStrictEqual([question.requester, question.approvers], [null, ["primary"]])
      })
  )

  law("a quorum counts people, not answers, and one no is enough", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const answer = (question: Approvals.ApprovalRequest, approver: string, decision: "approved" | "denied") =>
        approvals.decide(scope.threadId, answerTo(question, decision, { approver }))
      const first = yield* asked(scope, yield* callOf("pair"))
      assert.strictEqual(yield* answer(first.question, "bob", "approved"), "more-needed")
      const again = yield* Effect.flip(answer(first.question, "bob", "approved"))
      assert.deepInclude(again, { _tag: "ApproverRefused", reason: "answered-already" })
      assert.deepStrictEqual((yield* approvals.waiting(scope.threadId))[0]?.approvedBy, ["bob"])
      assert.strictEqual(yield* answer(first.question, "ada", "approved"), "decided")
      assert.strictEqual(yield* Fiber.join(first.fiber), "approved")
      const second = yield* asked(scope, yield* callOf("pair"))
      yield* answer(second.question, "bob", "approved")
      assert.strictEqual(yield* answer(second.question, "primary", "denied"), "decided")
      assert.strictEqual(yield* Fiber.join(second.fiber), "denied")
    })
  )

  law("who asked may not answer where the rule is that of two people", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const { fiber, question } = yield* asked(scope, yield* callOf("other"))
      assert.deepStrictEqual(question.approvers, ["primary"])
      const own = yield* Effect.flip(
        approvals.decide(scope.threadId, answerTo(question, "approved", { approver: "ada" }))
      )
      assert.deepInclude(own, { _tag: "ApproverRefused", reason: "asked-for-it" })
      yield* approvals.decide(scope.threadId, answerTo(question, "approved"))
      assert.strictEqual(yield* Fiber.join(fiber), "approved")
    })
  )

  law("after a while others are asked as well, and not before", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const events = yield* Fixtures.recordEvents
      const scope = yield* makeScope(prepare)
      const { fiber, question } = yield* asked(scope, yield* callOf("late"))
      assert.deepStrictEqual(question.approvers, ["bob"])
      const early = yield* Effect.flip(approvals.decide(scope.threadId, answerTo(question, "approved")))
      assert.deepInclude(early, { _tag: "ApproverRefused", reason: "not-an-approver" })
      yield* TestClock.adjust("20 seconds")
      const told = (yield* events.all).flatMap((event) =>
        event._tag === "ApprovalRequested" ? [event.request.approvers] : []
      )
      assert.deepStrictEqual(told, [["bob"], ["bob", "primary"]])
      yield* approvals.decide(scope.threadId, answerTo(question, "approved"))
      assert.strictEqual(yield* Fiber.join(fiber), "approved")
    })
  )
}

// ---------------------------------------------------------------------------------------------------------------------
// Grants

const granting = (law: Law) => {
  law(
    "a yes that holds on covers the very same effect, of the same person, as far as it says, until it is taken back",
    (prepare) =>
      Effect.gen(function* () {
        const approvals = yield* Approvals.Approvals
        const here = yield* makeScope(prepare)
        const scopes = {
          "the same turn": here,
          "another turn": { ...here, turnId: (yield* makeScope(prepare)).turnId },
          "another thread": yield* makeScope(prepare),
          "another person": { ...here, senderId: "bob" }
        }
        const covered = Effect.fnUntraced(function* (where: ToolContext.TurnScope, call: Approvals.Call) {
          const { fiber, question } = yield* begin(where, call)
          if (question !== undefined) yield* Fiber.interrupt(fiber)
          return question === undefined && (yield* Fiber.join(fiber)) === "approved"
        })
        for (const [scope, expected] of [
          ["turn", ["the same turn"]],
          ["thread", ["the same turn", "another turn"]],
          ["always", ["the same turn", "another turn", "another thread"]]
        ] as const) {
          const { fiber, question } = yield* asked(here, yield* callOf("pay"))
          yield* approvals.decide(here.threadId, answerTo(question, "approved", { scope }))
          assert.strictEqual(yield* Fiber.join(fiber), "approved")
          const [grant] = yield* approvals.grants
          assert.deepInclude(grant, { scope, tool: "pay", detail: question.detail, grantedBy: ["primary"] })
          const found: Array<string> = []
          for (const [name, where] of Object.entries(scopes)) {
            if (yield* covered(where, yield* callOf("pay"))) found.push(name)
          }
          assert.deepStrictEqual(found, [...expected])
          // Neither another amount, nor another tool with the same words.
          assert.isFalse(yield* covered(here, yield* callOf("pay", { to: "eve", amount: 6 })))
          assert.isFalse(yield* covered(here, yield* callOf("tell")))
          assert(grant !== undefined)
          yield* approvals.revoke(grant.grantId, "test")
          assert.isFalse(yield* covered(here, yield* callOf("pay")))
          assert.strictEqual((yield* Effect.flip(approvals.revoke(grant.grantId, "test")))._tag, "GrantNotFound")
        }
      })
  )

  law("what was granted for a turn ends with it, and a no grants nothing", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const first = yield* asked(scope, yield* callOf("pay"))
      const wide = answerTo(first.question, "denied", { scope: "always" })
      assert.deepInclude(yield* Effect.flip(approvals.decide(scope.threadId, wide)), { reason: "no-such-scope" })
      yield* approvals.decide(scope.threadId, answerTo(first.question, "approved", { scope: "turn" }))
      yield* Fiber.join(first.fiber)
      yield* approvals.withdraw(scope.turnId)
      assert.deepStrictEqual(yield* approvals.grants, [])
    })
  )

  law("several people grant what all of them agreed on", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const { question } = yield* asked(scope, yield* callOf("pair"))
      yield* approvals.decide(scope.threadId, answerTo(question, "approved", { approver: "bob", scope: "always" }))
      yield* approvals.decide(scope.threadId, answerTo(question, "approved", { approver: "ada", scope: "turn" }))
      const [grant] = yield* approvals.grants
      assert.deepInclude(grant, { scope: "turn", grantedBy: ["bob", "ada"] })
    })
  )

  law("F035 F036 a grant of one command is none of the same one in a wrapper, by its path, or quoted", (prepare) =>
    Effect.gen(function* () {
      const approvals = yield* Approvals.Approvals
      const scope = yield* makeScope(prepare)
      const { question } = yield* asked(scope, yield* callOf("pay", { command: "git push" }))
      yield* approvals.decide(scope.threadId, answerTo(question, "approved", { scope: "always" }))
      const others = [
        "env A=1 git push",
        "/usr/bin/git push",
        "gi''t push",
        "xargs git push",
        "G=git; $G push",
        "git  push"
      ]
      for (const command of others) {
        const { fiber } = yield* asked(scope, yield* callOf("pay", { command }))
        yield* Fiber.interrupt(fiber)
      }
    })
  )
}

// ---------------------------------------------------------------------------------------------------------------------
// Everything in any order, against a model

const Command = Schema.TaggedUnion({
  /** The turn comes to the call, for the first time or again. */
  Ask: {},
  Answer: {
    who: Schema.Literals(["ada", "bob", "primary", "eve"]),
    decision: Schema.Literals(["approved", "denied"]),
    nonce: Schema.Literals(["right", "right", "wrong"])
  },
  Pass: { seconds: Schema.Literals([1, 20, 45]) },
  /** The process dies, and another begins. */
  Crash: {},
  /** A person stops the turn. */
  Stop: {}
})
type Command = typeof Command.Type

/** What is expected: of the last question, and how often the call began. */
interface Model {
  state: "none" | "waiting" | "approved" | "used" | "denied" | "expired" | "cancelled"
  deadline: number
  readonly yes: Set<string>
  asking: boolean
  begun: number
}

const may = { pay: ["ada", "primary"], pair: ["ada", "bob", "primary"] } as const
const quorum = { pay: 1, pair: 2 } as const

const play = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>, tool: keyof typeof may, prepare: Prepare) {
  const scope = yield* makeScope(prepare)
  const call = yield* callOf(tool)
  const model: Model = { state: "none", deadline: 0, yes: new Set(), asking: false, begun: 0 }
  let life = yield* startLife
  let question: Approvals.ApprovalRequest | undefined
  let asking: { readonly fiber: Fiber.Fiber<Approvals.Outcome>; readonly die: Effect.Effect<unknown> } | undefined
  let now = 0
  let begun = 0

  /** What the model says comes of the turn that waits, if it waits no more. */
  const reap = Effect.gen(function* () {
    yield* settle
    if (model.state === "waiting" && now >= model.deadline) model.state = "expired"
    if (!model.asking || model.state === "waiting") return
    if (model.state === "approved") {
      model.state = "used"
      model.begun += 1
    }
    model.asking = false
    assert(asking !== undefined)
    const exit = asking.fiber.pollUnsafe()
    assert(exit !== undefined && exit._tag === "Success", `${model.state}: the wait is over`)
    assert.strictEqual(exit.value, model.state === "used" ? "approved" : model.state)
    if (exit.value === "approved") begun += 1
    asking = undefined
  })

  for (const command of [...commands, { _tag: "Pass", seconds: 61 } as const]) {
    switch (command._tag) {
      case "Ask": {
        if (model.asking) break
        if (model.state === "none" || model.state === "used") {
          model.state = "waiting"
          model.deadline = now + 60
          model.yes.clear()
        }
        model.asking = true
        asking = yield* Effect.provideContext(begin(scope, call), life)
        question = (yield* Context.get(life, Approvals.Approvals).waiting(scope.threadId))[0] ?? question
        break
      }
      case "Answer": {
        if (question === undefined) break
        const { decision, nonce, who } = command
        const given = answerTo(question, decision, { approver: who, ...(nonce === "wrong" ? { nonce } : {}) })
        const answered = yield* Effect.result(Context.get(life, Approvals.Approvals).decide(scope.threadId, given))
        const told = answered._tag === "Success" ? answered.success : answered.failure._tag
        assert.strictEqual(told, expected(model, command, tool))
        break
      }
      case "Pass":
        now += command.seconds
        yield* TestClock.adjust(`${command.seconds} seconds`)
        break
      case "Crash":
        if (asking !== undefined) yield* asking.die
        asking = undefined
        model.asking = false
        life = yield* startLife
        break
      case "Stop":
        if (asking !== undefined) {
          yield* Fiber.interrupt(asking.fiber)
          model.state = "cancelled"
        }
        asking = undefined
        model.asking = false
    }
    yield* reap
  }
  assert.strictEqual(begun, model.begun)
})

/** What an answer comes to, and what the question is then. */
const expected = (
  model: Model,
  { decision, nonce, who }: Extract<Command, { _tag: "Answer" }>,
  tool: keyof typeof may
) => {
  if (model.state !== "waiting") return "ApprovalDecided"
  const people: ReadonlyArray<string> = may[tool]
  if (nonce === "wrong" || !people.includes(who)) return "ApproverRefused"
  if (decision === "denied") {
    model.state = "denied"
    return "decided"
  }
  if (model.yes.has(who)) return "ApproverRefused"
  model.yes.add(who)
  if (model.yes.size < quorum[tool]) return "more-needed"
  model.state = "approved"
  return "decided"
}
