/** What the ways to have a recording transcribed have in common. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as AudioFormat from "../../src/audio/AudioFormat.ts"
import type * as Contract from "../../src/audio/Transcriber.ts"

/** A recording that was judged. `timeout` is for all of it. */
export interface Job {
  readonly content: Uint8Array
  readonly format: AudioFormat.AudioFormat
  readonly task: Contract.Task
  readonly language: string | undefined
  readonly timeout: Duration.Duration
}

export interface Engine {
  readonly name: Contract.Engine
  readonly run: (job: Job) => Effect.Effect<Contract.Transcription, Contract.TranscriptionError>
}
