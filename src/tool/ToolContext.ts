/** Where a tool call comes from. */
import * as Context from "effect/Context"
import type * as Ids from "../Ids.ts"
import type * as Threads from "../thread/Threads.ts"

/** What is the same for every call of one turn. */
export interface TurnScope {
  readonly ownerId: string
  readonly threadId: Ids.ThreadId
  readonly threadKey: Threads.ThreadKey
  readonly channel: string
  readonly chat: string
  /** Who sent the message that the turn answers, as the channel knows them. Absent for schedules and tasks. */
  readonly senderId?: string
  readonly turnId: Ids.TurnId
  readonly agent: string
  /** How many agents handed this work on: 0 for the agent a person talks to. */
  readonly chainDepth: number
}

/**
 * The call a handler is serving. The only service every handler may use without declaring it, so capabilities may ask for it too.
 *
 * @effect-leakable-service
 */
export class ToolCallContext extends Context.Service<
  ToolCallContext,
  TurnScope & {
    readonly callId: Ids.CallId
    /** The call of a script that made this one. */
    readonly parentCallId?: Ids.CallId
    /** Stays the same when a restart runs the call again: the idempotency key to give to an outside service. */
    readonly idempotencyKey: string
  }
>()("troupe/tool/ToolCallContext") {}
