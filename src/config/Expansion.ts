/**
 * References to environment variables in a settings document: `${NAME}` in any text, at any depth; `$${NAME}` stands for the
 * text `${NAME}`. Other notations (`$NAME`, `${NAME:-x}`) are plain text. Keys are never expanded, inserted text is not
 * expanded again, and since the document is already parsed, no value of a variable can change its structure.
 *
 * A `${` that no `}` follows is a slip and refused; `$${` stands for it.
 *
 * `${secret:NAME}` is a secret of the vault. Where none is unlocked, such a reference is refused: it would be sent to a provider as
 * the text that it is. In `[vault]` itself there can be none.
 */
import * as Redacted from "effect/Redacted"
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

/** Whether a document refers to the vault, so that it must be unlocked. */
export const needsVault = (document: unknown): boolean => {
  let found = false
  Document.mapValues(document, (value) => {
    if (typeof value === "string" && secretNames(value).length > 0) found = true
    return value
  })
  return found
}

/**
 * The document with every reference replaced. A value that refers to an unset variable, or to a secret that there is not, is kept
 * as written, and reported. `vault` is undefined where none is unlocked.
 */
export const expand = (
  document: unknown,
  environment: ReadonlyMap<string, string>,
  vault?: ReadonlyMap<string, Redacted.Redacted>
): Expanded => {
  const findings: Array<Finding> = []
  const origins = new Map<string, string>()
  const expanded = Document.mapValues(document, (value, path) => {
    if (typeof value !== "string") return value
    const names = references(value)
    const secrets = secretNames(value)
    const missing = names.filter((name) => !environment.has(name))
    const unusable = secrets.flatMap((name) => whyNoSecret(name, path, vault) ?? [])
    const [closed, open] = split(value)
    findings.push(...missing.map((name) => unset(name, path)), ...unusable, ...(isOpen(open) ? [unclosed(path)] : []))
    const from = [...names, ...secrets.map((name) => `secret:${name}`)]
    if (from.length > 0)
      origins.set(Document.formatPath(path), `(from ${from.map((name) => `\${${name}}`).join(", ")})`)
    if (missing.length > 0 || unusable.length > 0) return value
    return (
      closed.replace(reference, (written: string, name: string | undefined, secret: string | undefined) => {
        if (written.startsWith("$$")) return written.slice(1)
        const value = secret === undefined ? undefined : vault?.get(secret)
        return value === undefined ? (environment.get(name ?? "") ?? written) : Redacted.value(value)
      }) + open.replaceAll("$${", "${")
    )
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

const secretNames = (text: string): ReadonlyArray<string> => [
  ...new Set(
    Array.from(text.matchAll(reference)).flatMap(([written, , secret]) =>
      secret === undefined || written.startsWith("$$") ? [] : [secret]
    )
  )
]

const whyNoSecret = (
  name: string,
  path: Path,
  vault: ReadonlyMap<string, Redacted.Redacted> | undefined
): Finding | undefined => {
  const reference = `a reference to the secret ${name} of the vault`
  if (path[0] === "vault") {
    return {
      path,
      found: "a reference to a secret, in the section of the vault itself",
      expected: "a value, or ${NAME}"
    }
  }
  if (vault === undefined) {
    return {
      path,
      // What stands there may be a secret in the wrong place, as long as no vault knows better.
      found: "a reference to a secret of a vault, and none is unlocked",
      expected: "a value, or a reference to an environment variable",
      hint: "set [vault].enabled = true, or write $${secret:…} if the text itself is meant"
    }
  }
  if (vault.has(name)) return undefined
  return {
    path,
    found: `${reference}, which is not in it`,
    expected: "the name of a secret that is",
    hint: "`troupe vault list` tells the names, `troupe vault edit` adds one"
  }
}

const unset = (name: string, path: Path): Finding => ({
  path,
  found: `a reference to the environment variable ${name}, which is not set`,
  expected: "a variable that is set (it may be empty)",
  hint: `set ${name}, or write $\${${name}} if the text itself is meant`
})
