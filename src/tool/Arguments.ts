/**
 * Reading the arguments of a tool call as a model wrote them.
 *
 * Lenient about how, never about what: code fences, Python's way of writing a dict and closing braces that are missing at
 * the very end are understood. What would need a guess is refused: a text, a number or a list that is cut, a key that is
 * there twice, a number that cannot be held exactly.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Literal from "./Literal.ts"
import * as Redaction from "./Redaction.ts"

export type JsonObject = { readonly [key: string]: Schema.Json }

/** The longest text that is read, in UTF-16 units. */
export const maxLength = 2_000_000
const previewLength = 220

/** The argument object, or in words why there is none. The words hold a short preview without secrets. */
export const read = (written: string): Result.Result<JsonObject, string> => {
  if (written.length > maxLength) {
    return Result.fail(`they are ${written.length} characters long; at most ${maxLength} are read`)
  }
  const text = withoutFence(written.trim())
  if (text === "") return Result.succeed({})
  const json = Literal.parse(text, "json")
  const parsed = Result.isSuccess(json)
    ? json
    : Result.mapError(Literal.parse(text, "python"), (problem) =>
        // The first reading explains itself better where the text is meant to be JSON.
        looksLikePython(text) ? problem : json.failure
      )
  return Result.flatMap(
    Result.mapError(parsed, ({ at, problem }) => `${problem} at character ${at + 1}. Written was: ${preview(written)}`),
    (value) =>
      isObject(value)
        ? Result.succeed(value)
        : Result.fail(`an object is needed, not ${kindOf(value)}. Written was: ${preview(written)}`)
  )
}

/** Removes nulls that stand for optional parameters left out, at any depth. A null that the parameter takes as a value stays. */
export const dropNulls = (codec: SchemaAST.AST, parameters: JsonObject): JsonObject =>
  dropNullFields(SchemaAST.toEncoded(codec), parameters)

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const isObject = (value: Schema.Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const kindOf = (value: Schema.Json): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`

const fence = /^```[^\S\n]*[\w+-]*[^\S\n]*\n/

const withoutFence = (text: string): string => {
  const open = fence.exec(text)
  if (open === null) return text
  const inside = text.slice(open[0].length)
  return (inside.endsWith("```") ? inside.slice(0, -3) : inside).trim()
}

const looksLikePython = (text: string): boolean => /^\{\s*'/.test(text)

const preview = (written: string): string => {
  const shown = Redaction.cutAtSecret(written.slice(0, previewLength * 2)).replace(/\s+/gu, " ")
  return Redaction.clip(Redaction.visible(shown), previewLength)
}

const dropNullFields = (ast: SchemaAST.AST, value: JsonObject): JsonObject => {
  if (!SchemaAST.isObjects(ast)) return value
  const fields = new Map(ast.propertySignatures.map((field) => [field.name, field.type] as const))
  const kept: Array<readonly [string, Schema.Json]> = []
  for (const [key, item] of Object.entries(value)) {
    const field = fields.get(key)
    if (item === null && field !== undefined && SchemaAST.isOptional(field) && !takesNull(field)) continue
    kept.push([key, field === undefined ? item : dropInside(field, item)])
  }
  return Object.fromEntries(kept)
}

const dropInside = (ast: SchemaAST.AST, value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) {
    const item = SchemaAST.isArrays(ast) ? ast.rest[0] : undefined
    return item === undefined ? value : value.map((one) => dropInside(item, one))
  }
  return isObject(value) ? dropNullFields(ast, value) : value
}

const takesNull = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isUnion(ast)
    ? ast.types.some(takesNull)
    : SchemaAST.isNull(ast) ||
      SchemaAST.isUnknown(ast) ||
      SchemaAST.isAny(ast) ||
      SchemaAST.isSuspend(ast) ||
      SchemaAST.isDeclaration(ast)
