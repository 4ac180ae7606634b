import * as Schema from "effect/Schema"
import { FsWrite } from "../../file/Workspace.ts"
import * as GifSearch from "../../gif/GifSearch.ts"
import * as Action from "../../policy/Action.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "../file/Fields.ts"
import { Messaging } from "../file/TurnFiles.ts"

/** Alternatives that a search is asked for. */
export const mostAlternatives = 25

export const SendGif = Tool.make("send_gif", {
  description: "Looks for an animated GIF and sends the best match to the person of this conversation.",
  parameters: Schema.Struct({
    query: Schema.NonEmptyString.check(Schema.isMaxLength(200)).annotate({ description: "What to look for." }),
    index: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mostAlternatives - 1 })).annotate({
        description: "Which match to send: 0, the default, is the best."
      })
    )
  }),
  success: Schema.Struct({
    action: Schema.Literal("send"),
    ok: Schema.Literal(true),
    /** `file`: the picture itself. `link`: its address. `none`: it is for the answer to have the address. */
    sent_as: Schema.Literals(["file", "link", "none"]),
    url: Schema.String,
    title: Schema.String,
    index: Schema.Int,
    /** How many matches there are to choose from. */
    matches: Schema.Int,
    path: Schema.NullOr(Schema.String),
    size_bytes: Schema.NullOr(Schema.Int),
    channel: Schema.String,
    chat_id: Schema.String,
    notice: Schema.optionalKey(Schema.String)
  }),
  failure: Schema.Union([Fields.Failure, GifSearch.GifError]),
  limits: { timeout: "2 minutes", output: { maxChars: 8000 }, concurrency: 4, perTurn: 3 },
  cancellation: "interruptible",
  // It leaves with the record of this call: a call that has no record yet has sent nothing.
  replay: "safe",
  capabilities: [GifSearch.Gifs, FsWrite, Messaging],
  identifiedBy: ["query"],
  actions: () => [Action.send]
})
