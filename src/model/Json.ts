/** JSON text from and to values, without exceptions. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as JsonDepth from "../JsonDepth.ts"

const UnknownFromJson = Schema.fromJsonString(Schema.Unknown)

const decode = Schema.decodeUnknownOption(UnknownFromJson)

/** The value of a JSON text, or none when it is not JSON, or so deep that reading it would stop everything else. */
export const parse = (text: string): Option.Option<unknown> => (JsonDepth.exceeds(text) ? Option.none() : decode(text))

/** The JSON text of a value, or none when it has none. */
export const stringify = Schema.encodeUnknownOption(UnknownFromJson)
