/** What is counted of approvals. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Approval from "./Approval.ts"

/** Questions without an answer now. */
export const waiting = Metric.gauge("troupe_approvals_waiting", {
  description: "Questions that wait for a person's answer now"
})

const ended = Metric.counter("troupe_approvals_total", {
  description: "Questions that are over, by how they came out; granted ones were answered by an earlier yes",
  incremental: true
})
const seconds = Metric.histogram("troupe_approval_seconds", {
  description: "Time from a question to its end, by how it came out",
  boundaries: [1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 14_400, 86_400]
})
const refused = Metric.counter("troupe_approval_answers_refused_total", {
  description: "Answers that did not count, by why",
  incremental: true
})

export const over = (outcome: Approval.Outcome | "granted", millis?: number): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(ended, { outcome }), 1),
    millis === undefined
      ? Effect.void
      : Metric.update(Metric.withAttributes(seconds, { outcome }), Math.max(0, millis) / 1000)
  )

export const refusedAnswer = (reason: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(refused, { reason }), 1)
