/** JSON text from and to values, without exceptions. */
import * as Schema from "effect/Schema"

const UnknownFromJson = Schema.fromJsonString(Schema.Unknown)

/** The value of a JSON text, or none when it is not JSON. */
export const parse = Schema.decodeUnknownOption(UnknownFromJson)

/** The JSON text of a value, or none when it has none. */
export const stringify = Schema.encodeUnknownOption(UnknownFromJson)
