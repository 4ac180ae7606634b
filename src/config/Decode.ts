/**
 * From a document (plain tables, lists and values) to decoded settings, or to the list of all that is wrong with it.
 *
 * A schema stops at the first stage that fails: while one key has the wrong type, the limits of its neighbours and the rules
 * between keys stay unchecked. So whatever was refused is taken out, with its default in its place, and the rest is tried
 * again until nothing more turns up. One run then shows everything, and no follow-up problem of a value already reported.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { ConfigError } from "./ConfigError.ts"
import type { Problem } from "./ConfigError.ts"
import * as Document from "./Document.ts"
import * as Moved from "./Moved.ts"
import * as Outline from "./Outline.ts"
import type { Finding, Path, Rule } from "./Rule.ts"
import * as Suggest from "./Suggest.ts"

export interface Options {
  /** What is being read, for the error message. */
  readonly source: string
  /** Problems already known, such as references to unset variables. The values they concern are left out. */
  readonly findings?: ReadonlyArray<Finding> | undefined
  /** Where a value came from if not from the document itself, in words that follow the kind of value. */
  readonly origin?: ((path: Path) => string | undefined) | undefined
}

/** Decodes a document. Fails with everything that is wrong, in the order of the document. */
export const decode = Effect.fnUntraced(function* <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  rules: ReadonlyArray<Rule<S["Type"]>>,
  input: unknown,
  options: Options
): Effect.fn.Return<S["Type"], ConfigError> {
  const attempt = SchemaParser.decodeUnknownResult(schema)
  const shallow = Document.shallow(input)
  const document = emptyTablesToLists(schema.ast, shallow.document)
  const findings: Array<Finding> = [...(options.findings ?? []), ...shallow.findings]
  while (true) {
    const rest = Document.without(
      document,
      findings.map((finding) => finding.path)
    )
    const result = attempt(rest, { errors: "all", onExcessProperty: "error" })
    if (Result.isSuccess(result)) {
      findings.push(...brokenRules(rules, result.success, document, findings))
      if (findings.length === 0) return result.success
      break
    }
    const refused = describe(result.failure, schema.ast, rest, options)
    for (const finding of refused) findings.push(finding)
    // Nothing left to take out (a table that lacks a key it cannot do without, or no table at all).
    if (refused.every((finding) => Document.get(rest, finding.path) === undefined || finding.path.length === 0)) break
  }
  const problems = inOrder(document, findings).map(toProblem)
  return yield* Arr.isArrayNonEmpty(problems)
    ? new ConfigError({ source: options.source, problems })
    : Effect.die("settings were refused without a reason")
})

// ---------------------------------------------------------------------------------------------------------------------
// Rules between keys

const brokenRules = <Settings>(
  rules: ReadonlyArray<Rule<Settings>>,
  settings: Settings,
  document: unknown,
  refused: ReadonlyArray<Finding>
): ReadonlyArray<Finding> =>
  rules
    .flatMap((rule) => rule(settings, (path) => Document.get(document, path) !== undefined))
    .filter((finding) =>
      [finding.path, ...(finding.reads ?? [])].every((path) => !refused.some((other) => isAbout(other, path)))
    )

const isAbout = ({ meant, path: refused }: Finding, path: Path): boolean =>
  startsWith(path, refused) || (meant !== undefined && startsWith(path, meant))

const startsWith = (path: Path, start: Path): boolean => start.every((key, index) => path[index] === key)

// ---------------------------------------------------------------------------------------------------------------------
// From schema issues to findings

const describe = (
  issue: SchemaIssue.Issue,
  type: SchemaAST.AST,
  document: unknown,
  options: Options
): ReadonlyArray<Finding> => {
  const found = new Map<string, Finding>()
  for (const leaf of leaves(issue, [])) {
    const place = Document.formatPath(leaf.path)
    if (!found.has(place)) found.set(place, toFinding(leaf, type, document, options))
  }
  return [...found.values()]
}

interface Leaf {
  readonly path: Path
  readonly issue: SchemaIssue.Issue
}

const leaves = (issue: SchemaIssue.Issue, path: Path): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Filter":
    case "Encoding":
      return leaves(issue.issue, path)
    case "Pointer":
      return leaves(issue.issue, [...path, ...issue.path.map((key) => (typeof key === "number" ? key : String(key)))])
    case "Composite":
      return issue.issues.flatMap((inner) => leaves(inner, path))
    default:
      return [{ path, issue }]
  }
}

const toFinding = ({ issue, path }: Leaf, type: SchemaAST.AST, document: unknown, options: Options): Finding => {
  if (issue._tag === "UnexpectedKey") return unknownKey(path, type)
  const expected = Outline.at(type, path)
  const notes = issue._tag === "InvalidValue" ? issue.annotations : undefined
  const origin = options.origin?.(path)
  return {
    path,
    found:
      (typeof notes?.["found"] === "string" ? notes["found"] : Document.kindOf(Document.get(document, path))) +
      (origin === undefined ? "" : ` ${origin}`),
    expected:
      typeof notes?.["expected"] === "string"
        ? notes["expected"]
        : expected === undefined
          ? "another kind of value"
          : Outline.expected(expected),
    ...(typeof notes?.["hint"] === "string" ? { hint: notes["hint"] } : {})
  }
}

const unknownKey = (path: Path, type: SchemaAST.AST): Finding => {
  const name = String(path.at(-1) ?? "")
  const table = Outline.at(type, path.slice(0, -1))
  const known = table === undefined ? [] : Outline.entries(table).map((entry) => entry.name)
  const meant = Suggest.nearest(name, known)
  const today = Moved.moved.get(name)
  const elsewhere = today === undefined ? Outline.find(type, name) : [today]
  return {
    path,
    found: "an unknown key",
    expected: `one of ${known.join(", ")}`,
    ...(meant !== undefined
      ? { hint: `did you mean ${meant}?`, meant: [...path.slice(0, -1), meant] }
      : elsewhere.length > 0
        ? { hint: `there is ${elsewhere.join(" and ")}` }
        : {})
  }
}

const toProblem = ({ expected, found, hint, path }: Finding): Problem => ({
  path: Document.formatPath(path),
  found,
  expected,
  ...(hint === undefined ? {} : { hint })
})

// ---------------------------------------------------------------------------------------------------------------------
// The document

/** People write `{}` for "none of them"; where a list is wanted, that is an empty list. */
const emptyTablesToLists = (type: SchemaAST.AST, document: unknown): unknown => {
  if (!Document.isTable(document)) return document
  if (SchemaAST.isArrays(type)) return Object.keys(document).length === 0 ? [] : document
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => {
      const inside = Outline.at(type, [key])
      return [key, inside === undefined ? value : emptyTablesToLists(inside, value)] as const
    })
  )
}

/** Sorts findings as a reader meets them; one about an absent key comes with its table. */
const inOrder = (document: unknown, findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const positions = new Map(
    [...Document.allPaths(document)].map((path, index) => [Document.formatPath(path), index] as const)
  )
  const position = (path: Path): number =>
    positions.get(Document.formatPath(path)) ?? (path.length === 0 ? 0 : position(path.slice(0, -1)))
  return findings.toSorted((left, right) => position(left.path) - position(right.path))
}
