/**
 * The secrets that this process holds, and the masking of them in whatever leaves it: to a model, a person, a file, the store, the
 * log, a trace. Every writer asks here, in a place that many share, so that no tool has to think of it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { Settings } from "../config/Settings.ts"
import * as Masker from "./Masker.ts"
import * as Masking from "./Masking.ts"

export class KnownSecrets extends Context.Service<
  KnownSecrets,
  {
    /** From now on, this value is masked wherever it occurs. */
    readonly add: (secret: Redacted.Redacted) => Effect.Effect<void>
    /** The text with every known secret in it masked. */
    readonly text: (text: string) => string
    /** The same for a piece of a longer text: half a secret at its beginning or end is masked as well. */
    readonly piece: (text: string) => string
    /** The same for every string inside JSON, names of fields included. What holds none is given back as it is. */
    readonly json: (value: Schema.Json) => Schema.Json
    /** The same for an object. */
    readonly fields: (value: Schema.JsonObject) => Schema.JsonObject
    /** For the log: as `json`, of any value; fields whose name sounds secret are masked whole, and what is large is left out. */
    readonly value: (value: unknown) => unknown
    /** Masks a text that comes in pieces. */
    readonly texts: () => Masking.Masking<string>
    /** Masks bytes that come in pieces. */
    readonly bytes: () => Masking.Masking<Uint8Array>
  }
>()("troupe/secret/KnownSecrets") {
  /** Knows the secrets that are given. */
  static readonly layer = (secrets: Iterable<Redacted.Redacted> = []): Layer.Layer<KnownSecrets> =>
    Layer.effect(
      KnownSecrets,
      Effect.sync(() => make(secrets))
    )

  /** Knows the secrets of the settings. */
  static readonly layerSettings: Layer.Layer<KnownSecrets, never, Settings> = Layer.effect(
    KnownSecrets,
    Effect.map(Settings, (settings) => make(secretsIn(settings)))
  )
}

const make = (secrets: Iterable<Redacted.Redacted>): KnownSecrets["Service"] => {
  const masker = Masker.make(secrets)
  return {
    add: (secret) => Effect.sync(() => masker.add(secret)),
    text: masker.text,
    piece: masker.piece,
    json: (value) => maskJson(value, masker.piece),
    fields: (value) => maskFields(value, masker.piece),
    value: (value) => redact(value, masker.text, 0),
    texts: masker.texts,
    bytes: masker.bytes
  }
}
/** Every secret that a table of settings holds, at any depth. */
export const secretsIn = (value: unknown): ReadonlyArray<Redacted.Redacted> => {
  if (Redacted.isRedacted(value)) {
    const inner = Redacted.value(value)
    return typeof inner === "string" ? [Redacted.make(inner)] : []
  }
  if (Array.isArray(value)) return value.flatMap(secretsIn)
  return Predicate.isObject(value) ? Object.values(value).flatMap(secretsIn) : []
}

/** Whether a field of this name holds a secret. Counts (`maxTokens`, `inputTokens`) do not. */
const soundsSecret = (name: string): boolean =>
  /(^|[_\-.a-z])(password|passphrase|secret|api[_-]?key|authorization|cookie|credential|private[_-]?key)s?$/i.test(
    name
  ) || /(^|[_\-.])token$|[a-z]Token$/.test(name)

/** Whether an environment variable of this name holds a secret, such as `GITHUB_TOKEN`; not a path to one. */
export const isSecretVariable = (name: string): boolean =>
  /(?:^|_)(?:token|secret|passw(?:or)?d|passphrase|pwd|(?:api)?key|credentials?|pat|auth)$/i.test(name)

/** Deeper than this, and longer than this many items, nothing is logged. */
const deepest = 6
const widest = 100

const redact = (value: unknown, text: (input: string) => string, depth: number): unknown => {
  if (typeof value === "string") return text(value)
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") return text(String(value))
  if (!Predicate.isObject(value) && !Array.isArray(value)) return value
  if (Redacted.isRedacted(value)) return Masking.mark
  if (depth >= deepest) return "[…]"
  if (Array.isArray(value)) {
    const items = value.slice(0, widest).map((item) => redact(item, text, depth + 1))
    return value.length > widest ? [...items, `[${value.length - widest} more]`] : items
  }
  if (Predicate.isError(value)) return text(`${value.name}: ${value.message}`)
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, widest)
      .map(([key, inner]) => [
        text(key),
        soundsSecret(key) && inner !== "" ? Masking.mark : redact(inner, text, depth + 1)
      ])
  )
}

/** Each string may be a piece of something longer that a tool cut. */
const maskJson = (value: Schema.Json, text: (input: string) => string): Schema.Json => {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => maskJson(item, text))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  return isRecord(value) ? maskFields(value, text) : value
}

const maskFields = (value: Schema.JsonObject, text: (input: string) => string): Schema.JsonObject => {
  const entries = Object.entries(value)
  const masked = entries.map(([key, item]) => [text(key), maskJson(item, text)] as const)
  return masked.every(([key, item], index) => key === entries[index]?.[0] && item === entries[index]?.[1])
    ? value
    : Object.fromEntries(masked)
}

const isRecord = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
