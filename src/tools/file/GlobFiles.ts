import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

/** Files of one call unless it asks for another number, and the most it may ask for. */
export const usual = 100
export const most = 1000

export const GlobFiles = Tool.make("glob_files", {
  description:
    "Managed files whose path matches a pattern, by path: * and ? within a name, ** for folders, {a,b}, [a-z]. " +
    "A pattern without / is looked for in all folders. Names that begin with a dot match only a dot.",
  parameters: Schema.Struct({
    pattern: Schema.String.annotate({ description: "For example **/*.md or report-*.csv." }),
    folder: Schema.optionalKey(Fields.path("Folder to look in; the root when absent.")),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
        description: `How many files at most; ${usual} when absent, ${most} at the most.`
      })
    )
  }),
  success: Schema.Struct({
    action: Schema.Literal("glob"),
    root_dir: Schema.String,
    folder: Schema.String,
    ...Fields.placed,
    pattern: Schema.String,
    entries: Schema.Array(Fields.Entry),
    count: Schema.Int,
    truncated: Schema.Boolean,
    notice: Schema.optionalKey(Schema.String)
  }),
  failure: Fields.Failure,
  limits: { timeout: "30 seconds", output: { maxChars: 60_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead],
  actions: ({ folder = ".", pattern }) => [
    Action.folder("read", `${folder}/${/^[^*?[{\\]*\//.exec(pattern)?.[0] ?? ""}`)
  ],
  identifiedBy: ["pattern", "folder"]
})
