/** What is counted of messages. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Journal from "./Journal.ts"

const accepted = Metric.counter("troupe_messages_accepted_total", {
  description: "Messages that were accepted, by channel; one that came twice counts once",
  incremental: true
})
/** Messages that were not let in. */
export const refused = Metric.counter("troupe_messages_refused_total", {
  description: "Messages that were refused because the process is short of memory",
  incremental: true
})
const seconds = Metric.histogram("troupe_accept_seconds", {
  description: "Time to accept a message, which is to have it on disk",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
})
/** Age of the oldest message that has no outcome yet. */
export const oldestOwedSeconds = Metric.gauge("troupe_oldest_owed_seconds", {
  description: "Age of the oldest message without an outcome; 0 when nothing is owed"
})

/** Counts what an acceptance gives, and measures how long it takes. What is on disk is counted, whatever becomes of its sender. */
export const accepting = <E, R>(channel: string, accept: Effect.Effect<Journal.Accepted, E, R>) =>
  Effect.timed(accept).pipe(
    Effect.tap(([took, message]) =>
      Effect.andThen(
        Metric.update(seconds, Duration.toSeconds(took)),
        Metric.update(Metric.withAttributes(accepted, { channel }), message.duplicate ? 0 : 1)
      )
    ),
    Effect.map(([, message]) => message),
    Effect.uninterruptible
  )
