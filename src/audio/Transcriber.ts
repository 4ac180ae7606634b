/**
 * Speech to text. Which engine does it is for `[tools.audio_transcription]` to say: a whisper.cpp server, a server that speaks
 * OpenAI's transcription protocol, or an engine on this machine. Nothing of any of them is loaded before the first recording.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Capability from "../tool/Capability.ts"

/** `transcribe`: in the language that is spoken. `translate`: in English. */
export const Task = Schema.Literals(["transcribe", "translate"])
export type Task = typeof Task.Type

/** What servers and engines call a language: its code, such as `en`, or its English name. */
export const Language = Schema.String.check(
  Schema.isPattern(/^[A-Za-z]{2,20}(-[A-Za-z]{2,4})?$/, {
    expected: 'the code of a language, such as "en", or its English name'
  })
)

/** A piece of what is said. Seconds from the beginning. */
export const Segment = Schema.Struct({ start: Schema.Finite, end: Schema.Finite, text: Schema.String })
export type Segment = typeof Segment.Type

export interface Transcription {
  readonly text: string
  readonly task: Task
  /** The language that was spoken, as the engine calls it; null where it does not say. */
  readonly language: string | null
  /** How sure of it the engine is, from 0 to 1. */
  readonly languageProbability: number | null
  readonly durationSeconds: number | null
  /** In their order. Empty where the engine gives none. */
  readonly segments: ReadonlyArray<Segment>
  readonly engine: Engine
  /** Null where only the server knows. */
  readonly model: string | null
  readonly device: string | null
  readonly computeType: string | null
}

/** `whisper_server`: speaks the protocol of whisper.cpp. `openai`: speaks OpenAI's. `local`: runs on this machine. */
export const Engine = Schema.Literals(["whisper_server", "openai", "local"])
export type Engine = typeof Engine.Type

export interface Recording {
  readonly content: Uint8Array
  readonly task?: Task
  /** Found out by the engine when left out. */
  readonly language?: string | undefined
  /** Instead of the time of the settings. */
  readonly timeout?: Duration.Duration
}

export const Reason = Schema.Literals([
  "not_configured",
  "empty",
  "unsupported_format",
  "too_large",
  "too_long",
  "unreachable",
  "timeout",
  "unauthorized",
  "rate_limited",
  "rejected",
  "server_failed",
  "invalid_reply",
  "model_missing",
  "engine_missing",
  "decoder_missing",
  "engine_failed"
])
export type Reason = typeof Reason.Type

/** Reason → what it means, and what to do. */
const explanations: Readonly<Record<Reason, string>> = {
  not_configured:
    "no engine is configured; a person can name one in [tools.audio_transcription]: server_url, api_url or models_dir",
  empty: "the file is empty",
  unsupported_format: "the content is none of the formats that are taken, whatever the file is called",
  too_large: "the file is larger than [tools.audio_transcription].max_bytes",
  too_long: "the recording is longer than [tools.audio_transcription].max_duration_seconds",
  unreachable: "the server could not be reached, or the connection to it broke",
  timeout: "it took longer than [tools.audio_transcription].timeout_seconds",
  unauthorized: "the server does not accept the key in [tools.audio_transcription].api_key",
  rate_limited: "the server takes no more requests for now; try again later",
  rejected: "the server does not take this request",
  server_failed: "the server failed; try again later",
  invalid_reply: "what the server answered is no transcription",
  model_missing: "the model's file is not in [tools.audio_transcription].models_dir",
  engine_missing: "the engine's package is not installed beside Troupe",
  decoder_missing: "only WAV can be read without ffmpeg, which is not installed",
  engine_failed: "the engine on this machine failed"
}

/** Code → what it means, for the catalogue of tools. */
export const meanings: Readonly<Record<string, string>> = Object.fromEntries(
  Reason.literals.map((reason) => [`audio:${reason}`, explanations[reason]])
)

/** A recording that was not transcribed. Nothing of what was said or sent is in it. */
export class TranscriptionError extends Schema.TaggedError<TranscriptionError>()("TranscriptionError", {
  reason: Reason,
  /** More about this case, in words that are safe to show. */
  detail: Schema.optionalKey(Schema.String)
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `audio:${this.reason}`
  }
  override get message(): string {
    const more = this.detail === undefined ? "" : ` (${this.detail})`
    return `The recording was not transcribed: ${explanations[this.reason]}${more}.`
  }
}

export interface TranscriberShape {
  /**
   * What is said in a recording. It is judged first: by its content, its size and, where that is known, its length. Within the
   * time of the settings, over several at once their `concurrency`. Interrupting ends the work, a child process included.
   */
  readonly transcribe: (recording: Recording) => Effect.Effect<Transcription, TranscriptionError>
}

export class Transcriber extends Context.Service<Transcriber, TranscriberShape>()("troupe/audio/Transcriber") {}

/** The capability to have recordings transcribed. */
export class Hearing extends Capability.Service<Hearing, TranscriberShape>()("Hearing") {}
