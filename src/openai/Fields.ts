/** Reading what a client sent: leniently where it does not matter, with the name of the field where it does. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Attachment from "../attachment/Attachment.ts"
import * as Inbound from "../thread/Inbound.ts"
import * as SchemaProblem from "../SchemaProblem.ts"
import * as Problem from "./Problem.ts"

/** A field that may be left out or null. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** A field of a few words. */
export const short = (characters: number) =>
  Schema.String.check(Schema.isMaxLength(characters, { expected: `a text of at most ${characters} characters` }))

/** As the protocol has it: up to 16 pairs of texts. `troupe_thread` names a thread, which is judged as such. */
export const Metadata = maybe(
  Schema.Record(short(64), short(512)).check(
    Schema.makeFilter((pairs: object) => Object.keys(pairs).length <= 16, { expected: "at most 16 pairs" })
  )
)

/** What a client calls its user, which becomes the name of the sender. */
export const User = maybe(Schema.Union([Schema.Literal(""), Inbound.Name]))

/** A part of a message, as either route spells it. What the other kinds of parts hold is not looked at. */
const Part = Schema.Struct({
  type: Schema.String,
  text: maybe(Schema.String),
  refusal: maybe(Schema.String),
  image_url: maybe(Schema.Union([Schema.String, Schema.Struct({ url: Schema.String })])),
  file: maybe(Schema.Struct({ filename: maybe(Schema.String), file_data: maybe(Schema.String) })),
  filename: maybe(Schema.String),
  file_data: maybe(Schema.String)
})
type Part = typeof Part.Type

export const Content = Schema.Union([Schema.String, Schema.Array(Part)])
export type Content = typeof Content.Type

/** Reads a body; the first thing that is wrong with it is the problem. */
export const decode = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decodeUnknown = Schema.decodeUnknownEffect(schema)
  return (input: unknown): Effect.Effect<S["Type"], Problem.Problem> =>
    Effect.mapError(decodeUnknown(input), ({ issue }) => {
      const { field, text } = SchemaProblem.describe(issue, input)
      return Problem.invalid(field, text)
    })
}

/** The fields that are set and that nothing here looks at, by name. */
export const unread = (input: unknown, read: ReadonlySet<string>): ReadonlyArray<string> =>
  Predicate.isObject(input)
    ? Object.entries(input)
        .filter(([name, value]) => value !== null && value !== undefined && !read.has(name))
        .map(([name]) => name)
    : []

/** What a message says, and the images and files in it. */
export interface Said {
  readonly text: string
  readonly files: ReadonlyArray<Attachment.Encoded>
}

/**
 * Reads a message's content. What cannot be looked at (sounds, files that are elsewhere, files of anybody but the user) is refused
 * in something to answer; in what was said before, a mark stands in its place.
 */
export const saidIn = (
  content: Content,
  param: string,
  { asMark, role }: { readonly asMark: boolean; readonly role: string | null | undefined }
): Effect.Effect<Said, Problem.Problem> => {
  if (typeof content === "string") return Effect.succeed({ text: content, files: [] })
  const read = content.map((part) => ({ part, words: wordsOf(part), file: role === "user" ? fileIn(part) : undefined }))
  const bad = asMark ? -1 : read.findIndex(({ file, words }) => file === undefined && words === undefined)
  const problem = read[bad]
  if (problem !== undefined) return Effect.fail(cannotRead(problem.part, `${param}[${bad}]`, role))
  return Effect.succeed({
    text: read.map(({ file, part, words }) => words ?? (file === undefined ? `[${mark(part.type)}]` : "")).join(""),
    files: read.flatMap(({ file }) => (file === undefined ? [] : [file]))
  })
}

const cannotRead = (part: Part, param: string, role: string | null | undefined): Problem.Problem =>
  role === "user" && addressOf(part) !== undefined
    ? Problem.invalid(
        param,
        `${param}: Expected the content itself, as a data URL in base64. Nothing is fetched from other addresses, and no file is kept under an id.`,
        "remote_content"
      )
    : Problem.invalid(
        param,
        `${param}: Expected a part of text. Parts of the kind ${JSON.stringify(mark(part.type))} cannot be read here.`,
        "unsupported_content"
      )

const wordsOf = ({ refusal, text, type }: Part): string | undefined => {
  if (type === "text" || type === "input_text" || type === "output_text") return text ?? ""
  return type === "refusal" ? (refusal ?? "") : undefined
}

/** Where a part says that its content is; undefined for parts that are no image and no file. */
const addressOf = ({ file, file_data, image_url, type }: Part): string | undefined => {
  switch (type) {
    case "image_url":
    case "input_image":
      return typeof image_url === "string" ? image_url : (image_url?.url ?? "")
    case "file":
      return file?.file_data ?? ""
    case "input_file":
      return file_data ?? ""
    default:
      return undefined
  }
}

/** The file that a part holds in itself. */
const fileIn = (part: Part): Attachment.Encoded | undefined => {
  const address = addressOf(part)
  const found = address === undefined ? null : dataUrl.exec(address)
  if (found?.groups === undefined) return undefined
  const { mediaType = "", start = "" } = found.groups
  const name = (part.filename ?? part.file?.filename ?? "").replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "").trim()
  return { name: name.slice(0, 200).toWellFormed() || "file", mediaType, data: address?.slice(start.length) ?? "" }
}

/** The beginning of one; the content, which may be long, is not looked at. */
const dataUrl = /^(?<start>data:(?<mediaType>[\w.+-]{1,60}\/[\w.+-]{1,100})?(?:;[\w=.-]{1,60})*;base64,)/i

const mark = (type: string): string => (/^[a-z_]{1,40}$/.test(type) ? type : "something else")

/** The name of a thread in the metadata of a request. */
export const threadName = (metadata: { readonly [key: string]: string } | null | undefined) => {
  const name = metadata?.["troupe_thread"]
  return name === "" ? undefined : name
}
