import * as Schema from "effect/Schema"
import { FileError } from "../../file/FileError.ts"
import { FsSearch } from "../../search/FileSearch.ts"
import { SearchError } from "../../search/SearchError.ts"
import * as Action from "../../policy/Action.ts"
import * as Redaction from "../../tool/Redaction.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "./Fields.ts"

/** The most lines that a call may ask for, and the most that it may see around each. */
const mostMatches = 1000
const mostContext = 50

const flag = (description: string) => Schema.optionalKey(Schema.Boolean.annotate({ description }))

const context = (where: string) =>
  Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mostContext })).annotate({
      description: `Lines to show ${where} each match; none when absent.`
    })
  )

const Match = Schema.Struct({
  path: Schema.String,
  line: Schema.Int,
  column: Schema.Int,
  match: Schema.String.annotate({ description: "The line, or the part of a long one around the match." }),
  context_before: Schema.Array(Schema.String),
  context_after: Schema.Array(Schema.String)
})

const Skipped = Schema.Struct({
  reason: Schema.Literals(["too_large", "not_text", "unreadable", "changed", "long_line"]),
  count: Schema.Int,
  examples: Schema.Array(Schema.String)
})

const Success = Schema.Struct({
  ok: Schema.Literal(true),
  pattern: Schema.String,
  path: Schema.String,
  ...Fields.placed,
  recursive: Schema.Boolean,
  ignore_case: Schema.Boolean,
  fixed_string: Schema.Boolean,
  include_hidden: Schema.Boolean,
  include_ignored: Schema.Boolean,
  context_before: Schema.Int,
  context_after: Schema.Int,
  max_matches: Schema.Int,
  max_file_size_bytes: Schema.Int,
  count: Schema.Int,
  files_scanned: Schema.NullOr(Schema.Int).annotate({
    description: "null when the search ended early, or by a ripgrep that cannot tell."
  }),
  files_skipped: Schema.Int,
  skipped: Schema.optionalKey(Schema.Array(Skipped)),
  truncated: Schema.Boolean,
  matches: Schema.Array(Match),
  notice: Schema.optionalKey(Schema.String)
})
type Success = typeof Success.Type

export const Grep = Tool.make("grep", {
  description:
    "Lines of managed text files that match a regular expression (Rust's syntax, within one line, no look-around or " +
    "back-references) or fixed words. Hidden files and what .gitignore leaves out are not searched unless asked for.",
  parameters: Schema.Struct({
    pattern: Schema.String.annotate({ description: "What to look for." }),
    path: Schema.optionalKey(Fields.path("File or folder to search; everything when absent.")),
    recursive: flag("Whether to search in folders below it; true when absent."),
    ignore_case: flag("Take capital and small letters for the same."),
    fixed_string: flag("Take the pattern as it stands, not as a regular expression."),
    include_hidden: flag("Search files and folders whose name begins with a dot."),
    include_ignored: flag("Search what .gitignore, .ignore and .rgignore leave out, and .git."),
    context_before: context("before"),
    context_after: context("after"),
    max_matches: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostMatches })).annotate({
        description: "How many lines at most."
      })
    )
  }),
  success: Success,
  failure: Schema.Union([SearchError, FileError]),
  limits: { timeout: "30 seconds", output: { maxChars: 80_000 }, concurrency: 4 },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsSearch],
  actions: ({ path = "." }) => [Action.folder("read", path)],
  text: (found) => [header(found), ...blocks(found.matches)].join("\n\n"),
  identifiedBy: ["pattern", "path"]
})

const header = ({ count, files_scanned, notice }: Success): string => {
  const lines = count === 1 ? "1 line matches" : `${count} lines match`
  const files = files_scanned === null ? "" : `, ${files_scanned} ${files_scanned === 1 ? "file" : "files"} searched`
  return `${lines}${files}.${notice === undefined ? "" : ` ${notice}`}`
}

/** A block for each file, in the form that such programs have: `12:` before a line that matches, `13-` before its neighbours. */
const blocks = (matches: Success["matches"]): ReadonlyArray<string> =>
  Array.from(
    Map.groupBy(matches, ({ path }) => path),
    ([path, found]) => {
      const shown = new Map<number, string>()
      for (const { context_after, context_before, line } of found) {
        context_before.forEach((text, at) => shown.set(line - context_before.length + at, `- ${text}`))
        context_after.forEach((text, at) => shown.set(line + 1 + at, `- ${text}`))
      }
      for (const { line, match } of found) shown.set(line, `: ${match}`)
      const numbers = Array.from(shown.keys()).toSorted((one, other) => one - other)
      const lines = numbers.flatMap((number, at) => {
        const gap = at > 0 && number > (numbers[at - 1] ?? number) + 1 && shown.size > found.length ? ["--"] : []
        return [...gap, `${number}${shown.get(number) ?? ""}`]
      })
      return [Redaction.visible(path), ...lines].join("\n")
    }
  )
