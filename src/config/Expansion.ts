/**
 * References to environment variables in a settings document: `${NAME}` in any text, at any depth; `$${NAME}` stands for the
 * text `${NAME}`. Other notations (`$NAME`, `${NAME:-x}`) are plain text. Keys are never expanded, inserted text is not
 * expanded again, and since the document is already parsed, no value of a variable can change its structure.
 */
import * as Document from "./Document.ts"
import type { Finding, Path } from "./Rule.ts"

export interface Expanded {
  readonly document: unknown
  /** One finding for each reference to a variable that is not set. */
  readonly findings: ReadonlyArray<Finding>
  /** Names of the variables a value was made from, for error messages; `undefined` for a value without references. */
  readonly origin: (path: Path) => string | undefined
}

/** The names of all variables a document refers to. */
export const variables = (document: unknown): ReadonlySet<string> => {
  const names = new Set<string>()
  Document.mapValues(document, (value) => {
    if (typeof value === "string") for (const name of references(value)) names.add(name)
    return value
  })
  return names
}

/** The document with every reference replaced. A value that refers to an unset variable is kept as written, and reported. */
export const expand = (document: unknown, environment: ReadonlyMap<string, string>): Expanded => {
  const findings: Array<Finding> = []
  const origins = new Map<string, string>()
  const expanded = Document.mapValues(document, (value, path) => {
    if (typeof value !== "string") return value
    const names = references(value)
    const missing = names.filter((name) => !environment.has(name))
    findings.push(...missing.map((name) => unset(name, path)))
    if (names.length > 0)
      origins.set(Document.formatPath(path), `(from ${names.map((name) => `\${${name}}`).join(", ")})`)
    return missing.length > 0
      ? value
      : value.replace(reference, (written: string, name: string) =>
          written.startsWith("$$") ? written.slice(1) : (environment.get(name) ?? written)
        )
  })
  return { document: expanded, findings, origin: (path) => origins.get(Document.formatPath(path)) }
}

/** An escaped reference is matched too, so that it is stepped over as a whole. */
const reference = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

const references = (text: string): ReadonlyArray<string> => [
  ...new Set(
    Array.from(text.matchAll(reference)).flatMap(([written, name]) =>
      name === undefined || written.startsWith("$$") ? [] : [name]
    )
  )
]

const unset = (name: string, path: Path): Finding => ({
  path,
  found: `a reference to the environment variable ${name}, which is not set`,
  expected: "a variable that is set (it may be empty)",
  hint: `set ${name}, or write $\${${name}} if the text itself is meant`
})
