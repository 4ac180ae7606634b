/** Recognises the same failing call when a model makes it again. */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Digest from "effect/crypto/Digest"

/** SHA-256, in hexadecimal, over the tool, its arguments whatever the order of their keys, the error's code and its words. */
export const make = Effect.fnUntraced(function* (failure: {
  readonly tool: string
  readonly arguments: Schema.Json
  readonly code: string
  readonly message: string
}) {
  const digest = yield* Digest.Digest
  const text = canonical([failure.tool, failure.arguments, failure.code, failure.message.trim()])
  return yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(text))
})

/** JSON with the keys of every object in order. */
export const canonical = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`
}
