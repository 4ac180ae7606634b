/**
 * References to environment variables in a settings document: `${NAME}` in any text, at any depth; `$${NAME}` stands for the
 * text `${NAME}`. Other notations (`$NAME`, `${NAME:-x}`) are plain text. Keys are never expanded, inserted text is not
 * expanded again, and since the document is already parsed, no value of a variable can change its structure.
 *
 * A `${` that no `}` follows is a slip and refused; `$${` stands for it.
 *
 * `${secret:NAME}` is kept for secrets of a vault. As long as there is none, such a reference is refused: it would be sent
 * to a provider as the text that it is.
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
    const [closed, open] = split(value)
    findings.push(
      ...missing.map((name) => unset(name, path)),
      ...(refersToVault(value) ? [noVault(path)] : []),
      ...(isOpen(open) ? [unclosed(path)] : [])
    )
    if (names.length > 0)
      origins.set(Document.formatPath(path), `(from ${names.map((name) => `\${${name}}`).join(", ")})`)
    return missing.length > 0
      ? value
      : closed.replace(reference, (written: string, name: string | undefined) =>
          written.startsWith("$$") ? written.slice(1) : (environment.get(name ?? "") ?? written)
        ) + open.replaceAll("$${", "${")
  })
  return { document: expanded, findings, origin: (path) => origins.get(Document.formatPath(path)) }
}

/** An escaped reference is matched too, so that it is stepped over as a whole. */
const reference = /\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)|secret:([A-Za-z_][A-Za-z0-9_.-]*))\}/g

/** A text up to its last `}`, where all references end, and the rest, in which none can. */
const split = (text: string): readonly [closed: string, open: string] => {
  const end = text.lastIndexOf("}") + 1
  return [text.slice(0, end), text.slice(end)]
}

const isOpen = (rest: string): boolean => Array.from(rest.matchAll(/\$?\$\{/g)).some(([written]) => written === "${")

const unclosed = (path: Path): Finding => ({
  path,
  found: "a reference that is not closed",
  expected: "${NAME}",
  hint: "write } after the name, or $${ if the text itself is meant"
})

const references = (text: string): ReadonlyArray<string> => [
  ...new Set(
    Array.from(text.matchAll(reference)).flatMap(([written, name]) =>
      name === undefined || written.startsWith("$$") ? [] : [name]
    )
  )
]

const refersToVault = (text: string): boolean =>
  Array.from(text.matchAll(reference)).some(([written, , secret]) => secret !== undefined && !written.startsWith("$$"))

const noVault = (path: Path): Finding => ({
  path,
  found: "a reference to a secret of a vault, which this version does not have",
  expected: "a value, or a reference to an environment variable",
  hint: "use ${NAME}, or write $${secret:…} if the text itself is meant"
})

const unset = (name: string, path: Path): Finding => ({
  path,
  found: `a reference to the environment variable ${name}, which is not set`,
  expected: "a variable that is set (it may be empty)",
  hint: `set ${name}, or write $\${${name}} if the text itself is meant`
})
