/** What servers answer: the same JSON by the protocol of whisper.cpp and by OpenAI's, with more or less in it. Pure. */
import * as Schema from "effect/Schema"
import type { Segment } from "./Transcriber.ts"

const Reply = Schema.Struct({
  text: Schema.String,
  language: Schema.optionalKey(Schema.NullOr(Schema.String)),
  // A text from some servers.
  duration: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.Finite, Schema.FiniteFromString]))),
  segments: Schema.optionalKey(
    Schema.NullOr(Schema.Array(Schema.Struct({ start: Schema.Finite, end: Schema.Finite, text: Schema.String })))
  ),
  detected_language: Schema.optionalKey(Schema.String),
  detected_language_probability: Schema.optionalKey(Schema.Finite)
})

export interface ServerReply {
  readonly text: string
  readonly language: string | null
  readonly languageProbability: number | null
  readonly durationSeconds: number | null
  readonly segments: ReadonlyArray<Segment>
}

export const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Reply))

export const read = (reply: typeof Reply.Type): ServerReply => ({
  text: wordsOf(reply.text),
  language: (reply.detected_language ?? reply.language)?.slice(0, longestLanguage) ?? null,
  languageProbability: reply.detected_language_probability ?? null,
  durationSeconds: reply.duration ?? null,
  segments: (reply.segments ?? []).map(({ end, start, text }) => ({ start, end, text: text.trim() }))
})

/** Characters of what a server calls a language. */
const longestLanguage = 40

/** Servers of whisper.cpp begin a new line with each segment. */
const wordsOf = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n")

/** What a server says of its failure: `{"error": "…"}` or `{"error": {"message": "…"}}`; undefined where it says nothing. */
export const problemIn = (text: string): string | undefined => {
  const found = decodeProblem(text)
  if (found._tag === "None") return undefined
  const { error } = found.value
  return typeof error === "string" ? error : error.message
}

const decodeProblem = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ error: Schema.Union([Schema.String, Schema.Struct({ message: Schema.String })]) })
  )
)
