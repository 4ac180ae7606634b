/** The edge to the TOML library: its exceptions become values, and nothing of the text gets into a problem. */
import * as Effect from "effect/Effect"
import * as Toml from "smol-toml"
import type { Problem } from "../../src/config/ConfigError.ts"

/** Parses a document into tables without a prototype. Whole numbers too large to be exact stay `bigint`. */
export const parse = (text: string): Effect.Effect<unknown, Problem> =>
  Effect.try({
    try: (): unknown => Toml.parse(text, { integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" }),
    catch: syntaxProblem
  })

/** A line `key = value`, without its end. The value is a text, a number, a switch, or a list of those. */
export const formatLine = (key: string, value: unknown): string => `${formatKey(key)} = ${formatValue(value)}`

/** A key as it is written in a line or in a table header. */
export const formatKey = (key: string): string =>
  Toml.stringify({ [key]: 0 })
    .trimEnd()
    .slice(0, -" = 0".length)

/** A value as it is written in a line. */
export const formatValue = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(formatValue).join(", ")}]`
    : Toml.stringify({ x: value }).trimEnd().slice("x = ".length)

/** The library's message is one of its own phrases, followed by a piece of the text, which may hold a secret and is cut off. */
const syntaxProblem = (cause: unknown): Problem => {
  const problem = { path: "", expected: "valid TOML" }
  if (!(cause instanceof Toml.TomlError)) return { ...problem, found: "text that cannot be parsed" }
  const reason = cause.message.split("\n", 1)[0]?.replace("Invalid TOML document: ", "") ?? ""
  const place = { line: cause.line, column: cause.column }
  // Most often a text without its quotes.
  const hint = reason === "invalid value" ? { hint: 'a text stands in quotes: key = "text"' } : {}
  return { ...problem, found: `a syntax error: ${reason}`, ...place, ...hint }
}
