import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

export const FileInfo = Tool.make("file_info", {
  description: "Size, MIME type and time of change of a managed file or folder.",
  parameters: Schema.Struct({ path: Fields.path("Path of the file or folder.") }),
  success: Schema.Struct({
    action: Schema.Literal("info"),
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    name: Schema.String,
    is_dir: Schema.Boolean,
    extension: Schema.String,
    mime: Schema.NullOr(Schema.String),
    size_bytes: Schema.Int,
    modified_at: Schema.String,
    is_image: Schema.Boolean
  }),
  failure: Fields.Failure,
  limits: { timeout: "10 seconds", output: { maxChars: 12_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead],
  actions: ({ path }) => [Action.file("read", path)],
  identifiedBy: ["path"]
})
