/**
 * Replies on their way out. A row is written in the transaction that ends the turn and leaves in order, thread by
 * thread, when its channel is up.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"

/** `unknown`: the process died between handing the reply to the channel and hearing that it arrived. */
export const DeliveryState = Schema.Literals(["pending", "sending", "delivered", "failed", "unknown"])
export type DeliveryState = typeof DeliveryState.Type

export const Delivery = Schema.Struct({
  id: Ids.DeliveryId,
  threadId: Ids.ThreadId,
  turnId: Schema.NullOr(Ids.TurnId),
  channel: Schema.String,
  chat: Schema.String,
  text: Schema.String,
  format: Schema.optionalKey(Entry.AnswerFormat),
  attempts: Schema.Int,
  createdAt: Schema.Int,
  /** An earlier life of the process may have delivered it already: the channel should mark it when it can. */
  inDoubt: Schema.Boolean
})
export type Delivery = typeof Delivery.Type

export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * Takes the next deliveries of a channel that are due: at most one per thread (the oldest), marked `sending` before
     * they are handed out. Rows that another incarnation left in `sending` come again with `inDoubt`.
     */
    readonly take: (channel: string, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
    readonly delivered: (id: Ids.DeliveryId) => Effect.Effect<void>
    /** The channel refused; try again at `retryAt` (milliseconds since 1970). */
    readonly retry: (id: Ids.DeliveryId, retryAt: number, reason: string) => Effect.Effect<void>
    /** The channel refused for good; the thread's next delivery may go. */
    readonly failed: (id: Ids.DeliveryId, reason: string) => Effect.Effect<void>
    /** Deliveries not yet ended, by channel. */
    readonly pending: Effect.Effect<ReadonlyArray<{ readonly channel: string; readonly count: number }>>
  }
>()("troupe/channel/Outbox") {}
