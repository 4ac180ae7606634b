import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

/** Entries of one call: about as many as a model takes in. */
export const most = 200

export const ListFiles = Tool.make("list_files", {
  description: `Files and folders directly in a managed folder, by name; ${most} at a time.`,
  parameters: Schema.Struct({
    folder: Schema.optionalKey(Fields.path("Path of the folder; the root when absent.")),
    offset: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "How many entries to skip." })
    )
  }),
  success: Schema.Struct({
    action: Schema.Literal("list"),
    root_dir: Schema.String,
    folder: Schema.String,
    ...Fields.placed,
    entries: Schema.Array(Fields.Entry),
    count: Schema.Int,
    total: Schema.Int,
    truncated: Schema.Boolean
  }),
  failure: Fields.Failure,
  limits: { timeout: "30 seconds", output: { maxChars: 60_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead],
  actions: ({ folder = "." }) => [Action.file("read", folder)],
  identifiedBy: ["folder"]
})
