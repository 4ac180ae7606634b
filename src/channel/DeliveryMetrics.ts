/** What is counted of deliveries. */
import * as Metric from "effect/Metric"

const attempts = Metric.counter("troupe_deliveries_total", {
  description: "Attempts to deliver a reply, by channel and outcome",
  incremental: true
})
const waiting = Metric.gauge("troupe_deliveries_pending", { description: "Replies not yet delivered, by channel" })

/** How an attempt ended: `retry` and `failed` are refusals, `unanswered` may have arrived. */
export type Attempt = "delivered" | "retry" | "failed" | "unanswered"

export const attempted = (channel: string, outcome: Attempt) =>
  Metric.update(Metric.withAttributes(attempts, { channel, outcome }), 1)

export const pending = (channel: string, count: number) =>
  Metric.update(Metric.withAttributes(waiting, { channel }), count)
