/** What is counted of secrets: never which one it was. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const masked = Metric.counter("troupe_secrets_masked_total", {
  description: "Results of tools in which a known secret was masked, by tool",
  incremental: true
})

export const maskedIn = (tool: string): Effect.Effect<void> => Metric.update(maskedBy(tool), 1)

/** The counter of one tool. */
export const maskedBy = (tool: string) => Metric.withAttributes(masked, { tool })
