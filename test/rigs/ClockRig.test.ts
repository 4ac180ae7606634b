/** What a stopped process, a sleeping machine and a changed time of day do to the whole runtime: nothing that lasts. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as ChannelsLive from "../../layers/channel/Channels.ts"
import * as DeliveriesLive from "../../layers/channel/Deliveries.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Channels, DeliveryRefused } from "../../src/channel/Channels.ts"
import { Outbox } from "../../src/channel/Outbox.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { answerWith, reply } from "../laws/Messages.ts"
import * as Fixtures from "../conversation/Fixtures.ts"
import * as Store from "../laws/Store.ts"
import * as ClockRig from "./ClockRig.ts"

const threads = 5

/** A tool whose answer comes from outside. */
const outside = (answer: Effect.Effect<void>, atWork: Effect.Effect<unknown>) =>
  ToolRegistry.layer(
    [
      Tool.make("ask_outside", {
        description: "Asks.",
        parameters: Schema.Struct({}),
        success: Schema.Struct({ done: Schema.Boolean }),
        failure: Tool.NoFailure,
        limits: { timeout: "30 seconds", output: { maxChars: 100 } },
        cancellation: "interruptible",
        replay: "safe",
        capabilities: []
      })
    ],
    { ask_outside: () => Effect.andThen(atWork, Effect.as(answer, { done: true })) }
  )

const states = (outcomes: ReadonlyArray<TestRuntime.Outcome>) => outcomes.map(({ state }) => state)
const allAnswered = Array.from({ length: threads }, () => "answered")

/** Several turns that wait for a tool when the disturbance comes; then the tool answers. */
const during = (disturb: (rig: ClockRig.ClockRig["Service"]) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<void>()
    const atWork = yield* Queue.unbounded<void>()
    yield* Effect.gen(function* () {
      const rig = yield* ClockRig.ClockRig
      const troupe = yield* TestRuntime.TestRuntime
      const accepted = yield* Effect.forEach(
        Array.from({ length: threads }, (_, n) => `chat-${n}`),
        (chat) => troupe.accept("go", { chat })
      )
      yield* Effect.replicateEffect(Queue.take(atWork), threads)
      yield* disturb(rig)
      yield* Deferred.succeed(answer, undefined)
      const outcomes = yield* Effect.forEach(accepted, troupe.outcome)
      assert.deepStrictEqual(states(outcomes), allAnswered)
      for (const { entries } of outcomes) {
        const results = entries.filter((entry) => entry._tag === "ToolResult")
        assert.deepStrictEqual(
          results.map(({ outcome }) => outcome),
          ["completed"]
        )
      }
      // And the runtime goes on.
      assert.strictEqual((yield* troupe.say("more", { chat: "later" })).state, "answered")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: ({ prompt }) =>
            prompt.content.some(({ role }) => role === "tool") || JSON.stringify(prompt.content).includes("more")
              ? [ScriptedModel.text("done")]
              : [ScriptedModel.toolCall("ask_outside", {})],
          settings: { runtime: { agent_timeout_seconds: 60 } },
          tools: outside(Deferred.await(answer), Queue.offer(atWork, undefined))
        })
      )
    )
  }).pipe(Effect.provide(ClockRig.layer))

describe("F143: running work", () => {
  it.effect("does not time out because the process stood still", () => during((rig) => rig.standStill("10 minutes")))

  it.effect("does not time out because the process stood still again and again", () =>
    during((rig) =>
      Effect.forEach(Array.from({ length: 3 }), () => Effect.andThen(rig.standStill("1 hour"), TestClock.adjust(500)), {
        discard: true
      })
    )
  )

  it.effect("does not notice that the machine slept", () =>
    during((rig) => Effect.andThen(rig.shiftTimeOfDay("8 hours"), TestClock.adjust("1 second")))
  )

  it.effect("does not notice that the time of day was set back", () =>
    during((rig) => Effect.andThen(rig.shiftTimeOfDay("-2 days"), TestClock.adjust("1 second")))
  )

  it.effect("still ends when it works for too long after that", () =>
    Effect.gen(function* () {
      const atWork = yield* Queue.unbounded<void>()
      yield* Effect.gen(function* () {
        const rig = yield* ClockRig.ClockRig
        const troupe = yield* TestRuntime.TestRuntime
        const accepted = yield* troupe.accept("go")
        yield* Queue.take(atWork)
        yield* rig.standStill("10 minutes")
        yield* rig.shiftTimeOfDay("-1 day")
        yield* TestClock.adjust("31 seconds")
        const { entries } = yield* troupe.outcome(accepted)
        assert.include(JSON.stringify(entries), "tool:timeout")
      }).pipe(
        Effect.provide(
          TestRuntime.layer({
            scripts: [[ScriptedModel.toolCall("ask_outside", {})], [ScriptedModel.text("done")]],
            tools: outside(Effect.never, Queue.offer(atWork, undefined))
          })
        )
      )
    }).pipe(Effect.provide(ClockRig.layer))
  )
})

