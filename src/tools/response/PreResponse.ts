import * as Schema from "effect/Schema"
import { FilesNotTaken } from "../../channel/Channels.ts"
import * as Entry from "../../thread/Entry.ts"
import * as Action from "../../policy/Action.ts"
import * as Tool from "../../tool/Tool.ts"
import * as ToolName from "../../tool/ToolName.ts"

/**
 * Declares how the final answer is to be shown. Its result is the declaration: a turn takes the last one it finds in its
 * journal, so the declaration survives a restart and needs no other place.
 */
export const PreResponse = Tool.make(ToolName.answering, {
  description:
    "Declares how your final answer is written, before you give it: as plain text, HTML or Markdown, and with which files. " +
    "The last declaration of a turn counts.",
  parameters: Schema.Struct({
    kind: Schema.Literals(["text", "html", "markdown"]).annotate({ description: "How the answer is written." }),
    meta: Schema.optionalKey(
      Schema.Struct({
        disable_link_preview: Schema.optionalKey(
          Schema.Boolean.annotate({ description: "Show no previews of links in the answer." })
        )
      })
    ),
    attachments: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          path: Schema.NonEmptyString.annotate({ description: "Path of a managed file." }),
          type: Schema.NonEmptyString.annotate({
            description: "What kind of file it is, for example image or document."
          }),
          caption: Schema.optionalKey(Schema.String)
        })
      ).annotate({ description: "Files to send with the answer." })
    )
  }),
  success: Entry.AnswerFormat,
  failure: FilesNotTaken,
  limits: { timeout: "1 second", output: { maxChars: 8000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own",
  actions: ({ attachments = [] }) =>
    attachments.length === 0 ? [] : [...attachments.map(({ path }) => Action.file("read", path)), Action.send],
  identifiedBy: ["kind"]
})
