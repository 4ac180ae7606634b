import * as Schema from "effect/Schema"
import { FsWrite } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

export const MoveFile = Tool.make("move_file", {
  description: "Moves or renames a managed file, and makes the folders above its new place.",
  parameters: Schema.Struct({
    source_path: Fields.path("Path of the file."),
    destination_path: Fields.path("Its new path, the file's name included."),
    overwrite: Schema.optionalKey(Schema.Boolean.annotate({ description: "Replace a file that is there." }))
  }),
  success: Schema.Struct({
    action: Schema.Literal("move"),
    ok: Schema.Literal(true),
    source_path: Schema.String,
    destination_path: Schema.String,
    ...Fields.placedTwice,
    overwrite: Schema.Boolean,
    replaced: Schema.Boolean
  }),
  failure: Fields.Failure,
  limits: { timeout: "60 seconds", output: { maxChars: 24_000 } },
  cancellation: "atomic",
  // Afterwards the source is not there, for whichever reason.
  replay: "unknown",
  capabilities: [FsWrite],
  content: "own",
  actions: ({ destination_path, source_path }) => [
    Action.folder("delete", source_path),
    Action.file("write", destination_path)
  ],
  identifiedBy: ["source_path", "destination_path"]
})
