import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as ChannelsLive from "../../layers/channel/Channels.ts"
import * as DeliveriesLive from "../../layers/channel/Deliveries.ts"
import { Channels, DeliveryRefused } from "../../src/channel/Channels.ts"
import { Deliveries } from "../../src/channel/Deliveries.ts"
import { FormatRepair } from "../../src/channel/FormatRepair.ts"
import { type Delivery, Outbox } from "../../src/channel/Outbox.ts"
import { answerWith, reply } from "../laws/Messages.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import * as Store from "../laws/Store.ts"

const test = <E>(title: string, body: Effect.Effect<void, E, SqlClient.SqlClient | Scope.Scope>) =>
  it.effect(title, () => Effect.provide(Effect.scoped(body), Store.sqliteMemory))

describe("deliveries", () => {
  test(
    "a reply leaves when the loop is woken, and is delivered once",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("hi", { chat: "42" })])
      yield* deliveries.wake
      const attempt = yield* Queue.take(push.attempts)
      assert.deepInclude(attempt.delivery, { text: "hi", chat: "42", attempts: 1, inDoubt: false })
      yield* attempt.succeed
      yield* settled("delivered")
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* push.tried)
    })
  )

  it.effect("a reply that arrived while the disk was full is noted when there is room again, and not sent twice", () =>
    Effect.gen(function* () {
      const rig = yield* DiskRig.DiskRig
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("hi"), reply("more")])
      yield* deliveries.wake
      const attempt = yield* Queue.take(push.attempts)
      rig.failWrites(DiskRig.full)
      yield* attempt.succeed
      for (let minute = 0; minute < 10; minute++) yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* push.tried)
      rig.heal()
      yield* TestClock.adjust("20 seconds")
      const next = yield* Queue.take(push.attempts)
      assert.deepInclude(next.delivery, { text: "more", inDoubt: false })
      yield* next.succeed
      yield* settled("delivered", "delivered")
    }).pipe(Effect.scoped, Effect.provide(DiskRig.over(DiskRig.impatient)))
  )

  test(
    "without a hint a reply leaves within a second",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("hi")])
      yield* TestClock.adjust("1 second")
      yield* (yield* Queue.take(push.attempts)).succeed
      yield* settled("delivered")
    })
  )

  test(
    "one thread's replies go one after the other, different threads at the same time, up to the bound",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ concurrency: 2 })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("a1"), reply("a2")], "push:a")
      yield* answerWith(process, [reply("b1")], "push:b")
      yield* answerWith(process, [reply("c1")], "push:c")
      yield* deliveries.wake
      const first = yield* Queue.take(push.attempts)
      const second = yield* Queue.take(push.attempts)
      assert.deepStrictEqual([first.delivery.text, second.delivery.text], ["a1", "b1"])
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* push.tried)
      yield* second.succeed
      const third = yield* Queue.take(push.attempts)
      assert.strictEqual(third.delivery.text, "c1")
      yield* first.succeed
      const fourth = yield* Queue.take(push.attempts)
      assert.strictEqual(fourth.delivery.text, "a2")
      yield* third.succeed
      yield* fourth.succeed
      yield* settled("delivered", "delivered", "delivered", "delivered")
    })
  )

  test(
    "a slow channel does not hold up another",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ concurrency: 1 })
      const slow = yield* registerPush(yield* deliveries.channels, "slow")
      const fast = yield* registerPush(yield* deliveries.channels, "fast")
      yield* answerWith(process, [reply("1", { channel: "slow" }), reply("2", { channel: "fast" })])
      yield* deliveries.wake
      yield* Queue.take(slow.attempts)
      yield* (yield* Queue.take(fast.attempts)).succeed
      yield* settled("sending", "delivered")
    })
  )

  test(
    "a refusal that may pass is tried again, later each time, and the thread keeps its order",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1"), reply("2")])
      yield* deliveries.wake
      const refusal = new DeliveryRefused({ reason: "busy", retryable: true })
      for (const [attempt, longest] of [1, 2, 4, 8, 16, 32].entries()) {
        const tried = yield* Queue.take(push.attempts)
        assert.deepInclude(tried.delivery, { text: "1", attempts: attempt + 1, inDoubt: false })
        yield* tried.refuse(refusal)
        const due = yield* nextAttempt(tried.delivery)
        assert.isAtLeast(due, longest * 500)
        assert.isAtMost(due, longest * 1000)
        yield* TestClock.adjust(due - 1)
        assert.isFalse(yield* push.tried)
        yield* TestClock.adjust("1001 millis")
      }
      yield* (yield* Queue.take(push.attempts)).succeed
      yield* (yield* Queue.take(push.attempts)).succeed
      yield* settled("delivered", "delivered")
    })
  )

  test(
    "the wait grows no longer than its cap",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ maxDelay: "3 seconds" })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      for (let attempt = 1; attempt <= 12; attempt++) {
        const tried = yield* Queue.take(push.attempts)
        yield* tried.refuse(new DeliveryRefused({ reason: "busy", retryable: true }))
        assert.isAtMost(yield* nextAttempt(tried.delivery), 3000)
        yield* TestClock.adjust("4 seconds")
      }
    })
  )

  test(
    "a wait that the channel asks for is kept to",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      const tried = yield* Queue.take(push.attempts)
      yield* tried.refuse(new DeliveryRefused({ reason: "slow down", retryable: true, retryAfterMillis: 90_000 }))
      const due = yield* nextAttempt(tried.delivery)
      assert.isAtLeast(due, 90_000)
      assert.isAtMost(due, 91_000)
      yield* TestClock.adjust(due - 1)
      assert.isFalse(yield* push.tried)
      yield* TestClock.adjust("2 seconds")
      yield* (yield* Queue.take(push.attempts)).succeed
    })
  )

  test(
    "a final refusal ends the reply, and the thread's next one goes",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1"), reply("2")])
      yield* deliveries.wake
      yield* (yield* Queue.take(push.attempts)).refuse(
        new DeliveryRefused({ reason: "the chat is gone", retryable: false })
      )
      const next = yield* Queue.take(push.attempts)
      assert.strictEqual(next.delivery.text, "2")
      yield* settled("failed", "sending")
      assert.deepStrictEqual(yield* reasons, ["the chat is gone", null])
    })
  )

  test(
    "a reply is given up after the last attempt",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ maxAttempts: 3, firstDelay: "1 milli" })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      for (let attempt = 1; attempt <= 3; attempt++) {
        const tried = yield* Queue.take(push.attempts)
        yield* tried.refuse(new DeliveryRefused({ reason: "busy", retryable: true }))
        if (attempt < 3) yield* nextAttempt(tried.delivery)
        yield* TestClock.adjust("1 second")
      }
      yield* settled("failed")
      assert.deepStrictEqual(yield* reasons, ["Given up after 3 attempts: busy"])
    })
  )

  test(
    "a reply that is too old when its channel comes up is still tried, and given up at its age only after that",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ maxAge: "1 minute", minAttempts: 2, firstDelay: "1 milli" })
      yield* answerWith(process, [reply("1")])
      yield* TestClock.adjust("3 minutes")
      const push = yield* registerPush(yield* deliveries.channels)
      yield* deliveries.wake
      const first = yield* Queue.take(push.attempts)
      yield* first.refuse(new DeliveryRefused({ reason: "busy", retryable: true }))
      yield* settled("pending")
      yield* TestClock.adjust("1 second")
      yield* (yield* Queue.take(push.attempts)).refuse(new DeliveryRefused({ reason: "busy", retryable: true }))
      yield* settled("failed")
    })
  )

  test(
    "a channel that breaks on a reply loses that reply alone, whether it dies, throws or interrupts itself",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      const good = yield* Queue.unbounded<string>()
      yield* register(yield* deliveries.channels, "push", (delivery) => {
        if (delivery.text === "throws") return broken(delivery)
        if (delivery.text === "dies") return Effect.die("formatter failed with token=secret")
        if (delivery.text === "interrupts" && delivery.attempts === 1) return Effect.interrupt
        return Effect.asVoid(Queue.offer(good, `${delivery.text} ${delivery.inDoubt}`))
      })
      yield* answerWith(process, [reply("dies"), reply("throws"), reply("interrupts"), reply("fine")])
      yield* deliveries.wake
      yield* settled("failed", "failed", "pending", "pending")
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Queue.take(good), "interrupts true")
      assert.strictEqual(yield* Queue.take(good), "fine false")
      yield* settled("failed", "failed", "delivered", "delivered")
      for (const reason of yield* reasons) assert.notInclude(reason ?? "", "secret")
    })
  )

  test(
    "a channel that never answers is given its time; the reply comes again in doubt",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop({ timeout: "30 seconds", maxAttempts: 2 })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      yield* Queue.take(push.attempts)
      yield* TestClock.adjust("29 seconds")
      yield* settled("sending")
      yield* TestClock.adjust("1 second")
      yield* settled("pending")
      yield* TestClock.adjust("2 seconds")
      assert.isTrue((yield* Queue.take(push.attempts)).delivery.inDoubt)
      yield* TestClock.adjust("30 seconds")
      yield* settled("unknown")
    })
  )

  test(
    "F021 replies wait while their channel is not registered, and again after it went away",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      yield* answerWith(process, [reply("1"), reply("2")])
      yield* TestClock.adjust("5 minutes")
      yield* settled("pending", "pending")
      const scope = yield* Scope.make()
      const push = yield* Scope.provide(registerPush(yield* deliveries.channels), scope)
      yield* TestClock.adjust("1 second")
      const first = yield* Queue.take(push.attempts)
      assert.deepInclude(first.delivery, { text: "1", attempts: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* first.succeed
      yield* settled("delivered", "pending")
      yield* TestClock.adjust("1 minute")
      yield* settled("delivered", "pending")
      const back = yield* registerPush(yield* deliveries.channels)
      yield* deliveries.wake
      yield* (yield* Queue.take(back.attempts)).succeed
      yield* settled("delivered", "delivered")
    })
  )

  test(
    "a pull channel's replies are left alone",
    Effect.gen(function* () {
      const { deliveries, process } = yield* startLoop()
      yield* (yield* deliveries.channels).register({ name: "console", capabilities })
      yield* answerWith(process, [reply("1", { channel: "console" })])
      yield* TestClock.adjust("1 minute")
      yield* settled("pending")
    })
  )

  test(
    "the process dies between the delivery and its receipt: the next life delivers again, in doubt, and then the rest",
    Effect.gen(function* () {
      const dead = yield* Store.startProcess
      yield* answerWith(dead, [reply("1"), reply("2")])
      // What a killed process leaves: taken, perhaps delivered, never noted.
      assert.strictEqual((yield* dead.outbox.take("push", 1)).length, 1)
      const { deliveries } = yield* startLoop()
      const push = yield* registerPush(yield* deliveries.channels)
      yield* deliveries.wake
      const first = yield* Queue.take(push.attempts)
      assert.deepInclude(first.delivery, { text: "1", inDoubt: true, attempts: 2 })
      yield* first.succeed
      const second = yield* Queue.take(push.attempts)
      assert.deepInclude(second.delivery, { text: "2", inDoubt: false, attempts: 1 })
      yield* second.succeed
      yield* settled("delivered", "delivered")
    })
  )

  test(
    "at the end of the process a delivery under way may finish",
    Effect.gen(function* () {
      const { deliveries, process, scope } = yield* startLoop({ grace: "5 seconds" })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1"), reply("2")])
      yield* deliveries.wake
      const attempt = yield* Queue.take(push.attempts)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* attempt.succeed
      yield* Fiber.join(closing)
      yield* settled("delivered", "pending")
      assert.isFalse(yield* push.tried)
    })
  )

  test(
    "one that does not finish in time is cut off and noted as in doubt",
    Effect.gen(function* () {
      const { deliveries, process, scope } = yield* startLoop({ grace: "5 seconds" })
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      yield* Queue.take(push.attempts)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      yield* settled("pending")
      yield* TestClock.adjust("1 minute")
      const [again] = yield* process.outbox.take("push", 1)
      assert.strictEqual(again?.inDoubt, true)
    })
  )

  it.effect("one that was refused, and is being mended when the process ends, is not in doubt", () =>
    Effect.gen(function* () {
      const mending = yield* Deferred.make<void>()
      const { deliveries, process, scope } = yield* startLoop({ grace: "5 seconds" }).pipe(
        Effect.provideService(FormatRepair, {
          mend: () => Effect.andThen(Deferred.succeed(mending, undefined), Effect.never)
        })
      )
      const refusal = new DeliveryRefused({ reason: "a tag is not closed", retryable: false, unreadable: true })
      const channel = {
        name: "push",
        capabilities,
        formatRepair: { instructions: "Close tags.", attempts: 1 },
        deliver: () => Effect.fail(refusal)
      }
      yield* (yield* deliveries.channels).register(channel).pipe(Effect.orDie)
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      yield* Deferred.await(mending)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      yield* TestClock.adjust("1 minute")
      const [again] = yield* process.outbox.take("push", 1)
      assert.strictEqual(again?.inDoubt, false)
    }).pipe(Effect.scoped, Effect.provide(Store.sqliteMemory))
  )

  test(
    "a store that fails for a moment stops nothing",
    Effect.gen(function* () {
      let failures = 0
      const failing = <A>(effect: Effect.Effect<A>) =>
        Effect.suspend(() => (failures-- > 0 ? Effect.die("the disk is full") : effect))
      const { deliveries, process } = yield* startLoop({}, (outbox) => ({
        ...outbox,
        take: (channel, limit) => failing(outbox.take(channel, limit)),
        delivered: (id) => failing(outbox.delivered(id))
      }))
      const push = yield* registerPush(yield* deliveries.channels)
      yield* answerWith(process, [reply("1")])
      failures = 2
      yield* deliveries.wake
      yield* TestClock.adjust("3 seconds")
      const attempt = yield* Queue.take(push.attempts)
      failures = 2
      yield* attempt.succeed
      yield* TestClock.adjust("10 seconds")
      yield* settled("delivered")
    })
  )

  it.effect("an attempt is counted and told in the log once, however often its end must be written", () => {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
    return Effect.gen(function* () {
      let failures = 3
      const { deliveries, process } = yield* startLoop({}, (outbox) => ({
        ...outbox,
        failed: (id, reason) =>
          Effect.suspend(() => (failures-- > 0 ? Effect.die("the disk is full") : outbox.failed(id, reason)))
      }))
      yield* register(yield* deliveries.channels, "push", () => Effect.die("formatter failed"))
      yield* answerWith(process, [reply("1")])
      yield* deliveries.wake
      yield* TestClock.adjust("1 minute")
      yield* settled("failed")
      assert.isBelow(failures, 1)
      const figures = (yield* PrometheusMetrics.format()).split("\n")
      assert.include(figures, 'troupe_deliveries_total{channel="push",outcome="failed"} 1')
      assert.strictEqual(lines.filter((line) => line.includes("failed on the delivery")).length, 1)
    }).pipe(
      Effect.scoped,
      Effect.provide([Store.sqliteMemory, logger]),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  })
})

