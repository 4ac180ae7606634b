/**
 * How a section of the settings file is written down: every key with its kind of value, its default and one line of
 * meaning. The example file, the reference tables, the decoder and the error messages are all read from these.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** Set on every key of the settings file. */
      readonly "troupe/config/key"?: KeyNotes | undefined
    }
  }
}

/** What is known of a key beside its kind of value. */
export interface KeyNotes {
  /** One line: what the key does, and its unit. */
  readonly meaning: string
  /** What applies when the key is absent, as it would be written in the file; `undefined` where there is no default. */
  readonly fallback: unknown
  /** For tables with names of the user's choice: what stands for the name in the documents. */
  readonly placeholder?: string | undefined
}

/** A key with a default, given as it would be written in the file. A section is a key whose default is the empty table. */
export const key = <S extends Schema.Top>(
  schema: S,
  fallback: S["Encoded"],
  meaning: string,
  options?: { readonly placeholder: string }
) =>
  schema.pipe(Schema.withDecodingDefaultKey<S>(Effect.succeed(fallback))).annotateKey({
    "troupe/config/key": { meaning, fallback, placeholder: options?.placeholder }
  })

/** A key that may be left out and has no default. */
export const optional = <S extends Schema.Top>(schema: S, meaning: string) =>
  Schema.optionalKey(schema).annotateKey({ "troupe/config/key": { meaning, fallback: undefined } })

/** What a section holds: a table with fixed keys. */
export const table = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotate({ expected: "a table" })

/** Tables with names of the user's choice, all of the same kind. */
export const tables = <S extends Schema.Top>(item: S) =>
  Schema.Record(Schema.String, item).annotate({ expected: "a table" })
