import * as Schema from "effect/Schema"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "./Fields.ts"
import * as Action from "../../policy/Action.ts"
import { TurnContext } from "./TurnFiles.ts"

/** What a model cannot be shown, by content: the rules are those for files that come with messages. */
export class UnsupportedMime extends Schema.TaggedError<UnsupportedMime>()("UnsupportedMime", {
  path: Schema.String,
  detail: Schema.String
}) {
  readonly code = "artifact:unsupported_mime"
  override get message() {
    return `${JSON.stringify(this.path)}: ${this.detail}`
  }
}

export const SelfInsertArtifact = Tool.make("self_insert_artifact", {
  description: "Shows you a managed file: an image, a PDF or a text. You see it with the next message.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the file."),
    as: Schema.Literals(["image", "file"]),
    role: Schema.optionalKey(
      Schema.Literals(["user", "system"]).annotate({ description: "It is always shown as the user's." })
    ),
    text: Schema.optionalKey(Schema.String.annotate({ description: "Words before it." })),
    mime: Schema.optionalKey(Schema.String.annotate({ description: "What it is, where its content does not say." })),
    filename: Schema.optionalKey(Schema.String.annotate({ description: "What to call it." }))
  }),
  success: Schema.Struct({
    status: Schema.Literal("ok"),
    path: Schema.String,
    ...Fields.placed,
    mime: Schema.String,
    size: Schema.Int
  }),
  failure: Schema.Union([Fields.Failure, UnsupportedMime]),
  limits: { timeout: "30 seconds", output: { maxChars: 12_000 } },
  cancellation: "interruptible",
  // It is shown by the record of this call: a call that has no record yet has shown nothing.
  replay: "safe",
  capabilities: [FsRead, TurnContext],
  actions: ({ path }) => [Action.file("read", path)],
  identifiedBy: ["path"]
})
