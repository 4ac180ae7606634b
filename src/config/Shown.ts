/** What of a setting may be shown to people. Each kind of value says so in its schema; of one that does not, nothing is shown. */
import * as SchemaAST from "effect/SchemaAST"
import * as Document from "./Document.ts"
import * as Outline from "./Outline.ts"

/** Makes of a value, as it would be written in the file, what may be shown of it. */
export type Shown = (encoded: unknown) => unknown

/** The annotation that holds what may be shown of a kind of value. */
export const shownKey = "troupe/config/shown"

/** Stands for what is not shown. */
const mask = "***"

/** All of it. */
export const whole: Shown = (encoded) => encoded

/** Some providers are given their key in the query of the address. What follows the path is masked as a whole. */
export const address: Shown = (encoded) =>
  typeof encoded === "string" ? encoded.replace(/[?#].*$/s, `?${mask}`) : nothing(encoded)

/** Only whether it is given. */
export const nothing: Shown = (encoded) => (encoded === "" ? "" : mask)

/** A document as it may be shown, by what the schema says of the place where each value stands. */
export const shown = (type: SchemaAST.AST | undefined, encoded: unknown): unknown => {
  if (Array.isArray(encoded)) return encoded.map((item: unknown, index) => shown(inside(type, index), item))
  if (!Document.isTable(encoded)) return ruleOf(type)(encoded)
  return Object.fromEntries(
    Object.entries(encoded).map(([key, value]) => [key, shown(inside(type, key), value)] as const)
  )
}

const inside = (type: SchemaAST.AST | undefined, key: string | number): SchemaAST.AST | undefined =>
  type === undefined ? undefined : Outline.at(type, [key])

const ruleOf = (type: SchemaAST.AST | undefined): Shown => {
  const rule = type === undefined ? undefined : SchemaAST.resolve(type)?.[shownKey]
  return isShown(rule) ? rule : nothing
}

const isShown = (rule: unknown): rule is Shown => typeof rule === "function"
