import * as Schema from "effect/Schema"
import * as Transcriber from "../../audio/Transcriber.ts"
import { FsRead } from "../../file/Workspace.ts"
import * as Action from "../../policy/Action.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "../file/Fields.ts"

/** The first segments, as many as a model can be given; what is said in the others is in the text. */
export const firstSegments = (segments: ReadonlyArray<Transcriber.Segment>): ReadonlyArray<Transcriber.Segment> => {
  let left = mostCharacters
  const end = segments.findIndex(({ text }) => (left -= text.length) < 0)
  return segments.slice(0, end === -1 ? mostSegments : Math.min(end, mostSegments))
}

const mostSegments = 200
const mostCharacters = 12_000

export const TranscribeAudio = Tool.make("transcribe_audio", {
  description: "The words that are spoken in a managed audio file, in their language or translated into English.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the recording: WAV, Ogg, MP3, M4A, FLAC, WebM or AAC."),
    language: Schema.optionalKey(
      Transcriber.Language.annotate({
        description: 'The language that is spoken, such as "en"; found out when left out.'
      })
    ),
    task: Schema.optionalKey(
      Transcriber.Task.annotate({ description: "transcribe when left out; translate gives English." })
    )
  }),
  success: Schema.Struct({
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    text: Schema.String,
    task: Transcriber.Task,
    language: Schema.NullOr(Schema.String),
    language_probability: Schema.NullOr(Schema.Finite),
    duration_seconds: Schema.NullOr(Schema.Finite),
    /** The first of them. */
    segments: Schema.Array(Transcriber.Segment),
    segment_count: Schema.Int,
    engine: Transcriber.Engine,
    model: Schema.NullOr(Schema.String),
    device: Schema.NullOr(Schema.String),
    compute_type: Schema.NullOr(Schema.String),
    notice: Schema.optionalKey(Schema.String)
  }),
  failure: Schema.Union([Fields.Failure, Transcriber.TranscriptionError]),
  limits: { timeout: "10 minutes", output: { maxChars: 32_000, spill: "text" }, concurrency: 8 },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead, Transcriber.Hearing],
  identifiedBy: ["path", "task"],
  actions: ({ path }) => [Action.file("read", path)]
})
