import * as Schema from "effect/Schema"
import { FsWrite } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

const Target = Schema.Literals(["any", "file", "folder"])

export const DeleteFile = Tool.make("delete_file", {
  description: "Deletes a managed file or folder permanently.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the file or folder."),
    target: Schema.optionalKey(Target.annotate({ description: "What it must be; any when absent." })),
    recursive: Schema.optionalKey(Schema.Boolean.annotate({ description: "Delete a folder with all that is in it." }))
  }),
  success: Schema.Struct({
    action: Schema.Literal("delete"),
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    deleted: Schema.Boolean,
    deleted_count: Schema.Int,
    target: Target,
    recursive: Schema.Boolean,
    target_type: Schema.NullOr(Schema.Literals(["file", "folder", "link"])),
    message: Schema.String
  }),
  failure: Fields.Failure,
  limits: { timeout: "60 seconds", output: { maxChars: 12_000 } },
  cancellation: "atomic",
  // Something else may have come in its place by then.
  replay: "unknown",
  capabilities: [FsWrite],
  content: "own",
  actions: ({ path }) => [Action.folder("delete", path)],
  identifiedBy: ["path"]
})
