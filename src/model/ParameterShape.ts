/**
 * The JSON Schema of a tool's parameters in the shape that a family of models takes.
 *
 * What a shape leaves out is still checked when the call comes: the tool reads its arguments by the whole schema, and takes
 * `null` for an optional parameter that was left out.
 */
import type * as JsonSchema from "effect/JsonSchema"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { ToolSchemas } from "./ModelTable.ts"

/** Parameters as they are sent. `strict` says whether the provider is to hold the model to them. */
export interface Shaped {
  readonly strict: boolean
  readonly schema: JsonSchema.JsonSchema
}

/** A schema that cannot be said strictly, such as one with keys of the model's choice, is sent relaxed. */
export const shape = (schema: JsonSchema.JsonSchema, as: ToolSchemas): Shaped => {
  if (as === "plain") return { strict: false, schema: relax(schema, keepClosed) }
  const strict = as === "strict" ? strictly(schema) : Option.none()
  return Option.match(strict, {
    onNone: () => ({ strict: false, schema: relax(schema, as === "strict" ? keepClosed : openNullable) }),
    onSome: (found) => ({ strict: true, schema: found })
  })
}

type Schema = { readonly [key: string]: unknown }

const isSchema = (value: unknown): value is Schema => Predicate.isObject(value) && !Array.isArray(value)

/** Applies a change to every schema inside, below the keywords that hold schemas. */
const mapInside = (schema: Schema, change: (inner: Schema) => Schema): Schema =>
  Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (mapsOfSchemas.has(key) && isSchema(value)) {
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isSchema(one) ? change(one) : one]))
        ]
      }
      if (listsOfSchemas.has(key) && Array.isArray(value)) {
        return [key, value.map((one: unknown) => (isSchema(one) ? change(one) : one))]
      }
      return [key, singleSchemas.has(key) && isSchema(value) ? change(value) : value]
    })
  )

const mapsOfSchemas = new Set(["properties", "patternProperties", "$defs", "definitions"])
const listsOfSchemas = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
const singleSchemas = new Set(["items", "additionalProperties", "not"])

// ---------------------------------------------------------------------------------------------------------------------
// Relaxed

type Loosen = (schema: Schema) => Schema

/** Several servers refuse a `$ref` that has neighbours. */
const relax = (schema: JsonSchema.JsonSchema, loosen: Loosen): JsonSchema.JsonSchema => {
  const walk = (inner: Schema): Schema =>
    typeof inner["$ref"] === "string" ? { $ref: inner["$ref"] } : loosen(mapInside(inner, walk))
  const { $schema: _, ...rest } = schema
  return loosen(mapInside(rest, walk))
}

const keepClosed: Loosen = (schema) => schema

/** Without `additionalProperties: false`, and with nothing required that may be null. */
const openNullable: Loosen = (schema) => {
  if (schema["type"] !== "object") return schema
  const { additionalProperties, required, ...rest } = schema
  const properties = isSchema(rest["properties"]) ? rest["properties"] : {}
  const needed = Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && !takesNull(properties[name]))
    : []
  return {
    ...rest,
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(needed.length === 0 ? {} : { required: needed })
  }
}

const takesNull = (schema: unknown): boolean => {
  if (!isSchema(schema)) return false
  const type = schema["type"]
  if (type === "null" || (Array.isArray(type) && type.includes("null"))) return true
  return ["anyOf", "oneOf"].some((key) => {
    const members = schema[key]
    return Array.isArray(members) && members.some(takesNull)
  })
}

// ---------------------------------------------------------------------------------------------------------------------
// Strict

/** Deeper than this, and with more properties, strict schemas are refused. */
const deepest = 10
const mostProperties = 5000

