import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import type * as Ids from "../../src/Ids.ts"
import { gate, never, run, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import { answerTo } from "../approval/Answers.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime

const stop = (threadId: Ids.ThreadId) =>
  Effect.flatMap(Conversations.Conversations, (all) => all.stop(threadId, "tester"))

/** Stops at once: no time may pass. The next message of the thread must work. */
const stopsAndGoesOn = Effect.fnUntraced(function* (accepted: Journal.Accepted) {
  const troupe = yield* Troupe
  assert.strictEqual(yield* stop(accepted.threadId), "stopped")
  const outcome = yield* troupe.outcome(accepted)
  assert.strictEqual(outcome.state, "stopped")
  assert.strictEqual(outcome.answer, "Stopped at your request.")
  assert.deepStrictEqual((yield* (yield* Conversations.Conversations).inspect(accepted.threadId)).running, null)
  assert.strictEqual(yield* stop(accepted.threadId), "idle")
  assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
  return outcome
})

describe("F113 a stop", () => {
  it.effect("ends a turn whose model is speaking", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const accepted = yield* (yield* Troupe).accept("go")
      yield* events.until((event) => event._tag === "ModelDelta")
      yield* stopsAndGoesOn(accepted)
      assert.deepStrictEqual(
        events.seen.flatMap((event) =>
          event._tag === "TurnStarted" || event._tag === "TurnFailed" || event._tag === "TurnCompleted"
            ? [event._tag]
            : []
        ),
        ["TurnStarted", "TurnFailed", "TurnStarted", "TurnCompleted"]
      )
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[text("I am"), never], [text("here")]] })))
  )

  it.effect("interrupts a running tool and skips the calls after it", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const layer = TestRuntime.layer({
        scripts: [[toolCall("pay", { text: "a" }), toolCall("look", { text: "b" })], [text("here")]],
        tools: Fixtures.tools(() =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
        )
      })
      yield* Effect.gen(function* () {
        const accepted = yield* (yield* Troupe).accept("go")
        yield* Deferred.await(started)
        const { entries } = yield* stopsAndGoesOn(accepted)
        assert.isTrue(yield* Deferred.isDone(stopped))
        assert.deepStrictEqual(Fixtures.results(entries), [
          ["pay", "cancelled", "tool:cancelled"],
          ["look", "skipped", "turn:ended"]
        ])
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("gives a cancelled result to a tool that a restart would run again, too", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const accepted = yield* (yield* Troupe).accept("go")
      yield* events.until((event) => event._tag === "ToolCall" && event.phase === "started")
      const { entries } = yield* stopsAndGoesOn(accepted)
      assert.deepStrictEqual(Fixtures.results(entries), [["look", "cancelled", "tool:cancelled"]])
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[toolCall("look", { text: "a" })], [text("here")]],
          tools: Fixtures.tools(() => Effect.never)
        })
      )
    )
  )

  it.effect("waits for an atomic tool, whose effect is recorded", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      const layer = TestRuntime.layer({
        scripts: [[toolCall("commit", { text: "a" }), toolCall("look", { text: "b" })], [text("here")]],
        tools: Fixtures.tools(() =>
          Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(finish)), Effect.as("done"))
        )
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const accepted = yield* troupe.accept("go")
        yield* Deferred.await(started)
        const stopping = yield* Effect.forkChild(stop(accepted.threadId))
        yield* TestClock.adjust("10 seconds")
        assert.isUndefined(stopping.pollUnsafe())
        yield* Deferred.succeed(finish, undefined)
        assert.strictEqual(yield* Fiber.join(stopping), "stopped")
        const { entries, state } = yield* troupe.outcome(accepted)
        assert.strictEqual(state, "stopped")
        assert.deepStrictEqual(Fixtures.results(entries), [
          ["commit", "completed", ""],
          ["look", "skipped", "turn:ended"]
        ])
        assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
      }).pipe(Effect.provide(layer))
    })
  )

  for (const tool of ["look", "commit"]) {
    it.effect(`withdraws the question about ${tool}, and a late yes changes nothing`, () =>
      Effect.gen(function* () {
        const ran: Array<string> = []
        const layer = TestRuntime.layer({
          scripts: [[toolCall(tool, { text: "a" }), toolCall(tool, { text: "b" })], [text("here")]],
          tools: Fixtures.tools(({ text }) => Effect.sync(() => (ran.push(text), text))),
          settings: { tools: { approval: { require_approval: [tool] } } }
        })
        yield* Effect.gen(function* () {
          const conversations = yield* Conversations.Conversations
          const events = yield* Fixtures.recordEvents
          const accepted = yield* (yield* Troupe).accept("go")
          yield* events.until((event) => event._tag === "ApprovalRequested")
          const [question] = (yield* conversations.inspect(accepted.threadId)).approvals
          assert.isDefined(question)
          const { entries } = yield* stopsAndGoesOn(accepted)
          const late = conversations.decide(accepted.threadId, answerTo(question, "approved"))
          assert.strictEqual((yield* Effect.flip(late))._tag, "ApprovalDecided")
          assert.deepStrictEqual(ran, [])
          assert.deepStrictEqual(
            Fixtures.results(entries).map(([, outcome]) => outcome),
            [tool === "commit" ? "denied" : "cancelled", "skipped"]
          )
        }).pipe(Effect.provide(layer))
      })
    )
  }

  it.effect("ends a turn that pauses before it asks the model again", () =>
    Effect.gen(function* () {
      const accepted = yield* (yield* Troupe).accept("go")
      yield* (yield* ScriptedModel).awaitRequests(1)
      yield* TestClock.adjust("1 millis")
      yield* stopsAndGoesOn(accepted)
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[], [text("here")]] })))
  )

  it.effect("ends a turn that waits for a slot before it has begun, and frees nothing that it did not hold", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const layer = TestRuntime.layer({
        scripts: [[gate(open), text("first")], [text("here")]],
        settings: { runtime: { max_concurrent_turns: 1 } }
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const first = yield* troupe.accept("go", { chat: "a" })
        const model = yield* ScriptedModel
        yield* model.awaitRequests(1)
        const second = yield* troupe.accept("go", { chat: "b" })
        assert.strictEqual(yield* stop(second.threadId), "stopped")
        const outcome = yield* troupe.outcome(second)
        assert.strictEqual(outcome.state, "stopped")
        assert.deepStrictEqual(Fixtures.kinds(outcome.entries), ["UserMessage", "TurnStarted", "Notice", "TurnEnded"])
        assert.strictEqual((yield* model.requests).length, 1)
        yield* Deferred.succeed(open, undefined)
        assert.strictEqual((yield* troupe.outcome(first)).answer, "first")
        assert.strictEqual((yield* troupe.say("and now?", { chat: "b" })).answer, "here")
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("ends what waits to join the turn, and not what waits for its own", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const events = yield* Fixtures.recordEvents
      const running = yield* troupe.accept("go")
      yield* events.until((event) => event._tag === "ModelDelta")
      const joining = yield* troupe.accept("wait!")
      const own = yield* troupe.accept("later", { delivery: "after-turn" })
      const task = yield* troupe.accept("done", { source: "task" })
      assert.strictEqual(yield* stop(running.threadId), "stopped")
      const threads = yield* Threads.Threads
      assert.strictEqual((yield* troupe.outcome(own)).answer, "here")
      assert.strictEqual((yield* troupe.outcome(task)).answer, "there")
      const states = yield* Effect.forEach([running, joining, own, task], ({ messageId }) => threads.receipt(messageId))
      assert.deepStrictEqual(
        states.map(({ state }) => state),
        ["stopped", "stopped", "answered", "answered"]
      )
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[text("I am"), never], [text("here")], [text("there")]] })))
  )

  it.effect("twice at once stops once", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const accepted = yield* troupe.accept("go")
      yield* (yield* ScriptedModel).awaitRequests(1)
      const both = yield* Effect.all([stop(accepted.threadId), stop(accepted.threadId)], { concurrency: "unbounded" })
      assert.deepStrictEqual(both, ["stopped", "stopped"])
      const { entries } = yield* troupe.outcome(accepted)
      assert.strictEqual(entries.filter((entry) => entry._tag === "TurnEnded").length, 1)
      assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[never], [text("here")]] })))
  )

  it.effect("says stopped however much has come in since", () => {
    const more = Array.from({ length: 30 }, (_, n) => `more ${n}`)
    const arriving = Effect.suspend(() =>
      Effect.flatMap(Deferred.await(ready), (accept) => Effect.forEach(more, accept))
    )
    const ready = Deferred.makeUnsafe<(text: string) => Effect.Effect<unknown>>()
    const layer = TestRuntime.layer({
      scripts: ({ index }) => (index === 0 ? [never] : [text("here")]),
      journal: (journal) => ({
        ...journal,
        endTurn: (claim, end) =>
          Effect.tap(journal.endTurn(claim, end), () => (end.state === "stopped" ? arriving : Effect.void))
      })
    })
    return Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* Deferred.succeed(ready, (text) => troupe.accept(text))
      const accepted = yield* troupe.accept("go")
      yield* (yield* ScriptedModel).awaitRequests(1)
      assert.strictEqual(yield* stop(accepted.threadId), "stopped")
    }).pipe(Effect.provide(layer))
  })

  it.effect("of a message that has just come in finds it", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const accepted = yield* troupe.accept("go")
      assert.strictEqual(yield* stop(accepted.threadId), "stopped")
      assert.strictEqual((yield* troupe.outcome(accepted)).state, "stopped")
      assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({ scripts: ({ prompt }) => (prompt.content.length > 2 ? [text("here")] : [never]) })
      )
    )
  )

  it.effect("of a thread that nobody has woken ends what it owes", () =>
    Effect.gen(function* () {
      const journal = yield* Journal.Journal
      const troupe = yield* Troupe
      const threads = yield* Threads.Threads
      const first = yield* troupe.say("hello")
      assert.strictEqual(first.answer, "here")
      // Written as another process would: the conversation is not told.
      const lost = yield* journal.accept({
        thread: Threads.ThreadKey.make("test:main"),
        channel: "test",
        externalId: "lost",
        sender: {},
        source: "person",
        delivery: "now",
        text: "go",
        attachments: [],
        agent: "troupe"
      })
      assert.strictEqual(yield* stop(lost.threadId), "stopped")
      assert.strictEqual((yield* threads.receipt(lost.messageId)).state, "stopped")
      assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: () => [text("here")] })))
  )

  it.effect("F075 in any moment of a turn leaves one outcome, and says stopped only if it is", () =>
    Effect.gen(function* () {
      const said: Array<Conversations.StopOutcome> = []
      for (let moment = 1; said.length === moment - 1; moment++) {
        const outcome = yield* stoppedAt(moment)
        if (outcome !== undefined) said.push(outcome)
      }
      // Before its end is written a turn can be stopped, afterwards no more.
      assert.isAbove(said.length, 15)
      const firstIdle = said.indexOf("idle")
      assert.isAbove(firstIdle, 10)
      assert.isTrue(
        said.slice(firstIdle).every((outcome) => outcome === "idle"),
        String(said)
      )
    })
  )
})

