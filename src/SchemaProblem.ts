/**
 * What is wrong with a value that came from outside, in one sentence: the field, what may stand there, and what kind of
 * thing was found. Never the value itself, which may be long or secret.
 */
import * as Predicate from "effect/Predicate"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Suggest from "./config/Suggest.ts"

export interface Described {
  /** Such as `messages[0].content`; null for the value as a whole. */
  readonly field: string | null
  readonly text: string
}

/** The first problem of a value that its schema refused. */
export const describe = (issue: SchemaIssue.Issue, input: unknown): Described => {
  const [first] = format(issue).issues
  const path = (first?.path ?? []).map((step) => (typeof step === "object" ? step.key : step))
  const words = first?.message ?? "Expected another shape"
  const found = valueAt(input, path)
  const expected = words === "Missing key" ? "Expected this field" : words.replace(/, got .*$/s, "")
  const field = path.length === 0 ? null : pathText(path)
  return { field, text: `${field === null ? "" : `${field}: `}${expected}; found ${kindOf(found)}.` }
}

/** A field that stands where none of that name is known. */
export const unknownField = (path: ReadonlyArray<PropertyKey>, field: string, known: ReadonlyArray<string>): string => {
  const where = pathText([...path, clipped(field)])
  const fields = known.length === 0 ? "No field is taken here." : `The fields are ${known.join(", ")}.`
  return `${where}: There is no such field.${didYouMean(field, known)} ${fields}`
}

/** A hint to the nearest known word, with a space before it; nothing when none is near. */
export const didYouMean = (word: string, known: ReadonlyArray<string>): string => {
  const nearest = Suggest.nearest(word.slice(0, longestWord), known)
  return nearest === undefined ? "" : ` Did you mean ${nearest}?`
}

const pathText = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${String(step)}`))
    .join("")

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Longer words are not compared with known ones, and not repeated whole. */
const longestWord = 64

const clipped = (word: string): string => {
  const plain = word.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "�")
  return plain.length > longestWord ? `${plain.slice(0, longestWord).toWellFormed()}…` : plain
}

const valueAt = (input: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      Array.isArray(value)
        ? typeof step === "number"
          ? value[step]
          : undefined
        : Predicate.isObject(value) && Object.hasOwn(value, step)
          ? value[step]
          : undefined,
    input
  )

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  switch (typeof value) {
    case "undefined":
      return "nothing"
    case "string":
      return value === "" ? "an empty text" : `a text of ${value.length} character${value.length === 1 ? "" : "s"}`
    case "number":
      return "a number"
    case "boolean":
      return `${value}`
    default:
      return "an object"
  }
}
