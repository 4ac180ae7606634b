/** What is counted of the way out. No host is named: there is no end of them. */
import * as Duration from "effect/Duration"
import * as Metric from "effect/Metric"
import type { Reason } from "./Outbound.ts"

const requests = Metric.counter("troupe_outbound_requests_total", {
  description: "Requests that tools asked for, refused ones included",
  incremental: true
})
const failures = Metric.counter("troupe_outbound_failures_total", {
  description: "Those without a response, or with a body that could not be read, by reason",
  incremental: true
})
const received = Metric.counter("troupe_outbound_received_bytes_total", {
  description: "Bytes read of their bodies, decompressed",
  incremental: true
})
const seconds = Metric.histogram("troupe_outbound_seconds", {
  description: "Time from a request to the head of its response, redirections included",
  boundaries: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
})

export const requested = Metric.update(requests, 1)
export const failed = (reason: Reason) => Metric.update(Metric.withAttributes(failures, { reason }), 1)
export const read = (bytes: number) => Metric.update(received, bytes)
export const answered = (took: Duration.Duration) => Metric.update(seconds, Duration.toSeconds(took))