/** Runs a turn with two tool calls and asks for a stop at the nth moment; undefined when it has fewer. */
const stoppedAt = Effect.fnUntraced(function* (nth: number) {
  let moments = 0
  let stopping: Fiber.Fiber<Conversations.StopOutcome> | undefined
  const wanted = yield* Deferred.make<Journal.Accepted>()
  const ready = yield* Deferred.make<(threadId: Ids.ThreadId) => Effect.Effect<Conversations.StopOutcome>>()
  const at = () =>
    Effect.gen(function* () {
      if (++moments !== nth) return
      const { threadId } = yield* Deferred.await(wanted)
      stopping = yield* Effect.forkDetach((yield* Deferred.await(ready))(threadId))
      // Time for the stop to arrive before the turn goes on.
      for (let i = 0; i < 30; i++) yield* Effect.yieldNow
    })
  const layer = TestRuntime.layer({
    scripts: ({ index }) => {
      if (index === 0) return [run(at()), toolCall("look", { text: "a" }), toolCall("pay", { text: "b" }), run(at())]
      return [run(at()), text("here")]
    },
    tools: Fixtures.tools(({ text }) => Effect.as(at(), text)),
    journal: (journal) => Fixtures.around(journal, at)
  })
  return yield* Effect.gen(function* () {
    const troupe = yield* Troupe
    const conversations = yield* Conversations.Conversations
    yield* Deferred.succeed(ready, (threadId) => Effect.orDie(conversations.stop(threadId, "tester")))
    const accepted = yield* troupe.accept("go")
    yield* Deferred.succeed(wanted, accepted)
    const { entries, state } = yield* troupe.outcome(accepted)
    if (stopping === undefined) return undefined
    const said = yield* Fiber.join(stopping)
    assert.strictEqual(said, state === "stopped" ? "stopped" : "idle", `moment ${nth}`)
    assert.strictEqual(entries.filter((entry) => entry._tag === "TurnEnded").length, 1)
    const made = entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? entry.calls : []))
    assert.deepStrictEqual(
      Fixtures.results(entries).map(([name]) => name),
      made.map(({ name }) => name),
      `moment ${nth}`
    )
    assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
    return said
  }).pipe(Effect.provide(layer))
})
