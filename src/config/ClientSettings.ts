/**
 * What a command beside the daemon needs of the settings: where the data is, and the token that lets it in. It must not matter
 * to `troupe status` that a key of a provider is set in the daemon's shell only, so nothing else of the file is looked at.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ConfigError } from "./ConfigError.ts"
import * as Decode from "./Decode.ts"
import * as Document from "./Document.ts"
import * as Key from "./Key.ts"
import * as Http from "./sections/Http.ts"
import * as Storage from "./sections/Storage.ts"

const schema = Key.table({
  storage: Key.key(Key.table({ data_dir: Storage.dataDir }), {}, Storage.meaning),
  http: Key.key(Key.table({ auth_token: Http.authToken }), {}, Http.meaning)
})

type Value = typeof schema.Type

/** `[storage].data_dir` and `[http].auth_token`, under the names that they have in `Settings`. */
export class ClientSettings extends Context.Service<ClientSettings, Value>()("troupe/config/ClientSettings") {
  /** Given in code, checked as a file would be. */
  static readonly layer = (input: typeof schema.Encoded = {}): Layer.Layer<ClientSettings, ConfigError> =>
    Layer.effect(ClientSettings, decode(input, { source: "settings given in code" }))
}

/** The part of a document that this is about. */
export const part = (document: unknown): unknown => {
  if (!Document.isTable(document)) return document
  return Object.fromEntries([...only(document, "storage", "data_dir"), ...only(document, "http", "auth_token")])
}

const only = (
  document: { readonly [key: string]: unknown },
  section: string,
  key: string
): ReadonlyArray<readonly [string, unknown]> => {
  const table = Document.get(document, [section])
  if (table === undefined) return []
  if (!Document.isTable(table)) return [[section, table]]
  const value = Document.get(table, [key])
  return [[section, value === undefined ? {} : { [key]: value }]]
}

/** Decodes what `part` has left of a document. */
export const decode = (input: unknown, options: Decode.Options): Effect.Effect<Value, ConfigError> =>
  Decode.decode(schema, [], input, options)
