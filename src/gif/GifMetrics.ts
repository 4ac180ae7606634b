/** What is counted of searches for pictures. */
import * as Metric from "effect/Metric"
import type { Reason } from "./GifSearch.ts"

const searches = Metric.counter("troupe_gif_requests_total", {
  description: "Searches for GIFs and downloads of them, by what was done and outcome: ok, or why not",
  incremental: true
})

export const counted = (what: "find" | "fetch", outcome: "ok" | Reason) =>
  Metric.update(Metric.withAttributes(searches, { what, outcome }), 1)
