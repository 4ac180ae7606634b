/** The settings schema read as an outline: which keys there are, what they take, and what they mean. */
import * as SchemaAST from "effect/SchemaAST"
import * as Key from "./Key.ts"
import type { Path } from "./Rule.ts"

/** One key of a table, or the kind of item that every key of an open table holds (its name is then the placeholder). */
export interface Entry {
  readonly name: string
  /** Whether the name is the user's choice. */
  readonly open: boolean
  readonly notes: Key.KeyNotes | undefined
  readonly type: SchemaAST.AST
}

/** The keys of a table in the order of the schema; empty for anything that is not a table. */
export const entries = (type: SchemaAST.AST): ReadonlyArray<Entry> => {
  if (!SchemaAST.isObjects(type)) return []
  const placeholder = notesOf(type)?.placeholder ?? "name"
  return [
    ...type.propertySignatures.map((property) => ({
      name: String(property.name),
      open: false,
      notes: notesOf(property.type),
      type: property.type
    })),
    ...type.indexSignatures.map((index) => ({
      name: placeholder,
      open: true,
      notes: notesOf(index.type),
      type: index.type
    }))
  ]
}

/** Whether an entry is a section of its own (`[section]`), not a value; tables of plain values count as values. */
export const isSection = (entry: Entry): boolean =>
  SchemaAST.isObjects(entry.type) &&
  (entry.type.propertySignatures.length > 0 ||
    entry.type.indexSignatures.some((index) => SchemaAST.isObjects(index.type)))

/** What a kind of value takes, in words. */
export const expected = (type: SchemaAST.AST): string => {
  const words = SchemaAST.resolve(type)?.["expected"]
  return typeof words === "string" ? words : "another kind of value"
}

/** The part of the schema that describes what stands at a path, if there is one. */
export const at = (type: SchemaAST.AST, path: Path): SchemaAST.AST | undefined =>
  path.reduce<SchemaAST.AST | undefined>((inside, key) => {
    if (inside === undefined) return undefined
    if (SchemaAST.isArrays(inside)) return inside.elements[Number(key)] ?? inside.rest[0]
    if (!SchemaAST.isObjects(inside)) return undefined
    return inside.propertySignatures.find((property) => property.name === key)?.type ?? inside.indexSignatures[0]?.type
  }, type)

/** Where keys of this name exist, as dotted paths; below open tables the placeholder stands in the path. */
export const find = (type: SchemaAST.AST, name: string, inside = ""): ReadonlyArray<string> =>
  entries(type).flatMap((entry) => {
    const here = inside + (entry.open ? `<${entry.name}>` : entry.name)
    const below = find(entry.type, name, `${here}.`)
    return !entry.open && entry.name === name ? [here].concat(below) : below
  })

const notesOf = (type: SchemaAST.AST): Key.KeyNotes | undefined => {
  const notes = type.context?.annotations?.[Key.notesKey]
  return notes instanceof Key.KeyNotes ? notes : undefined
}
