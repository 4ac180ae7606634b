/** Documents made from the settings schema: the example file, the reference tables, and the settings in force. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as Document from "../../src/config/Document.ts"
import * as Outline from "../../src/config/Outline.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import { schema } from "../../src/config/Settings.ts"
import * as Shown from "../../src/config/Shown.ts"
import * as Toml from "./Toml.ts"

// ---------------------------------------------------------------------------------------------------------------------
// The example file

/** `config.example.toml`: every key with its default and one line of meaning. Loading it gives exactly the defaults. */
export const exampleFile = (): string =>
  [
    "# Settings of Troupe, all with their defaults: copy the ones you change to config.toml.",
    "# Lines starting with # and no space are keys that have no default. Changes take effect at the next start.",
    "# Any text may hold ${NAME}, which is replaced by the environment variable of that name.",
    ...exampleTable(schema.ast, [], "")
  ].join("\n") + "\n"

/** The lines of a table: its values first, since in TOML what follows a sub-table belongs to that. */
const exampleTable = (type: SchemaAST.AST, path: ReadonlyArray<string>, commented: "" | "#"): ReadonlyArray<string> => {
  const [sections, values] = split(type)
  return [
    ...values.flatMap((entry) => exampleValue(entry, commented)),
    ...sections.flatMap((entry) => exampleSection(entry, path, commented))
  ]
}

const exampleSection = (
  entry: Outline.Entry,
  path: ReadonlyArray<string>,
  commented: "" | "#"
): ReadonlyArray<string> => {
  const here = [...path, entry.name]
  const title = `# ${meaning(entry)}`
  const item = itemOf(entry)
  if (item !== undefined) {
    const named = [...here, `my_${item.name}`]
    return ["", title, `#[${header(named)}]`, ...exampleTable(item.type, named, "#")]
  }
  const inner = exampleTable(entry.type, here, commented)
  // A table that only holds tables needs no header of its own.
  return split(entry.type)[1].length === 0 ? inner : ["", title, `${commented}[${header(here)}]`, ...inner]
}

const exampleValue = (entry: Outline.Entry, commented: "" | "#"): ReadonlyArray<string> => {
  const fallback = entry.notes?.fallback
  const value = fallback ?? entry.notes?.example
  const line = Document.isTable(value) ? `${entry.name} = {}` : Toml.formatLine(entry.name, value)
  return [`# ${meaning(entry)}${choices(entry)}`, `${fallback === undefined ? "#" : commented}${line}`]
}

/** The allowed words, for keys that take one of a few. */
const choices = (entry: Outline.Entry): string => {
  const expected = Outline.expected(entry.type)
  return expected.startsWith("one of ") ? ` O${expected.slice(1)}.` : ""
}

// ---------------------------------------------------------------------------------------------------------------------
// The reference tables

/** The tables of `docs/configuration.md`: one for each section. */
export const referenceTables = (): string =>
  sections()
    .map(({ text }) => text)
    .join("\n\n")

/** The reference of one section: what it is for, and its keys. */
export interface Section {
  /** As between the brackets of its header. */
  readonly name: string
  readonly text: string
}

/** The reference of every section. */
export const sections = (): ReadonlyArray<Section> => referenceSections(schema.ast, [])

/** A page with the tables between its two marks replaced by those of the schema; unchanged if it has no marks. */
export const intoPage = (page: string): string => between(page, referenceTables())

/** The page with other words in the place of the tables. */
export const withoutTables = (page: string, instead: string): string => between(page, instead)

const between = (page: string, text: string): string => {
  const start = page.indexOf(startMark)
  const end = page.indexOf(endMark)
  return start === -1 || end === -1
    ? page
    : `${page.slice(0, start + startMark.length)}\n\n${text}\n\n${page.slice(end)}`
}

const startMark = "<!-- reference: written by `npm run docs:config` -->"
const endMark = "<!-- end of reference -->"

const referenceSections = (type: SchemaAST.AST, path: ReadonlyArray<string>): ReadonlyArray<Section> =>
  split(type)[0].flatMap((entry) => referenceSection(entry, path))

