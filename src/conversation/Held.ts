/**
 * What a restored copy holds back. A copy of a database does not know what happened after it was made: a reply that was on its
 * way may have arrived, a message that waited may have been answered. So nothing that was owed in the snapshot is done again
 * before a person has said so.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"
import * as Threads from "../thread/Threads.ts"

/** Where a restored copy comes from. Times are unix milliseconds. */
export const Restored = Schema.Struct({
  installation: Ids.InstallationId,
  /** The installation that the backup was made of. */
  from: Ids.InstallationId,
  /** The process that ran when the backup was made, or the last one before. */
  incarnation: Schema.NullOr(Ids.IncarnationId),
  snapshotAt: Schema.Int,
  restoredAt: Schema.Int
})
export type Restored = typeof Restored.Type

/** A thread that owed something when the backup was made. Newer messages in it wait as well. */
const HeldThread = Schema.Struct({
  threadId: Ids.ThreadId,
  key: Threads.ThreadKey,
  /** A turn was at work. */
  running: Schema.Boolean,
  /** Messages that no turn has taken up. */
  waiting: Schema.Int
})

/** A reply that had not arrived, as far as the backup knows. */
export const HeldReply = Schema.Struct({
  deliveryId: Ids.DeliveryId,
  key: Threads.ThreadKey,
  channel: Schema.String,
  chat: Schema.String,
  createdAt: Schema.Int
})

/** At most `listed` of each. */
export const HeldItems = Schema.Struct({
  /** Null when this is no restored copy. */
  restored: Schema.NullOr(Restored),
  threads: Schema.Array(HeldThread),
  replies: Schema.Array(HeldReply)
})
export type HeldItems = typeof HeldItems.Type

export const listed = 1000

/** Why a thread does not answer, for whoever writes to it. */
export const why =
  "The thread is held back: this is a restored copy, and the thread was owed something when the backup was made. `troupe held` shows what is held, and `troupe held --release` or `--drop` decides about it."

export const HeldCount = Schema.Struct({ threads: Schema.Int, replies: Schema.Int })
export type HeldCount = typeof HeldCount.Type

/**
 * `resume`: replies are sent, marked as in doubt; turns go on and messages are answered. `drop`: replies and messages end as
 * `unknown`, turns as failed.
 */
export const Release = Schema.Literals(["resume", "drop"])
export type Release = typeof Release.Type

export class Held extends Context.Service<
  Held,
  {
    readonly list: Effect.Effect<HeldItems>
    readonly count: Effect.Effect<HeldCount>
    /** Whether the thread is held; one that does not exist is not. */
    readonly holds: (threadId: Ids.ThreadId) => Effect.Effect<boolean>
    /** Lets everything go that is held, in one of the two ways; gives how much it was. */
    readonly release: (how: Release) => Effect.Effect<HeldCount, StorageUnavailable>
  }
>()("troupe/conversation/Held") {}
