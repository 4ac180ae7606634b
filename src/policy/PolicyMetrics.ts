/** What is counted of policy. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const tainting = Metric.counter("troupe_tainting_calls_total", {
  description: "Calls of tools that brought content of others before a model, by tool",
  incremental: true
})

export const tainted = (tool: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(tainting, { tool }), 1)