const strictly = (schema: JsonSchema.JsonSchema): Option.Option<JsonSchema.JsonSchema> => {
  if (schema["type"] !== "object" || isSchema(schema["definitions"])) return Option.none()
  let properties = 0
  const walk = (inner: unknown, depth: number): Option.Option<Schema> => {
    if (!isSchema(inner) || depth > deepest) return Option.none()
    if (typeof inner["$ref"] === "string") return Option.some({ $ref: inner["$ref"] })
    const members = membersOf(inner)
    if (Option.isNone(members)) return Option.none()
    if (members.value.length > 0) return strictUnion(inner, members.value, depth)
    return strictType(inner, depth)
  }

  const strictUnion = (inner: Schema, members: ReadonlyArray<unknown>, depth: number): Option.Option<Schema> =>
    Option.map(Option.all(members.map((member) => walk(member, depth))), (anyOf) => ({ ...described(inner), anyOf }))

  const strictType = (inner: Schema, depth: number): Option.Option<Schema> => {
    const type = inner["type"]
    const types: ReadonlyArray<unknown> = Array.isArray(type) ? type : type === undefined ? [] : [type]
    if (types.includes("object")) return types.length > 1 ? Option.none() : strictObject(inner, depth)
    if (types.includes("array")) {
      return Option.map(walk(inner["items"], depth + 1), (items) => ({ ...only(inner, arrayKeys), type, items }))
    }
    const closed = types.length > 0 || Array.isArray(inner["enum"]) || inner["const"] !== undefined
    return closed ? Option.some(only(inner, scalarKeys)) : Option.none()
  }

  const strictObject = (inner: Schema, depth: number): Option.Option<Schema> => {
    const named = inner["properties"]
    const open = inner["additionalProperties"] ?? !isSchema(named)
    if (open !== false || isSchema(inner["patternProperties"])) return Option.none()
    const fields = Object.entries(isSchema(named) ? named : {})
    properties += fields.length
    if (properties > mostProperties) return Option.none()
    const required: ReadonlyArray<unknown> = Array.isArray(inner["required"]) ? inner["required"] : []
    const strict = fields.map(([name, field]) =>
      Option.map(walk(field, depth + 1), (one) => [name, required.includes(name) ? one : nullable(one)] as const)
    )
    return Option.map(Option.all(strict), (all) => ({
      ...described(inner),
      type: "object",
      properties: Object.fromEntries(all),
      required: fields.map(([name]) => name),
      additionalProperties: false
    }))
  }

  const definitions = Object.entries(isSchema(schema["$defs"]) ? schema["$defs"] : {}).map(([name, inner]) =>
    Option.map(walk(inner, 1), (one) => [name, one] as const)
  )
  return Option.flatMap(Option.all(definitions), (defs) =>
    Option.map(walk(schema, 0), (root) => (defs.length === 0 ? root : { ...root, $defs: Object.fromEntries(defs) }))
  )
}

/** Members of a union, none where there is no union; nothing where several unions or conditions would have to hold at once. */
const membersOf = (schema: Schema): Option.Option<ReadonlyArray<unknown>> => {
  const unions = ["anyOf", "oneOf"].flatMap((key) => (Array.isArray(schema[key]) ? [schema[key]] : []))
  const conditions = Array.isArray(schema["allOf"]) ? schema["allOf"] : []
  const bounds = conditions.every((one) => isSchema(one) && !structural.some((key) => key in one))
  const [members = []] = unions
  const both = members.length > 0 && ("properties" in schema || "items" in schema)
  return unions.length > 1 || both || !bounds || "not" in schema ? Option.none() : Option.some(members)
}

const structural = ["type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "not", "enum", "const"]

const nullable = (schema: Schema): Schema => {
  if (takesNull(schema)) return schema
  const { type } = schema
  // An object or a list of fixed values must not lose what it says beside its type.
  if (
    typeof type === "string" &&
    type !== "object" &&
    type !== "array" &&
    !("enum" in schema) &&
    !("const" in schema)
  ) {
    return { ...schema, type: [type, "null"] }
  }
  const { description, ...rest } = schema
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] }
}

const described = (schema: Schema): Schema => only(schema, ["description"])

const only = (schema: Schema, keys: ReadonlyArray<string>): Schema =>
  Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])))

const arrayKeys = ["description", "minItems", "maxItems"]
const scalarKeys = [
  "description",
  "type",
  "enum",
  "const",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf"
]
