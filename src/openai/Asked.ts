/** A request for an answer, whichever way of the protocol it came in: what the rest of the endpoint works with. */
import type * as Transcript from "./Transcript.ts"

/** Where the conversation is. `Untold`: nowhere by name; what the client says was said before is all there is. */
export type Place =
  | { readonly _tag: "Untold" }
  | { readonly _tag: "Named"; readonly name: string; readonly param: string }
  | { readonly _tag: "After"; readonly responseId: string }

export interface Asked {
  /** The name of an agent. */
  readonly model: string
  /** System and developer messages, in order; empty when there are none. */
  readonly instructions: string
  readonly messages: ReadonlyArray<Transcript.Message>
  readonly place: Place
  /** What the client calls its own user: conversations of two users are never one. */
  readonly user: string
  readonly stream: boolean
  /** Of a chat completion that streams: the tokens are told in a last chunk. */
  readonly includeUsage: boolean
  /** Fields that were sent and have no effect. */
  readonly ignored: ReadonlyArray<string>
  readonly metadata: { readonly [key: string]: string }
  /** The field of the request that holds the messages. */
  readonly said: "messages" | "input"
}
