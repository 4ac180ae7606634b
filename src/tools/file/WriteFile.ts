import * as Schema from "effect/Schema"
import { FsWrite } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Action from "../../policy/Action.ts"
import * as Fields from "./Fields.ts"

/**
 * The content is written as it is given: a line break at the end belongs to it. A new file may be empty, as markers are; that a
 * content is replaced by nothing is refused, since it is nearly always an argument that was left out.
 */
export const WriteFile = Tool.make("write_file", {
  description: "Writes a managed text file, exactly as given, and makes the folders above it.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the file."),
    content: Schema.String.annotate({ description: "The whole content." }),
    overwrite: Schema.optionalKey(Schema.Boolean.annotate({ description: "Replace a file that is there." }))
  }),
  success: Schema.Struct({
    action: Schema.Literal("write"),
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    bytes_written: Schema.Int,
    overwrite: Schema.Boolean,
    change: Schema.Literals(["created", "replaced", "unchanged"])
  }),
  failure: Fields.Failure,
  limits: { timeout: "30 seconds", output: { maxChars: 12_000 } },
  cancellation: "atomic",
  // A file that has this content already is left as it is.
  replay: "idempotent",
  capabilities: [FsWrite],
  content: "own",
  actions: ({ path }) => [Action.file("write", path)],
  identifiedBy: ["path"]
})
