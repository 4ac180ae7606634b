/** The files that came with messages, found again when a model is to be shown them. The journal writes them with their message. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class Attachments extends Context.Service<
  Attachments,
  {
    /** Contents by their SHA-256. Those that have come to the end of their time are not among them. */
    readonly contents: (sha256: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Uint8Array>>
  }
>()("troupe/attachment/Attachments") {}
