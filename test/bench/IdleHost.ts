/**
 * A process that has served ten thousand conversations and now holds them idle. Prints one line of JSON: memory before the
 * first message, with all conversations resident, and after they have left memory.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"

const conversations = 10_000
const idleSeconds = 5

const memory = () => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss }
}

const program = Effect.gen(function* () {
  const troupe = yield* TestRuntime.TestRuntime
  yield* troupe.say("warm up", { chat: "warm-up" })
  const before = memory()
  const started = performance.now()
  const messages = yield* Effect.forEach(
    Array.from({ length: conversations }, (_, i) => i),
    (i) => troupe.accept("hello", { chat: `chat-${i}` }),
    { concurrency: 64 }
  )
  yield* Effect.forEach(messages, troupe.outcome, { concurrency: 64, discard: true })
  const served = performance.now() - started
  const resident = { ...memory(), count: (yield* Metric.value(TurnMetrics.conversations)).value }
  while ((yield* Metric.value(TurnMetrics.conversations)).value > 0) yield* Effect.sleep("200 millis")
  const idle = memory()
  return { before, resident, idle, served }
})

const settings = {
  runtime: { conversation_idle_seconds: idleSeconds },
  llm: { provider: "offline" }
} as const

const result = await Effect.runPromise(
  Effect.scoped(Effect.provide(program, TestRuntime.layer({ scripts: () => [ScriptedModel.text("hi")], settings })))
)
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)
