/** What is counted of transcriptions. */
import * as Duration from "effect/Duration"
import * as Metric from "effect/Metric"
import type { Engine, Reason } from "./Transcriber.ts"

const done = Metric.counter("troupe_transcriptions_total", {
  description: "Recordings that were transcribed or not, by engine and outcome: ok, or why not",
  incremental: true
})
const audioSeconds = Metric.counter("troupe_transcribed_audio_seconds_total", {
  description: "Length of the recordings that were transcribed, where it is known, in seconds"
})
const seconds = Metric.histogram("troupe_transcription_seconds", {
  description: "Time to transcribe a recording, by engine",
  boundaries: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
})

const counted = (engine: Engine | "none", outcome: "ok" | Reason) =>
  Metric.update(Metric.withAttributes(done, { engine, outcome }), 1)

export const failed = (engine: Engine | "none", reason: Reason) => counted(engine, reason)

export const transcribed = (engine: Engine, took: Duration.Duration, length: number | null) =>
  [
    counted(engine, "ok"),
    Metric.update(Metric.withAttributes(seconds, { engine }), Duration.toSeconds(took)),
    Metric.update(audioSeconds, length ?? 0)
  ] as const
