/**
 * What the Responses adapter writes into the metadata of the parts it hands out, and reads again when they come back in a
 * history. It is for the model that wrote the parts, and for nobody else.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Origin from "../../src/model/Origin.ts"
import * as Fingerprint from "../Fingerprint.ts"

const key = "troupe"

/** One output item: its place in the response, and what it needs to be sent back as it was. */
const Item = Schema.Struct({
  ...Origin.fields,
  place: Schema.Int,
  id: Schema.optionalKey(Schema.String),
  phase: Schema.optionalKey(Schema.String),
  /** The id that the provider gave a call. Results are sent under it. */
  callId: Schema.optionalKey(Schema.String),
  summary: Schema.optionalKey(Schema.Array(Schema.Json)),
  content: Schema.optionalKey(Schema.Array(Schema.Json)),
  encrypted: Schema.optionalKey(Schema.String)
})
export type Item = typeof Item.Type

/** A response that the provider keeps: what was said before it and in it, as fingerprints. */
const Kept = Schema.Struct({
  ...Origin.fields,
  responseId: Schema.String,
  before: Schema.String,
  said: Schema.String
})
export type Kept = typeof Kept.Type

export const write = (tag: Item | Kept): { readonly [key]: Item | Kept } => ({ [key]: tag })

const decodeItem = Schema.decodeUnknownOption(Item)
const decodeKept = Schema.decodeUnknownOption(Kept)

const own =
  <A extends Origin.Origin>(decode: (value: unknown) => Option.Option<A>) =>
  (options: Prompt.ProviderOptions, reader: Origin.Origin): A | undefined =>
    Option.getOrUndefined(Option.filter(decode(options[key]), (tag) => Origin.same(tag, reader)))

/** The tag of a part that the reader wrote itself. */
export const itemOf = own(decodeItem)

/** The tag of a message that is a response which the reader's provider keeps. */
export const keptOf = own(decodeKept)

/**
 * The fingerprint of what a response says: its text but for blanks and what the border of the program cleans out, and how
 * many calls it makes.
 */
export const said = (text: string, calls: number): string =>
  Fingerprint.of(text.toWellFormed().replaceAll(/[\s\0\u{FFFD}]/gu, ""), String(calls))
