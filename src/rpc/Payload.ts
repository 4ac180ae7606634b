/**
 * What is wrong with the payload of a call, in words that name the field. A field that no call knows is an error: whoever
 * misspells `externalId` must not lose what it does without a word.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaProblem from "../SchemaProblem.ts"
import { TroupeRpcs } from "./TroupeRpcs.ts"

/** Judges the payload of the call `tag`, as it came over the wire. Undefined when nothing is wrong with it. */
export const problemOf = (tag: string, payload: unknown): string | undefined => {
  const judge = judges.get(tag) ?? make(tag)
  return judge === undefined ? unknownCall(tag, [...TroupeRpcs.requests.keys()]) : judge(payload)
}

const unknownCall = (tag: string, calls: ReadonlyArray<string>): string =>
  `tag: Expected the name of a call.${SchemaProblem.didYouMean(tag, calls)} The calls are ${calls.join(", ")}.`

const judgeOf = (schema: Schema.Constraint) => {
  const codec = Schema.toCodecJson(schema)
  const decode = Schema.decodeUnknownResult(Schema.make<Schema.Decoder<unknown>>(codec.ast))
  const ast = SchemaAST.toEncoded(codec.ast)
  return (payload: unknown): string | undefined => {
    const unknown = unknownField(ast, payload, [])
    if (unknown !== undefined) return unknown
    const decoded = decode(payload)
    return decoded._tag === "Success" ? undefined : SchemaProblem.describe(decoded.failure.issue, payload).text
  }
}

/** Made when a call first comes: a client loads this module too, and judges one call or none. */
const judges = new Map<string, ReturnType<typeof judgeOf>>()

const make = (tag: string): ReturnType<typeof judgeOf> | undefined => {
  const rpc = new Map<string, { readonly payloadSchema: Schema.Constraint }>(TroupeRpcs.requests).get(tag)
  if (rpc === undefined) return undefined
  const judge = judgeOf(rpc.payloadSchema)
  judges.set(tag, judge)
  return judge
}

/** The first field of a value that its schema does not know. */
const unknownField = (ast: SchemaAST.AST, value: unknown, path: ReadonlyArray<PropertyKey>): string | undefined => {
  if (!Predicate.isObject(value)) return undefined
  switch (ast._tag) {
    case "Objects":
      return unknownFieldOf(ast, value, path)
    case "Union": {
      const found = ast.types.filter(SchemaAST.isObjects).map((type) => unknownField(type, value, path))
      return found.includes(undefined) ? undefined : found[0]
    }
    case "Void":
    case "Undefined":
    case "Null": {
      const [field] = Object.keys(value)
      return field === undefined ? undefined : SchemaProblem.unknownField(path, field, [])
    }
    default:
      return undefined
  }
}

const unknownFieldOf = (
  ast: SchemaAST.Objects,
  value: { readonly [key: PropertyKey]: unknown },
  path: ReadonlyArray<PropertyKey>
): string | undefined => {
  const known = ast.propertySignatures.map(({ name }) => String(name))
  const field = ast.indexSignatures.length > 0 ? undefined : Object.keys(value).find((key) => !known.includes(key))
  if (field !== undefined) return SchemaProblem.unknownField(path, field, known)
  for (const { name, type } of ast.propertySignatures) {
    const problem = unknownField(type, value[name], [...path, name])
    if (problem !== undefined) return problem
  }
  return undefined
}
