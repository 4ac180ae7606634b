/** Transcripts without an engine, for tests: recordings are judged as they are by the live service, and what is heard is given. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Judgement from "../audio/Judgement.ts"
import * as Transcriber from "../audio/Transcriber.ts"
import * as AwakeTime from "../AwakeTime.ts"

export interface Options extends Partial<Judgement.Limits> {
  /** What is heard in a recording that was taken. */
  readonly hear: (recording: Transcriber.Recording) => Effect.Effect<string, Transcriber.TranscriptionError>
  /** Five minutes if left out, as in the settings. */
  readonly timeout?: Duration.Duration
}

export const layer = ({
  hear,
  longest = 7200,
  maxBytes = 25_000_000,
  timeout = Duration.minutes(5)
}: Options): Layer.Layer<Transcriber.Transcriber> =>
  Layer.succeed(
    Transcriber.Transcriber,
    Transcriber.Transcriber.of({
      transcribe: Effect.fn("Transcriber.transcribe")(function* (recording) {
        const { seconds } = yield* Effect.fromResult(Judgement.of(recording.content, { longest, maxBytes }))
        const text = yield* hear(recording).pipe(
          AwakeTime.timeoutOrElse({
            duration: Duration.min(recording.timeout ?? timeout, timeout),
            orElse: () => Effect.fail(new Transcriber.TranscriptionError({ reason: "timeout" }))
          })
        )
        return {
          text,
          task: recording.task ?? "transcribe",
          language: recording.language ?? null,
          languageProbability: null,
          durationSeconds: seconds ?? null,
          segments: [{ start: 0, end: seconds ?? 0, text }],
          engine: "whisper_server",
          model: null,
          device: null,
          computeType: null
        }
      })
    })
  )
