import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { delay, gate, run, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const { TestRuntime: Troupe } = TestRuntime

// ---------------------------------------------------------------------------------------------------------------------
// The story: a message that takes tools of every kind, one that joins it at the end, and one that waits for its own turn

const messages = [
  { text: "go", delivery: "now" },
  { text: "later", delivery: "after-turn" },
  { text: "wait", delivery: "now" }
] as const

/** What happened outside, in order; it outlives the process. */
type World = Array<Fixtures.Handled>

/** Hands a message in; a second time changes nothing, as a channel's retry does. */
const accept = (conversations: Conversations["Service"], { delivery, text }: (typeof messages)[number]) =>
  conversations.accept({
    thread: Threads.ThreadKey.make("test:main"),
    channel: "test",
    externalId: text,
    sender: { id: "tester" },
    source: "person",
    delivery,
    text,
    attachments: [],
    agent: "troupe"
  })

/** One life's part of the story: its options, and the program that hands the messages in and waits for their outcomes. */
const story = Effect.fnUntraced(function* (world: World) {
  const ready = yield* Deferred.make<Conversations["Service"]>()
  const handIn = (message: (typeof messages)[number]) =>
    Effect.flatMap(Deferred.await(ready), (conversations) => accept(conversations, message))

  const make: Lives.Make = (at) => ({
    settings: unhurried,
    scripts: ({ prompt }) => {
      const answer = answerTo(prompt)
      // The channel hands the last message in while the first is being answered.
      const joining = isAnswerToGo(answer) ? [run(Effect.asVoid(Effect.orDie(handIn(messages[2]))))] : []
      return [run(at("model asked")), ...joining, ...answer, run(at("model answered"))]
    },
    tools: Fixtures.tools((call) =>
      Effect.gen(function* () {
        yield* at(`before ${call.tool}`)
        world.push(call)
        yield* at(`after ${call.tool}`)
        return call.text
      })
    )
  })

  const tell = Effect.gen(function* () {
    const troupe = yield* Troupe
    yield* Deferred.succeed(ready, yield* Conversations)
    const first = yield* Effect.forEach(messages.slice(0, 2), handIn)
    yield* Effect.forEach(first, troupe.outcome)
    const last = yield* handIn(messages[2])
    yield* troupe.outcome(last)
    const receipts = yield* Effect.forEach([...first, last], ({ messageId }) =>
      Threads.Threads.use((threads) => threads.receipt(messageId))
    )
    const log = yield* Threads.Threads.use((threads) =>
      Effect.map(threads.entries(last.threadId, { from: 1, limit: 1000 }), ({ entries }) => entries)
    )
    return { receipts, entries: log.map(({ entry }) => entry), seqs: log.map(({ seq }) => seq) }
  }).pipe(Effect.orDie)
  return { make, tell }
})

const isAnswerToGo = (answer: Scripted.Script) =>
  answer.some((step) => step._tag === "Text" && step.deltas.includes("answer to go"))

/** What the model says depends on what it sees, as it must when nobody counts its requests. */
const answerTo = (prompt: Prompt.Prompt): Scripted.Script => {
  const lastUser = prompt.content.findLastIndex((message) => message.role === "user")
  const asked = prompt.content[lastUser]
  const [first] = asked?.role === "user" ? asked.content : []
  const steps = prompt.content.slice(lastUser).filter((message) => message.role === "tool").length
  if (first?.type !== "text" || first.text !== "go")
    return [text(`answer to ${first?.type === "text" ? first.text : ""}`)]
  if (steps === 0) {
    return [toolCall("look", { text: "a" }), toolCall("pay", { text: "b" }), toolCall("order", { text: "c" })]
  }
  return steps === 1 ? [text("Well."), toolCall("commit", { text: "d" })] : [text("answer to go")]
}

/** What lives work adds up, and the test clock runs fast while a process is asked to end. */
const unhurried = { runtime: { agent_timeout_seconds: 1_000_000 } } as const

// ---------------------------------------------------------------------------------------------------------------------
// What must hold at its end, however often it was interrupted

type Told = Effect.Success<Effect.Success<ReturnType<typeof story>>["tell"]>

const holds = ({ entries, receipts, seqs }: Told, world: World, where: string) => {
  assert.deepStrictEqual(
    receipts.map(({ state }) => state),
    ["answered", "answered", "answered"],
    where
  )
  assert.deepStrictEqual(
    seqs,
    seqs.map((_, index) => index + 1),
    where
  )
  // Each turn begins and ends once, each call has one result.
  const count = (kind: Entry.EntryKind) => entries.filter((entry) => entry._tag === kind).length
  assert.strictEqual(count("TurnStarted"), count("TurnEnded"), where)
  assert.strictEqual(count("UserMessage"), 3, where)
  const taken = entries.flatMap((entry) =>
    entry._tag === "TurnStarted" || entry._tag === "MessagesFolded" ? entry.messageIds : []
  )
  assert.strictEqual(taken.length, 3, where)
  assert.strictEqual(new Set(taken).size, 3, where)
  const made = entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? entry.calls : []))
  const results = entries.filter((entry) => entry._tag === "ToolResult")
  assert.deepStrictEqual(
    results.map(({ callId }) => callId),
    made.map(({ callId }) => callId),
    where
  )
  // The message that joins is seen with the answer, or before it, which then answers both.
  const answers = entries.flatMap((entry) =>
    entry._tag === "AssistantMessage" && entry.calls.length === 0 ? [entry.text] : []
  )
  assert.sameMembers(
    answers.filter((text) => text !== "answer to go"),
    ["answer to wait", "answer to later"],
    where
  )
  assert.isAtMost(answers.length, 3, where)
  // What may be run again happened, under one key; what may not happened at most once, and is called unknown if in doubt.
  for (const result of results) {
    const effects = world.filter(({ callId }) => callId === result.callId)
    assert.isAtMost(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size, 1, where)
    if (result.name === "look" || result.name === "order") {
      assert.isAtLeast(effects.length, 1, where)
      assert.strictEqual(result.outcome, "completed", where)
    } else {
      assert.isAtMost(effects.length, 1, where)
      assert.include(["completed", "unknown"], result.outcome, where)
      if (result.outcome === "completed") assert.strictEqual(effects.length, 1, where)
    }
  }
  return results.map(({ outcome }) => outcome)
}

