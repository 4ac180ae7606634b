/** What is counted of side effects. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const recorded = Metric.counter("troupe_side_effects_total", {
  description: "Side effects of turns that were recorded, by kind",
  incremental: true
})

export const filesChanged = (action: "write" | "move" | "delete" | "make-folder"): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(recorded, { kind: action }), 1)

export const callMade: Effect.Effect<void> = Metric.update(Metric.withAttributes(recorded, { kind: "call" }), 1)

const paths = Metric.counter("troupe_undo_paths_total", {
  description: "Paths that undoing came by, by what became of them",
  incremental: true
})

export const undone = (result: "restored" | "left", count: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(paths, { result }), count)
