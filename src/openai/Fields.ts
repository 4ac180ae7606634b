/** Reading what a client sent: leniently where it does not matter, with the name of the field where it does. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
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

/** A part of a message. What the other kinds of parts hold is not looked at. */
const Part = Schema.Struct({
  type: Schema.String,
  text: maybe(Schema.String),
  refusal: maybe(Schema.String)
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
        .filter(
          ([name, value]) => value !== null && value !== undefined && !read.has(name) && /^[a-z_]{1,40}$/.test(name)
        )
        .map(([name]) => name)
    : []

/**
 * The text of a message's content. Pictures, sounds and files cannot be looked at: as something to answer they are refused;
 * in what was said before, a mark stands in their place.
 */
export const textOf = (content: Content, param: string, asMark: boolean): Effect.Effect<string, Problem.Problem> => {
  if (typeof content === "string") return Effect.succeed(content)
  const bad = asMark ? -1 : content.findIndex((part) => wordsOf(part) === undefined)
  const kind = content[bad]?.type
  return kind === undefined
    ? Effect.succeed(content.map((part) => wordsOf(part) ?? `[${mark(part.type)}]`).join(""))
    : Effect.fail(
        Problem.invalid(
          `${param}[${bad}]`,
          `${param}[${bad}]: Expected a part of text. Parts of the kind ${JSON.stringify(mark(kind))} cannot be read here.`,
          "unsupported_content"
        )
      )
}

const wordsOf = ({ refusal, text, type }: Part): string | undefined => {
  if (type === "text" || type === "input_text" || type === "output_text") return text ?? ""
  return type === "refusal" ? (refusal ?? "") : undefined
}

const mark = (type: string): string => (/^[a-z_]{1,40}$/.test(type) ? type : "something else")

/** The name of a thread in the metadata of a request. */
export const threadName = (metadata: { readonly [key: string]: string } | null | undefined) => {
  const name = metadata?.["troupe_thread"]
  return name === "" ? undefined : name
}