const lives = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) => (entry._tag === "TurnResumed" ? [entry.attempt] : []))

/** A message whose turn calls `look` once, and one after it. */
const simple =
  (answer: (prompt: Prompt.Prompt) => Scripted.Script): Lives.Make =>
  (at) => ({
    scripts: ({ prompt }) => answer(prompt),
    tools: Fixtures.tools(({ text, tool }) => Effect.as(at(`in ${tool} ${text}`), text))
  })

const lookThenAnswer = (prompt: Prompt.Prompt): Scripted.Script =>
  prompt.content.at(-1)?.role === "user" && prompt.content.length === 2
    ? [toolCall("look", { text: "a" })]
    : [text("here")]

const outcomeOf = (message: string) => Effect.flatMap(Troupe, (troupe) => troupe.say(message, { externalId: message }))

describe("a turn", () => {
  it.effect("that keeps killing the process is parked, and the thread goes on", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      for (let life = 1; life <= 3; life++) {
        assert.isDefined(yield* Lives.killedAt(store, "in look a", simple(lookThenAnswer), outcomeOf("go")))
      }
      const parked = yield* Lives.whole(store, simple(lookThenAnswer), outcomeOf("go"))
      assert.strictEqual(parked.state, "failed")
      assert.strictEqual(parked.failure?.code, "turn:parked")
      assert.include(parked.answer, "parked")
      assert.deepStrictEqual(lives(parked.entries), [2, 3, 4])
      assert.deepStrictEqual(Fixtures.results(parked.entries), [["look", "unknown", "tool:unknown_outcome"]])
      const next = yield* Lives.whole(store, simple(lookThenAnswer), outcomeOf("and now?"))
      assert.strictEqual(next.answer, "here")
    })
  )

  it.effect("is not parked for lives that were asked to end, however many", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const patient: Lives.Make = (at) => ({
        ...simple(lookThenAnswer)(at),
        settings: unhurried
      })
      for (let life = 1; life <= 6; life++) {
        assert.isDefined(yield* Lives.endedAt(store, "in look a", patient, outcomeOf("go")))
      }
      const outcome = yield* Lives.whole(store, patient, outcomeOf("go"))
      assert.strictEqual(outcome.answer, "here")
      assert.deepStrictEqual(lives(outcome.entries), [1, 1, 1, 1, 1, 1])
    })
  )

  it.effect("has one limit of working time over all its lives, and what lies between them does not count", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const settings = { runtime: { agent_timeout_seconds: 30, turn_crash_limit: 9 } }
      // A step of twelve seconds, written down, and one that the process does not survive.
      const make: Lives.Make = (at) => ({
        scripts: ({ index }) =>
          index === 0 ? [delay("12 seconds"), toolCall("look", { text: "a" })] : [run(at("dead"))],
        tools: Fixtures.echo,
        settings
      })
      const life = Lives.killedAt(store, "dead", make, outcomeOf("go"))
      yield* Fixtures.whileTimePasses(life)
      yield* TestClock.adjust("5 minutes")
      yield* Fixtures.whileTimePasses(life)
      yield* TestClock.adjust("5 minutes")
      const last = yield* Lives.whole(
        store,
        () => ({ scripts: [[delay("12 seconds"), text("too late")]], settings }),
        Fixtures.whileTimePasses(outcomeOf("go"))
      )
      assert.strictEqual(last.failure?.code, "turn:timeout")
      assert.deepStrictEqual(lives(last.entries), [2, 3])
    })
  )

  it.effect("stopped before it could go on leaves its doubt about the call that was running", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const answer = (prompt: Prompt.Prompt): Scripted.Script =>
        prompt.content.at(-1)?.role === "user" ? [toolCall("pay", { text: "a" })] : [text("here")]
      assert.isDefined(yield* Lives.killedAt(store, "in pay a", simple(answer), outcomeOf("go")))
      const outcome = yield* Lives.whole(
        store,
        simple(answer),
        Effect.gen(function* () {
          const troupe = yield* Troupe
          const accepted = yield* troupe.accept("go", { externalId: "go" })
          yield* (yield* Conversations).stop(accepted.threadId, "tester")
          return yield* troupe.outcome(accepted)
        }).pipe(Effect.orDie)
      )
      assert.deepStrictEqual(Fixtures.results(outcome.entries), [["pay", "unknown", "tool:unknown_outcome"]])
    })
  )

  it.effect("that has not begun is left for the next life when the process is asked to end", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const scope = yield* Scope.make()
      const open = yield* Deferred.make<void>()
      const scripts: Scripted.Scripts = ({ prompt }) => [gate(open), text(`seen ${prompt.content.length}`)]
      const settings = { runtime: { max_concurrent_turns: 1 } }
      const context = yield* Layer.buildWithScope(TestRuntime.layer({ scripts, settings }, store), scope)
      const accepted = yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const chats = ["a", "a", "b", "c"]
        return yield* Effect.forEach(chats, (chat, n) =>
          troupe.accept(`${n}`, { chat, externalId: `${n}`, delivery: "after-turn" })
        )
      }).pipe(Effect.provideContext(context))
      yield* Effect.provideContext(
        ScriptedModel.use((model) => model.awaitRequests(1)),
        context
      )
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      assert.isUndefined(closing.pollUnsafe())
      yield* Deferred.succeed(open, undefined)
      // The turn at work finishes, which takes no time here, and no other is begun and broken off.
      yield* Fiber.join(closing)
      assert.strictEqual(
        (yield* Effect.provideContext(
          ScriptedModel.use((model) => model.requests),
          context
        )).length,
        1
      )

      const outcomes = yield* Lives.whole(
        store,
        () => ({ scripts, settings }),
        Troupe.use((troupe) => Effect.forEach(accepted, troupe.outcome))
      )
      assert.deepStrictEqual(
        outcomes.map(({ state }) => state),
        ["answered", "answered", "answered", "answered"]
      )
      assert.isTrue(outcomes.every(({ entries }) => lives(entries).length === 0))
    })
  )

  it.effect("has no more calls of a tool in two lives than in one", () =>
    Effect.gen(function* () {
      const answer = (prompt: Prompt.Prompt): Scripted.Script => {
        const calls = prompt.content.filter((message) => message.role === "tool").length
        return calls < 4 ? [toolCall("rare", { text: `${calls}` })] : [text("here")]
      }
      const store = yield* Lives.makeStore
      assert.isDefined(yield* Lives.killedAt(store, "in rare 1", simple(answer), outcomeOf("go")))
      const { entries } = yield* Lives.whole(store, simple(answer), outcomeOf("go"))
      assert.deepStrictEqual(
        Fixtures.results(entries).map(([, outcome, code]) => [outcome, code]),
        [
          ["completed", ""],
          ["completed", ""],
          ["failed", "tool:per_turn_limit"],
          ["failed", "tool:per_turn_limit"]
        ]
      )
    })
  )

  it.effect(
    "F016 F075 goes on after the process was killed at any point of it",
    () =>
      Effect.gen(function* () {
        const points: Array<string> = []
        const doubts: Array<string> = []
        for (let nth = 1; points.length === nth - 1; nth++) {
          const world: World = []
          const store = yield* Lives.makeStore
          const first = yield* story(world)
          const point = yield* Lives.killedAt(store, nth, first.make, first.tell)
          if (point === undefined) break
          points.push(point)
          const second = yield* story(world)
          const told = yield* Lives.whole(store, second.make, second.tell)
          const outcomes = holds(told, world, `killed at ${nth}: ${point}`)
          if (outcomes.includes("unknown")) doubts.push(point)
        }
        // All that a turn writes and does was cut at, and doubt arises only around what it does.
        for (const point of ["startTurn", "append", "fold", "endTurn", "look", "pay", "order", "commit"]) {
          assert.include(points, `before ${point}`)
          assert.include(points, `after ${point}`)
        }
        assert.isAbove(points.length, 50)
        assert.include(doubts, "before pay")
        assert.include(doubts, "after commit")
      }),
    120_000
  )

  it.effect("goes on after the process was killed twice", () =>
    Effect.gen(function* () {
      for (let nth = 3; ; nth += 7) {
        const world: World = []
        const store = yield* Lives.makeStore
        const first = yield* story(world)
        const point = yield* Lives.killedAt(store, nth, first.make, first.tell)
        if (point === undefined) break
        const second = yield* story(world)
        const again = yield* Lives.killedAt(store, 5 + (nth % 11), second.make, second.tell)
        const third = yield* story(world)
        const told = yield* Lives.whole(store, third.make, third.tell)
        holds(told, world, `killed at ${nth}: ${point}, then: ${again}`)
      }
    })
  )

  it.effect("is left and resumed without any doubt when the process is asked to end", () =>
    Effect.gen(function* () {
      for (let nth = 1; ; nth += 2) {
        const world: World = []
        const store = yield* Lives.makeStore
        const first = yield* story(world)
        const point = yield* Lives.endedAt(store, nth, first.make, first.tell)
        if (point === undefined) break
        const second = yield* story(world)
        const told = yield* Lives.whole(store, second.make, second.tell)
        const where = `ended at ${nth}: ${point}`
        assert.isTrue(
          lives(told.entries).every((attempt) => attempt === 1),
          where
        )
        const outcomes = told.entries.flatMap((entry) => (entry._tag === "ToolResult" ? [entry.outcome] : []))
        assert.notInclude(outcomes, "unknown", where)
        assert.isTrue(
          told.receipts.every(({ state }) => state === "answered"),
          where
        )
      }
    })
  )
})
