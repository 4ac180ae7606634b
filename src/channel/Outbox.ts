/**
 * Replies on their way out. A row is written in the transaction that ends the turn and leaves in order, thread by
 * thread, when its channel is up.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"

/** `unknown`: given up, and never known whether the reply arrived. */
export const DeliveryState = Schema.Literals(["pending", "sending", "delivered", "failed", "unknown"])
export type DeliveryState = typeof DeliveryState.Type

/**
 * What was done to a reply whose format its channel could not read: how often a model mended it, and what it was before.
 * `problem`: why it goes out as plain text in the end.
 */
export const Repair = Schema.Struct({
  attempts: Schema.Int,
  kind: Entry.AnswerFormat.fields.kind,
  original: Schema.String,
  problem: Schema.optionalKey(Schema.String)
})

/** A reply in another form than the one that was refused. */
export interface Rewriting {
  readonly text: string
  readonly format: Entry.AnswerFormat
  readonly repair: typeof Repair.Type
}

export const Delivery = Schema.Struct({
  id: Ids.DeliveryId,
  threadId: Ids.ThreadId,
  turnId: Schema.NullOr(Ids.TurnId),
  channel: Schema.String,
  chat: Schema.String,
  text: Schema.String,
  format: Schema.optionalKey(Entry.AnswerFormat),
  /** Files that the channel is to carry, with the text as their caption. They are read when they are carried. */
  files: Schema.optionalKey(Schema.Array(Entry.SentFile)),
  repair: Schema.optionalKey(Repair),
  attempts: Schema.Int,
  createdAt: Schema.Int,
  /** An earlier life of the process may have delivered it already: the channel should mark it when it can. */
  inDoubt: Schema.Boolean
})
export type Delivery = typeof Delivery.Type

/**
 * What is known of an attempt that did not succeed. `refused`: the channel said that it did not take the reply. `unanswered`:
 * the attempt was interrupted or timed out, so the reply may have arrived.
 */
export type Outcome = "refused" | "unanswered"

export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * Takes the next deliveries of a channel that are due: at most one per thread (the oldest), marked `sending` before
     * they are handed out. Rows that another incarnation left in `sending` come again with `inDoubt`.
     */
    readonly take: (channel: string, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
    readonly delivered: (id: Ids.DeliveryId) => Effect.Effect<void>
    /** Try again at `retryAt` (milliseconds since 1970); in doubt from now on when the attempt was `unanswered`. */
    readonly retry: (id: Ids.DeliveryId, retryAt: number, reason: string, outcome?: Outcome) => Effect.Effect<void>
    /**
     * Not tried again; the thread's next delivery may go. The state is `failed`, or `unknown` when this attempt or an
     * earlier one may have arrived.
     */
    readonly failed: (id: Ids.DeliveryId, reason: string, outcome?: Outcome) => Effect.Effect<void>
    /** Try again at once, in another form. */
    readonly rewrite: (id: Ids.DeliveryId, rewriting: Rewriting) => Effect.Effect<void>
    /** Deliveries not yet ended, by channel. */
    readonly pending: Effect.Effect<ReadonlyArray<{ readonly channel: string; readonly count: number }>>
  }
>()("troupe/channel/Outbox") {}
