import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

/** Bytes of a file that one call reads. */
export const most = 131_072

export const ReadFile = Tool.make("read_file", {
  description: `The text of a managed file, up to ${most} bytes. Use code_read for a part of a longer one.`,
  parameters: Schema.Struct({ path: Fields.path("Path of the file.") }),
  success: Schema.Struct({
    action: Schema.Literal("read"),
    path: Schema.String,
    ...Fields.placed,
    content: Schema.String,
    size_bytes: Schema.Int,
    truncated: Schema.Boolean,
    encoding: Fields.Encoding,
    notice: Schema.optionalKey(Schema.String)
  }),
  failure: Fields.Failure,
  limits: { timeout: "30 seconds", output: { maxChars: most + 2000, spill: "content" } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [FsRead],
  actions: ({ path }) => [Action.file("read", path)],
  text: ({ content, notice, path, size_bytes }) => Fields.textOf(`${path} (${size_bytes} bytes)`, notice, content),
  identifiedBy: ["path"]
})
