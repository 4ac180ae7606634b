import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

/** Lines of one call unless it asks for another number, and the most it may ask for. */
export const usual = 200
const most = 400

export const CodeRead = Tool.make("code_read", {
  description: "Some lines of a managed text file.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the file."),
    offset: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "How many lines to skip." })
    ),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most })).annotate({
        description: `How many lines; ${usual} when absent.`
      })
    )
  }),
  success: Schema.Struct({
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    offset: Schema.Int,
    limit: Schema.Int,
    start_line: Schema.NullOr(Schema.Int),
    end_line: Schema.NullOr(Schema.Int),
    total_lines: Schema.NullOr(Schema.Int),
    has_more: Schema.Boolean,
    content: Schema.String,
    encoding: Fields.Encoding,
    notice: Schema.optionalKey(Schema.String)
  }),
  failure: Fields.Failure,
  limits: { timeout: "30 seconds", output: { maxChars: 140_000, spill: "content" } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead],
  actions: ({ path }) => [Action.file("read", path)],
  text: ({ content, end_line, notice, path, start_line, total_lines }) =>
    Fields.textOf(
      start_line === null
        ? `${path}: no lines there, of ${total_lines ?? "unknown"}`
        : `${path}, lines ${start_line} to ${end_line} of ${total_lines ?? "more than were counted"}`,
      notice,
      content
    ),
  identifiedBy: ["path", "offset"]
})
