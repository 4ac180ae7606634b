import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as ProcessMemory from "../../layers/observability/ProcessMemory.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as MessageMetrics from "../../src/conversation/MessageMetrics.ts"
import { gate, text } from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"

const message = (chat: string) => ({
  thread: Threads.ThreadKey.make(`test:${chat}`),
  channel: "test",
  externalId: chat,
  sender: {},
  source: "person" as const,
  delivery: "now" as const,
  text: "hello",
  attachments: [],
  agent: "troupe"
})

const heap = (used: number) => Effect.provideService(ProcessMemory.Heap, Effect.succeed({ used, limit: 1000 }))

describe("F102: a process that is short of memory", () => {
  it.effect("takes no messages and keeps nothing of them, while the turns at work go on to their end", () =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const troupe = yield* TestRuntime.TestRuntime
        const conversations = yield* Conversations
        const threads = yield* Threads.Threads
        const working = yield* Effect.forkChild(troupe.say("begin", { chat: "working" }), { startImmediately: true })
        for (const accept of [conversations.accept, conversations.acceptQuietly]) {
          const refused = yield* Effect.flip(accept(message("late")).pipe(heap(901)))
          assert.strictEqual(refused._tag, "Overloaded")
          assert.include(refused.message, "Nothing was written")
        }
        assert.strictEqual((yield* Metric.value(MessageMetrics.refused)).count, 2)
        assert.strictEqual((yield* threads.list({ limit: 10 })).threads.length, 1)
        yield* Deferred.succeed(opened, undefined)
        assert.strictEqual((yield* Fiber.join(working)).state, "answered")
        assert.isFalse((yield* conversations.accept(message("late")).pipe(heap(900))).duplicate)
      }).pipe(Effect.provide(TestRuntime.layer({ scripts: () => [gate(opened), text("done")] })))
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("knows what it has and what it may have", () =>
    Effect.gen(function* () {
      const { limit, used } = yield* yield* ProcessMemory.Heap
      assert.isAbove(used, 1e6)
      assert.isAbove(limit, used)
    })
  )
})
