/**
 * Which request of a client became which message: what lets a client that sends the whole conversation each time find its
 * thread again, and a request that is sent again its turn. Nothing is owed by these rows; without them a conversation goes
 * on in a new thread that is told what was said.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Ids from "../Ids.ts"

export interface Place {
  readonly messageId: Ids.MessageId
  readonly threadId: Ids.ThreadId
  readonly seq: number
}

export interface Request extends Place {
  /** Fingerprint of everything in the request that makes it this one. */
  readonly digest: string
  /** Fingerprint of what was said in it, if that is how the conversation is found; null for one that has a name. */
  readonly conversation: string | null
  /** Fingerprint of the client's instructions. */
  readonly instructions: string
}

export class Requests extends Context.Service<
  Requests,
  {
    readonly record: (request: Request) => Effect.Effect<void>
    /** The message of the `openai` channel that was accepted under this external id; `digest` is null if it was not recorded. */
    readonly byExternalId: (
      externalId: string
    ) => Effect.Effect<Option.Option<Place & { readonly digest: string | null }>>
    /** The last request with this digest that was recorded at `since` (milliseconds since 1970) or later. */
    readonly byDigest: (digest: string, since: number) => Effect.Effect<Option.Option<Request>>
    /** Requests in which exactly this was said, the newest first. */
    readonly byConversation: (conversation: string, limit: number) => Effect.Effect<ReadonlyArray<Request>>
    /** Where a message of the `openai` channel is. None if there is no such message, or its response was deleted. */
    readonly byMessage: (messageId: Ids.MessageId) => Effect.Effect<Option.Option<Place>>
    /** The response to this message is not given out any more, nor found again by what was said. */
    readonly remove: (messageId: Ids.MessageId) => Effect.Effect<void>
    /** The last request of a thread. */
    readonly latest: (threadId: Ids.ThreadId) => Effect.Effect<Option.Option<Request>>
  }
>()("troupe/openai/Requests") {}
