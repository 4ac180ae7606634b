/**
 * A process that has served ten thousand conversations and now holds them idle. Prints one line of JSON: memory before the
 * first message, with all conversations resident, and after they have left memory.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../../layers/storage/Database.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as DataDirectory from "../../src/storage/DataDirectory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"

const conversations = 10_000
const idleSeconds = 5

const memory = () => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss }
}

/** What was collected goes back to the system page by page, beside the program, which takes some seconds. */
const settled = Effect.gen(function* () {
  let least = memory()
  for (let unchanged = 0; unchanged < 4;) {
    yield* Effect.sleep("4 seconds")
    const now = memory()
    unchanged = now.rss < least.rss * 0.98 ? 0 : unchanged + 1
    if (now.rss < least.rss) least = now
  }
  return least
})

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
  const idle = yield* settled
  return { before, resident, idle, served }
})

const settings = {
  runtime: { conversation_idle_seconds: idleSeconds },
  llm: { provider: "offline" }
} as const

const directory = mkdtempSync(join(tmpdir(), "troupe-bench-idle-"))
const store = Layer.orDie(
  Layer.provide(
    Database.layer,
    Layer.mergeAll(
      Layer.succeed(DataDirectory.DataDirectory, { path: directory, file: (name) => join(directory, name) }),
      Settings.Settings.layer({ storage: { synchronous: "normal" } }),
      NodeServices.layer
    )
  )
)
const runtime = TestRuntime.layer({ scripts: () => [ScriptedModel.text("hi")], settings }, store)
const result = await Effect.runPromise(Effect.scoped(Effect.provide(program, runtime)))
rmSync(directory, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)