const referenceSection = (entry: Outline.Entry, path: ReadonlyArray<string>): ReadonlyArray<Section> => {
  const item = itemOf(entry)
  const here = [...path, entry.name, ...(item === undefined ? [] : [`<${item.name}>`])]
  const table = item?.type ?? entry.type
  const name = here.join(".")
  const text = [`### \`[${name}]\`\n\n${meaning(entry)}`, ...referenceTable(table)].join("\n\n")
  return [{ name, text }, ...referenceSections(table, here)]
}

const referenceTable = (type: SchemaAST.AST): ReadonlyArray<string> => {
  const values = split(type)[1]
  return values.length === 0
    ? []
    : [["| Key | Value | Default | Meaning |", "| --- | --- | --- | --- |", ...values.map(referenceRow)].join("\n")]
}

const referenceRow = (entry: Outline.Entry): string => {
  const fallback = entry.notes?.fallback
  const shown = Document.isTable(fallback) ? "{}" : Toml.formatValue(fallback ?? "")
  return `| ${[
    code(entry.name),
    Outline.expected(entry.type),
    fallback === undefined ? "not set" : code(shown),
    meaning(entry)
  ]
    .map(cell)
    .join(" | ")} |`
}

const code = (text: string): string => `\`${text}\``

/** A `<` begins a tag and a `|` ends the cell, unless written otherwise. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/(?<!`[^`]*)<(?![^`]*`)/g, "\\<")

// ---------------------------------------------------------------------------------------------------------------------
// The settings in force

/** Settings as a TOML text with all keys that have a value; secrets that are set show as `***`. */
export const settingsText = Effect.fnUntraced(function* (settings: SettingsValue) {
  // What was decoded can be encoded: a failure would be a mistake in a schema.
  const encoded = yield* Effect.orDie(Schema.encodeEffect(schema)(settings))
  return settingsTable(schema.ast, [], Shown.shown(schema.ast, encoded)).join("\n").trimStart() + "\n"
})

const settingsTable = (type: SchemaAST.AST, path: ReadonlyArray<string>, table: unknown): ReadonlyArray<string> => {
  const [sections, values] = split(type)
  return [
    ...values.flatMap((entry) => settingsLines(entry.name, Document.get(table, [entry.name]))),
    ...sections.flatMap((entry) => settingsSection(entry, path, Document.get(table, [entry.name])))
  ]
}

const settingsSection = (entry: Outline.Entry, path: ReadonlyArray<string>, table: unknown): ReadonlyArray<string> => {
  const here = [...path, entry.name]
  const item = itemOf(entry)
  if (item === undefined) return settingsBlock(entry.type, here, table)
  const named = Object.entries(Document.isTable(table) ? table : {})
  return named.flatMap(([name, value]) => settingsBlock(item.type, [...here, name], value))
}

const settingsBlock = (type: SchemaAST.AST, path: ReadonlyArray<string>, table: unknown): ReadonlyArray<string> => [
  "",
  `[${header(path)}]`,
  ...settingsTable(type, path, table)
]

const settingsLines = (name: string, value: unknown): ReadonlyArray<string> => {
  if (value === undefined) return []
  if (!Document.isTable(value)) return [Toml.formatLine(name, value)]
  const lines = Object.entries(value).map(([key, inner]) => `${name}.${Toml.formatLine(key, inner)}`)
  return lines.length === 0 ? [`${name} = {}`] : lines
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const split = (type: SchemaAST.AST): readonly [sections: Array<Outline.Entry>, values: Array<Outline.Entry>] => {
  const entries = Outline.entries(type)
  return [entries.filter(Outline.isSection), entries.filter((entry) => !Outline.isSection(entry))]
}

/** For a section with tables of the user's choice (`[providers.<name>]`): what each of them holds. */
const itemOf = (entry: Outline.Entry): Outline.Entry | undefined =>
  Outline.entries(entry.type).find((inner) => inner.open)

const header = (path: ReadonlyArray<string>): string => path.map(Toml.formatKey).join(".")

const meaning = (entry: Outline.Entry): string => entry.notes?.meaning ?? ""
