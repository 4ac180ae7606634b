/** What is counted of notes. */
import * as Metric from "effect/Metric"

/** Notes of all owners. */
export const notes = Metric.gauge("troupe_memory_notes", { description: "Notes of all owners" })

const changes = Metric.counter("troupe_memory_changes_total", {
  description: "Notes that were written or removed, by what was done",
  incremental: true
})

/** The counter of one kind of change. */
export const changesOf = (change: "created" | "updated" | "deleted" | "expired") =>
  Metric.withAttributes(changes, { change })

/** From half a millisecond to a second. */
const boundaries = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1]

/** How long searching takes, in seconds. */
export const searchSeconds = Metric.histogram("troupe_memory_search_seconds", {
  description: "Time to search the notes",
  boundaries
})
