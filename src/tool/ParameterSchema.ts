/** The JSON Schema of a tool's parameters, as models are shown it: closed, inline, without what only a validator needs. */
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"

/** Of type object, with `additionalProperties: false` throughout. Definitions are kept only where a schema is recursive. */
export const toJsonSchema = (parameters: Schema.Constraint): JsonSchema.JsonSchema => {
  const document = Schema.toJsonSchemaDocument(parameters, {
    onExcessProperty: "error",
    referencePolicy: () => undefined
  })
  const schema = simplify(document.schema)
  const definitions = Object.entries(document.definitions).map(([name, inner]) => [name, simplify(inner)] as const)
  return {
    ...(schema["type"] === "object" ? schema : empty),
    ...(definitions.length === 0 ? {} : { $defs: Object.fromEntries(definitions) })
  }
}

/** What a tool without parameters takes. */
const empty: JsonSchema.JsonSchema = { type: "object", properties: {}, additionalProperties: false }

const simplify = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const entries = Object.entries(schema).filter(([key, value]) => !isNoise(key, value))
  return Object.fromEntries(entries.map(([key, value]) => [key, simplifyInside(value)] as const))
}

const simplifyInside = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(simplifyInside)
  return isRecord(value) ? simplify(value) : value
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The bounds of what a number can hold exactly: true of every integer, and noise to a model. */
const isNoise = (key: string, value: unknown): boolean =>
  (key === "maximum" && value === Number.MAX_SAFE_INTEGER) || (key === "minimum" && value === Number.MIN_SAFE_INTEGER)
