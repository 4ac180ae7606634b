/** Whether a message is let in: not when little is left of the memory that the process may have. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MessageMetrics from "../../src/conversation/MessageMetrics.ts"
import { Overloaded } from "../../src/conversation/Overloaded.ts"
import * as ProcessMemory from "../observability/ProcessMemory.ts"

/** What part of the heap may be in use. Garbage counts until it is collected, which it is long before so much of it is there. */
const fullest = 0.9

export const admit: Effect.Effect<void, Overloaded> = Effect.gen(function* () {
  const { limit, used } = yield* yield* ProcessMemory.Heap
  if (used <= limit * fullest) return
  yield* Metric.update(MessageMetrics.refused, 1)
  yield* Effect.logWarning("Messages are refused: the process is short of memory", {
    usedMegabytes: Math.round(used / 1e6),
    limitMegabytes: Math.round(limit / 1e6)
  })
  return yield* new Overloaded()
})
