/** What is counted of searches in files. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as FileSearch from "./FileSearch.ts"

const searches = Metric.counter("troupe_file_searches_total", {
  description: "Searches in managed files, by what searched and how they ended",
  incremental: true
})

const seconds = Metric.histogram("troupe_file_search_seconds", {
  description: "Time of one search in managed files",
  boundaries: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
})

/** `whole`, or what ended it early. */
export const ended = (
  engine: string,
  outcome: "whole" | FileSearch.Stopped,
  took: Duration.Duration
): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(searches, { engine, outcome }), 1),
    Metric.update(Metric.withAttributes(seconds, { engine }), Duration.toSeconds(took))
  )

/** It gave no result: the pattern was none, or the program failed. */
export const failed = (engine: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(searches, { engine, outcome: "failed" }), 1)