/** Deliveries over a store, with a channel that refuses once and then takes. */
const deliveries = <A, E>(
  body: (rig: ClockRig.ClockRig["Service"], tried: Queue.Queue<number>) => Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const rig = yield* ClockRig.ClockRig
    const scope = yield* Effect.acquireRelease(Scope.make(), (owned) =>
      Effect.gen(function* () {
        const closing = yield* Effect.forkChild(Scope.close(owned, yield* Effect.exit(Effect.void)), {
          startImmediately: true
        })
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
      })
    )
    const process = yield* Store.startProcess
    const tried = yield* Queue.unbounded<number>()
    const channel = Layer.effectDiscard(
      Effect.flatMap(Channels, (channels) =>
        channels.register({
          name: "push",
          capabilities: { approval: false, formatting: ["text"], files: false },
          deliver: ({ attempts }) =>
            Effect.andThen(
              Queue.offer(tried, attempts),
              attempts === 1 ? Effect.fail(new DeliveryRefused({ reason: "busy", retryable: true })) : Effect.void
            )
        })
      )
    )
    yield* Scope.provide(
      Layer.build(
        Layer.fresh(
          Layer.merge(channel, DeliveriesLive.layerWith({ grace: "1 second" })).pipe(
            Layer.provide(ChannelsLive.layer),
            Layer.provide(Layer.succeed(Outbox, process.outbox))
          )
        )
      ),
      scope
    )
    yield* answerWith(process, [reply("hi")])
    // In small steps, so that the second attempt is still to come when the first has been made.
    assert.strictEqual(yield* Fixtures.whileTimePasses(Queue.take(tried)), 1)
    return yield* body(rig, tried)
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(Store.sqliteMemory, ClockRig.layer)))

describe("F143: a reply that is to be sent again", () => {
  for (const [title, disturb] of [
    ["the time of day was set back", (rig: ClockRig.ClockRig["Service"]) => rig.shiftTimeOfDay("-3 hours")],
    ["the time of day was set back by years", (rig: ClockRig.ClockRig["Service"]) => rig.shiftTimeOfDay("-900 days")],
    ["the machine slept", (rig: ClockRig.ClockRig["Service"]) => rig.shiftTimeOfDay("3 hours")],
    ["the process stood still", (rig: ClockRig.ClockRig["Service"]) => rig.standStill("3 hours")]
  ] as const) {
    it.effect(`is sent soon and once when ${title}`, () =>
      deliveries((rig, tried) =>
        Effect.gen(function* () {
          yield* settledAs("pending")
          yield* disturb(rig)
          yield* TestClock.adjust("3 seconds")
          yield* settledAs("delivered")
          assert.strictEqual(yield* Queue.take(tried), 2)
          yield* TestClock.adjust("1 hour")
          assert.strictEqual(yield* Queue.size(tried), 0)
        })
      )
    )
  }
})

describe("F143: what happens every so often", () => {
  it.effect("happens once after the process stood still, and not for every time that was missed", () =>
    Effect.gen(function* () {
      let rounds = 0
      const runtime = TestRuntime.layer({
        scripts: [],
        journal: (journal) => ({
          ...journal,
          owedThreads: (limit) =>
            Effect.suspend(() => {
              rounds += 1
              return journal.owedThreads(limit)
            })
        })
      })
      yield* Effect.gen(function* () {
        const rig = yield* ClockRig.ClockRig
        yield* TestClock.adjust("20 seconds")
        const before = rounds
        assert.isAbove(before, 1)
        yield* rig.standStill("1 hour")
        assert.strictEqual(rounds, before + 1)
        yield* rig.shiftTimeOfDay("-1 day")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(rounds, before + 3)
      }).pipe(Effect.provide(runtime))
    }).pipe(Effect.provide(ClockRig.layer))
  )
})

/** Waits, without letting time pass, until the reply is in this state. */
const settledAs = Effect.fnUntraced(function* (wanted: string) {
  const sql = yield* SqlClient.SqlClient
  let found = ""
  for (let turn = 0; turn < 1000 && found !== wanted; turn++) {
    yield* Effect.yieldNow
    const [row] = yield* Effect.orDie(sql<{ readonly state: string }>`SELECT state FROM outbox`)
    found = row?.state ?? ""
  }
  assert.strictEqual(found, wanted)
})