describe("channels", () => {
  it.effect("a name is taken for as long as its scope is open", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const scope = yield* Scope.make()
      const channel = { name: "push", capabilities }
      yield* Scope.provide(channels.register(channel), scope)
      assert.strictEqual((yield* Effect.flip(channels.register(channel))).name, "push")
      assert.strictEqual(yield* channels.find("push"), channel)
      assert.deepStrictEqual(yield* channels.all, [channel])
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(yield* channels.find("push"))
      yield* channels.register(channel)
    }).pipe(Effect.provide(ChannelsLive.layer))
  )
})

const capabilities = { approval: false, formatting: ["text"], files: false } as const

/** The loop over the test's database, in a scope of its own that is closed with the test's at the latest. */
const startLoop = Effect.fnUntraced(function* (
  options: Partial<DeliveriesLive.Options> = {},
  wrap: (outbox: Outbox["Service"]) => Outbox["Service"] = (outbox) => outbox
) {
  const process = yield* Store.startProcess
  const scope = yield* Effect.acquireRelease(Scope.make(), (owned) =>
    Effect.gen(function* () {
      const closing = yield* Effect.forkChild(Scope.close(owned, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
    })
  )
  const layer = DeliveriesLive.layerWith({ grace: "1 second", ...options }).pipe(
    Layer.provideMerge(ChannelsLive.layer),
    Layer.provide(Layer.succeed(Outbox, wrap(process.outbox)))
  )
  const context = yield* Scope.provide(Layer.build(Layer.fresh(layer)), scope)
  const { wake } = Context.get(context, Deliveries)
  const channels = Effect.succeed(Context.get(context, Channels))
  return { process, scope, deliveries: { wake, channels } }
})

type Deliver = (delivery: Delivery) => Effect.Effect<void, DeliveryRefused>

const register = (channels: Channels["Service"], name: string, deliver: Deliver) =>
  Effect.orDie(channels.register({ name, capabilities, deliver }))

/** A push channel whose every attempt waits for the test to say how it ends. */
const registerPush = Effect.fnUntraced(function* (channels: Channels["Service"], name = "push") {
  const attempts = yield* Queue.unbounded<{
    readonly delivery: Delivery
    readonly succeed: Effect.Effect<void>
    readonly refuse: (refusal: DeliveryRefused) => Effect.Effect<void>
  }>()
  yield* register(
    channels,
    name,
    Effect.fnUntraced(function* (delivery) {
      const answer = yield* Deferred.make<void, DeliveryRefused>()
      yield* Queue.offer(attempts, {
        delivery,
        succeed: Effect.asVoid(Deferred.succeed(answer, undefined)),
        refuse: (refusal) => Effect.asVoid(Deferred.fail(answer, refusal))
      })
      yield* Deferred.await(answer)
    })
  )
  const tried = Effect.map(Queue.size(attempts), (size) => size > 0)
  return { attempts, tried }
})

// A formatter outside of any effect, as a channel might have it.
const broken = (delivery: Delivery): never => {
  throw new Error(`no format for ${delivery.text}: token=secret`)
}

const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(
    sql<{ readonly id: string; readonly state: string; readonly next: number; readonly reason: string | null }>`
      SELECT id, state, next_attempt_at AS next, error_message AS reason FROM outbox ORDER BY ord`
  )
})

const reasons = Effect.map(rows, (found) => found.map((row) => row.reason))

/** Waits, without letting time pass, until the outbox holds these states. */
const settled = Effect.fnUntraced(function* (...states: ReadonlyArray<string>) {
  let found: ReadonlyArray<string> = []
  for (let turn = 0; turn < 1000; turn++) {
    found = (yield* rows).map((row) => row.state)
    if (found.join() === states.join()) return
    yield* Effect.yieldNow
  }
  assert.deepStrictEqual(found, states)
})

/** Waits until a refusal is stored; gives the wait until the next attempt, in milliseconds. */
const nextAttempt = Effect.fnUntraced(function* (delivery: Delivery) {
  const own = Effect.map(rows, (found) => found.find((row) => row.id === delivery.id))
  let row = yield* own
  for (let turn = 0; turn < 1000 && row?.state !== "pending"; turn++) {
    yield* Effect.yieldNow
    row = yield* own
  }
  assert.strictEqual(row?.state, "pending")
  return (
    (row?.next ?? 0) - (yield* TestClock.testClockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe())))
  )
})
