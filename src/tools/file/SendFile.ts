import * as Schema from "effect/Schema"
import { FilesNotTaken } from "../../channel/Channels.ts"
import { FsRead } from "../../file/Workspace.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "./Fields.ts"
import * as Action from "../../policy/Action.ts"
import { Messaging } from "./TurnFiles.ts"

export const SendFile = Tool.make("send_file", {
  description: "Sends a managed file to the person of this conversation.",
  parameters: Schema.Struct({
    path: Fields.path("Path of the file."),
    caption: Schema.optionalKey(Schema.String.annotate({ description: "A few words with it." }))
  }),
  success: Schema.Struct({
    action: Schema.Literal("send"),
    ok: Schema.Literal(true),
    path: Schema.String,
    ...Fields.placed,
    chat_id: Schema.String,
    channel: Schema.String,
    sent: Schema.Literal(true)
  }),
  failure: Schema.Union([Fields.Failure, FilesNotTaken]),
  limits: { timeout: "30 seconds", output: { maxChars: 12_000 } },
  cancellation: "interruptible",
  // It leaves with the record of this call: a call that has no record yet has sent nothing.
  replay: "safe",
  capabilities: [FsRead, Messaging],
  content: "own",
  actions: ({ path }) => [Action.file("read", path), Action.send],
  identifiedBy: ["path"]
})
