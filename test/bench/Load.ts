/** Two hundred messages to fifty threads at once, with a model that takes 200 ms an answer: threads do not wait for threads. */
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import type { Measurement } from "./Report.ts"

const threads = 50
const messagesPerThread = 4
const modelMillis = 200

const program = Effect.gen(function* () {
  const troupe = yield* TestRuntime.TestRuntime
  const messages = Array.from({ length: threads * messagesPerThread }, (_, i) => i)
  const started = performance.now()
  const accepted = yield* Effect.forEach(
    messages,
    // A turn for each message: none may be answered together with another.
    (i) => troupe.accept(`message ${i}`, { chat: `chat-${i % threads}`, delivery: "after-turn" }),
    { concurrency: "unbounded" }
  )
  const outcomes = yield* Effect.forEach(accepted, troupe.outcome, { concurrency: "unbounded" })
  const unanswered = outcomes.filter((outcome) => outcome.state !== "answered").length
  if (unanswered > 0) return yield* Effect.die(`${unanswered} messages were not answered`)
  return performance.now() - started
})

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const took = await Effect.runPromise(
    Effect.scoped(
      Effect.provide(
        program,
        TestRuntime.layer({ scripts: () => [ScriptedModel.delay(modelMillis), ScriptedModel.text("done")] })
      )
    )
  )
  const total = threads * messagesPerThread
  return [
    {
      name: `${total} messages to ${threads} threads`,
      value: took / 1000,
      unit: "s",
      note: `one after another: ${(total * modelMillis) / 1000} s; the longest thread alone: ${(messagesPerThread * modelMillis) / 1000} s`
    }
  ]
}
