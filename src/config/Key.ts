/**
 * How a section of the settings file is written down: every key with its kind of value, its default and one line of
 * meaning. The example file, the reference tables, the decoder and the error messages are all read from these.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What is known of a key beside its kind of value. */
export class KeyNotes extends Data.Class<{
  /** One line: what the key does, and its unit. */
  readonly meaning: string
  /** What applies when the key is absent, as it would be written in the file; `undefined` where there is no default. */
  readonly fallback: unknown
  /** For a key without a default: what it may look like in the file. */
  readonly example: unknown
  /** For tables with names of the user's choice: the word for the name in the tables of the documents. */
  readonly placeholder: string | undefined
}> {}

/** The annotation that holds the notes of a key. */
export const notesKey = "troupe/config/key"

/** A key with a default, given as it would be written in the file. A section is a key whose default is the empty table. */
export const key = <S extends Schema.Top>(
  schema: S,
  fallback: S["Encoded"],
  meaning: string,
  options?: { readonly placeholder: string }
) =>
  schema
    .pipe(Schema.withDecodingDefaultKey<S>(Effect.succeed(fallback)))
    .annotateKey(annotations({ meaning, fallback, example: undefined, placeholder: options?.placeholder }))

/** A key that may be left out and has no default. The example, as written in the file, is for the example file only. */
export const optional = <S extends Schema.Top>(schema: S, example: S["Encoded"], meaning: string) =>
  Schema.optionalKey(schema).annotateKey(annotations({ meaning, fallback: undefined, example, placeholder: undefined }))

/** What a section holds: a table with fixed keys. */
export const table = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotate({ expected: "a table" })

/** Tables with names of the user's choice, all of the same kind. */
export const tables = <S extends Schema.Top>(item: S) =>
  Schema.Record(Schema.String, item).annotate({ expected: "a table" })

const annotations = (notes: ConstructorParameters<typeof KeyNotes>[0]) => ({
  description: notes.meaning,
  [notesKey]: new KeyNotes(notes)
})
