/** Capabilities that take files to where the running turn is: before its model, and to its person. */
import type * as Effect from "effect/Effect"
import type { Judged } from "../../attachment/Attachment.ts"
import type { FilesNotTaken } from "../../channel/Channels.ts"
import type * as Entry from "../../thread/Entry.ts"
import * as Capability from "../../tool/Capability.ts"
import type { ToolCallContext } from "../../tool/ToolContext.ts"

/** The capability to show the model of the running turn a file. It sees it with its next request. */
export class TurnContext extends Capability.Service<
  TurnContext,
  { readonly insert: (file: Judged, text?: string) => Effect.Effect<void, never, ToolCallContext> }
>()("TurnContext") {}

/**
 * The capability to send the person of the running turn something, on the channel of the turn, beside the answer. It leaves with the
 * result of the call.
 */
export class Messaging extends Capability.Service<
  Messaging,
  {
    readonly takesFiles: Effect.Effect<boolean>
    readonly send: (file: Entry.SentFile, caption?: string) => Effect.Effect<void, FilesNotTaken, ToolCallContext>
    /** Sends an address. False where the channel has nothing but the answer to carry it: then nothing was sent. */
    readonly sendLink: (url: string) => Effect.Effect<boolean>
  }
>()("Messaging") {}
