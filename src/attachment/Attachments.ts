/**
 * The files that a model is shown: those that came with messages, which the journal writes with them, and those that a tool has
 * put before it.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Entry from "../thread/Entry.ts"
import type { Judged } from "./Attachment.ts"

export class Attachments extends Context.Service<
  Attachments,
  {
    /** Keeps a content that an entry is to name: one that none does goes after its time. */
    readonly keep: (file: Judged) => Effect.Effect<Entry.Attachment>
    /** Contents by their SHA-256. Those that have come to the end of their time are not among them. */
    readonly contents: (sha256: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Uint8Array>>
  }
>()("troupe/attachment/Attachments") {}
