/** What is counted of turns. */
import * as Metric from "effect/Metric"
import type * as Entry from "../thread/Entry.ts"

const turns = Metric.counter("troupe_turns_ended_total", {
  description: "Turns that have ended, by how they ended",
  incremental: true
})

/** The counter of turns that ended in this way. */
export const ended = (state: Entry.TurnEnd) => Metric.withAttributes(turns, { state })

/** Turns at work in this process now. */
export const running = Metric.gauge("troupe_turns_running", { description: "Turns at work in this process now" })

/** Conversations resident in memory now. */
export const conversations = Metric.gauge("troupe_conversations_resident", {
  description: "Conversations resident in memory now"
})
