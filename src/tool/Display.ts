/**
 * How a tool call is shown to people: one line for progress, blocks of text for a question. Both are safe to show as they
 * are: no value under a secret's name, no character that is invisible or reorders text, no more than so many characters.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Arguments from "./Arguments.ts"
import type { JsonObject } from "./Arguments.ts"
import * as Redaction from "./Redaction.ts"
import type * as Tool from "./Tool.ts"

const valueLimit = 100
const lineLimit = 160
const fallbackArguments = 3
const nameLimit = 200
const blockLimit = 1000
const questionLimit = 3000
/** More of a text is never looked at, so that showing it costs the same however long it is. */
const scanLimit = 4000
/** Longer arguments are not read for the sake of one line. */
const writtenLimit = 100_000

/** The name of a tool as it may be shown; names of tools that do not exist are the model's own words. */
export const name = (tool: string): string => Redaction.clip(Redaction.visible(scanned(tool)), nameLimit)

/**
 * One line for progress: the name, and the arguments that the tool says identify a call, or the first three. Lists and
 * objects show their size only.
 */
export const line = (tool: Pick<Tool.Any, "name" | "identifiedBy">, parameters: JsonObject): string => {
  const given = Object.entries(parameters)
  const identifying = tool.identifiedBy.flatMap((key) => given.filter((entry) => entry[0] === key))
  const shown = tool.identifiedBy.length > 0 ? identifying : given.slice(0, fallbackArguments)
  return Redaction.clip([`\`${name(tool.name)}\``, ...shown.flatMap(part)].join(" "), lineLimit)
}

/**
 * The first three arguments, on one line, as a model wrote them: for whoever has the call and not its tool. What cannot be read
 * shows as it stands.
 */
export const written = (text: string): string => {
  const read = text.length > writtenLimit ? undefined : Result.getOrUndefined(Arguments.read(text))
  const shown =
    read === undefined
      ? oneLine(Redaction.cutAtSecret(scanned(text)))
      : Object.entries(read).slice(0, fallbackArguments).flatMap(part).join(" ")
  return Redaction.clip(shown, lineLimit)
}

const part = ([key, value]: readonly [string, Schema.Json]): ReadonlyArray<string> =>
  value === null ? [] : [`${keyText(key)}=${short(key, value)}`]

/** The same line for a call that failed, followed by the reason. */
export const failedLine = (detail: string, reason: string): string =>
  Redaction.clip(`${Redaction.clip(detail, lineLimit / 2)}: ${oneLine(reason)}`, lineLimit)

/** A failure's words on one line, with what looks like a secret masked. */
export const error = (message: string): string => Redaction.clip(oneLine(message), lineLimit)

/** Masks in a text whatever these parameters hold under a secret's name. */
export const withoutSecretsOf = (parameters: JsonObject): ((text: string) => string) => {
  const secrets = Array.from(secretTexts(parameters, false)).toSorted((left, right) => right.length - left.length)
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, "***"), text)
}

/**
 * The arguments as a question shows them: one block each, shortest first, so that a long text cannot push what matters
 * out of sight. A block shows at most 1000 characters and says how many it leaves out; the whole has at most 3000.
 */
export const question = (parameters: JsonObject): string => {
  const blocks = Object.entries(parameters).map(([key, value]) => capped(lines(key, value, 0).join("\n"), blockLimit))
  const shown = blocks.filter((block) => block !== "").toSorted((left, right) => left.length - right.length)
  return shown.length === 0 ? "(no arguments)" : capped(shown.join("\n"), questionLimit)
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

/** Shorter ones would mask half of every sentence. */
const shortestSecret = 4

const secretTexts = function* (value: Schema.Json, secret: boolean): Generator<string> {
  if (typeof value === "string") {
    if (secret && value.length >= shortestSecret) yield value
  } else if (Array.isArray(value)) {
    for (const item of value) yield* secretTexts(item, secret)
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* secretTexts(item, secret || Redaction.isSecretKey(key))
  }
}

const scanned = (text: string): string => Redaction.head(text, scanLimit).toWellFormed()

const oneLine = (text: string): string =>
  Redaction.visible(Redaction.inText(scanned(text)).replace(/\s+/gu, " ").trim())

const keyText = (key: string): string => Redaction.clip(Redaction.visible(scanned(key)), valueLimit)

const short = (key: string, value: Schema.Json): string => {
  if (Redaction.isSecretKey(key)) return "***"
  if (Array.isArray(value)) return `list(${value.length})`
  if (typeof value === "object" && value !== null) return `object(${Object.keys(value).length})`
  return Redaction.clip(oneLine(String(value)), valueLimit)
}

/** The lines of one argument; none for an empty value. */
const lines = (key: string, value: Schema.Json, depth: number): ReadonlyArray<string> => {
  const indent = "  ".repeat(depth)
  if (isEmpty(value)) return []
  if (Redaction.isSecretKey(key)) return [`${indent}${keyText(key)}: ***`]
  if (typeof value !== "object" || value === null) return [`${indent}${keyText(key)}: ${whole(String(value))}`]
  const inner = Array.isArray(value)
    ? value.flatMap((item) => lines("-", item, depth + 1))
    : Object.entries(value).flatMap(([inside, item]) => lines(inside, item, depth + 1))
  return inner.length === 0 ? [] : [`${indent}${keyText(key)}:`, ...inner]
}

const isEmpty = (value: Schema.Json): boolean =>
  value === null ||
  (typeof value === "string" && value.trim() === "") ||
  (typeof value === "object" && Object.keys(value).length === 0)

/** A text with its line breaks visible. A person decides on it, so only addresses are masked in it. */
const whole = (text: string): string =>
  text.length <= scanLimit
    ? Redaction.visible(Redaction.inAddresses(text.toWellFormed()))
    : capped(Redaction.visible(Redaction.inAddresses(scanned(text))), blockLimit, text.length - scanLimit)

/** At most `limit` characters, the count of those left out included. */
const capped = (text: string, limit: number, more = 0): string => {
  if (text.length <= limit && more === 0) return text
  const kept = Redaction.head(text, limit - 40)
  return `${kept}… (${text.length - kept.length + more} more characters)`
}
