/**
 * Keeps secrets out of what is logged and shown: a list of the values that must never appear, and the words that mark a
 * field as secret whatever it holds.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Secrets from "./Secrets.ts"

export class Redactor extends Context.Service<
  Redactor,
  {
    /** From now on, this value is masked wherever it occurs. */
    readonly add: (secret: Redacted.Redacted) => Effect.Effect<void>
    /** The text with every known secret in it masked. */
    readonly text: (text: string) => string
    /** The same for every string inside a value; fields whose name sounds secret are masked whole. */
    readonly value: (value: unknown) => unknown
  }
>()("troupe/observability/Redactor") {
  /** Knows the secrets that are given; `Redactor.secretsIn(settings)` collects those of a settings table. */
  static readonly layer = (secrets: Iterable<Redacted.Redacted> = []): Layer.Layer<Redactor> =>
    Layer.effect(
      Redactor,
      Effect.sync(() => make(secrets))
    )
}

const make = (secrets: Iterable<Redacted.Redacted>): Redactor["Service"] => {
  const { add, text } = Secrets.make(secrets)
  return {
    add: (secret) => Effect.sync(() => add(secret)),
    text,
    value: (value) => redact(value, text, 0)
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

/** Deeper than this, and longer than this many items, nothing is logged. */
const deepest = 6
const widest = 100

const redact = (value: unknown, text: (input: string) => string, depth: number): unknown => {
  if (typeof value === "string") return text(value)
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") return text(String(value))
  if (!Predicate.isObject(value) && !Array.isArray(value)) return value
  if (Redacted.isRedacted(value)) return Secrets.mark
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
        soundsSecret(key) && inner !== "" ? Secrets.mark : redact(inner, text, depth + 1)
      ])
  )
}
