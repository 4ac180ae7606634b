/**
 * A settings document before decoding: tables, lists and plain values of unknown kinds. Nothing here changes its input.
 * What walks a document calls itself for each level; `shallow` comes first and bounds how many there are.
 */
import type { Finding, Path } from "./Rule.ts"

/** A table: an object that stands for keys and values, not for a list, a date or a secret. */
export const isTable = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Object]"

/** What stands at a path; `undefined` if nothing does. */
export const get = (document: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return typeof key === "number" ? at[key] : undefined
    return isTable(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, document)

/** How many tables and lists may stand inside each other: more than any settings have, and far from the depth of the stack. */
const deepest = 16

/** The document without what is nested deeper than any setting is, and a finding for each place where something was cut. */
export const shallow = (
  document: unknown
): { readonly document: unknown; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = []
  const copy = (value: unknown, path: Path): unknown => {
    if (!Array.isArray(value) && !isTable(value)) return value
    if (path.length === deepest) {
      findings.push({
        path,
        found: `tables or lists inside each other, more than ${deepest} deep`,
        expected: "a value, or a table of values"
      })
      return undefined
    }
    if (Array.isArray(value)) return value.map((item: unknown, index) => copy(item, [...path, index]))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, [...path, key])] as const))
  }
  return { document: copy(document, []), findings }
}

/**
 * The document without what stands at these paths. A list loses more than the item: the whole list goes, since what is left
 * of it would mean something else. What the paths do not touch is kept as it is.
 */
export const without = (document: unknown, paths: ReadonlyArray<Path>): unknown => {
  if (!isTable(document) || paths.length === 0) return document
  const below = new Map<string | number, Array<Path>>()
  for (const [key, ...rest] of paths) {
    if (key === undefined) continue
    const inside = below.get(key)
    if (inside === undefined) below.set(key, [rest])
    else inside.push(rest)
  }
  return Object.fromEntries(
    Object.entries(document).flatMap(([key, value]): ReadonlyArray<readonly [string, unknown]> => {
      const inside = below.get(key)
      if (inside === undefined) return [[key, value]]
      return inside.some((path) => path.length === 0 || !isTable(value)) ? [] : [[key, without(value, inside)]]
    })
  )
}

/** A copy in which every value that is neither a table nor a list is replaced. */
export const mapValues = (
  document: unknown,
  change: (value: unknown, path: Path) => unknown,
  path: Path = []
): unknown => {
  if (Array.isArray(document)) return document.map((item: unknown, index) => mapValues(item, change, [...path, index]))
  if (!isTable(document)) return change(document, path)
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [key, mapValues(value, change, [...path, key])] as const)
  )
}

/** Every path of the document, tables and lists before what they hold. */
export function* allPaths(document: unknown, path: Path = []): Generator<Path> {
  yield path
  if (Array.isArray(document)) for (const [index, item] of document.entries()) yield* allPaths(item, [...path, index])
  else if (isTable(document))
    for (const [key, value] of Object.entries(document)) yield* allPaths(value, [...path, key])
}

/** The kind of a value in words, fit for an error message: it tells nothing else about the value. */
export const kindOf = (value: unknown): string => {
  switch (typeof value) {
    case "undefined":
      return "nothing"
    case "string":
      return value.trim() === "" ? "an empty text" : "a text"
    case "boolean":
      return "a boolean"
    case "bigint":
      return "a whole number too large to be exact"
    case "number":
      return numberKind(value)
    default:
      if (Array.isArray(value)) return "a list"
      if (value instanceof Date) return "a date or time"
      return isTable(value) ? "a table" : "a value of another kind"
  }
}

const numberKind = (value: number): string => {
  if (Number.isNaN(value)) return "not a number (nan)"
  if (!Number.isFinite(value)) return "infinity"
  return `${value < 0 ? "a negative" : "a"} ${Number.isInteger(value) ? "whole number" : "number with a fraction"}`
}

/** A path as it would be written in the file: `tools.wait.enabled`, `http.allowed_origins[0]`, `providers."my host".models`. */
export const formatPath = (path: Path): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    return text === "" ? formatKey(key) : `${text}.${formatKey(key)}`
  }, "")

const longestKey = 60

const formatKey = (key: string): string =>
  /^[A-Za-z0-9_-]{1,60}$/.test(key)
    ? key
    : JSON.stringify(key.length <= longestKey ? key : `${key.slice(0, longestKey)}…`).replaceAll(
        unprintable,
        (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
      )

/** What JSON leaves as it is and a terminal would obey: more control characters, and marks that turn the direction of text. */
const unprintable = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]/gu
