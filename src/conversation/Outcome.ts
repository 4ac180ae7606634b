/** When a message that somebody follows is over, and how. */
import * as Effect from "effect/Effect"
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"
import type * as Threads from "../thread/Threads.ts"
import type { WatchItem } from "./Conversations.ts"

export interface Outcome {
  readonly state: Entry.TurnEnd
  readonly failure: Entry.Failure | undefined
}

/** What has been seen of the message so far. */
export interface Followed {
  /** The turn that took it up. */
  readonly turnId: Ids.TurnId | undefined
  readonly ended: Extract<Entry.Entry, { _tag: "TurnEnded" }> | undefined
}

/**
 * How the message ended, with the item taken in; undefined when it has not. One that ended without a turn, because a person let
 * go of what a restored copy owed, has no entry that says so, and is asked for where that may be: when the log has been read, and
 * when another turn has ended.
 */
export const after = <E, R>(
  item: WatchItem,
  { ended, turnId }: Followed,
  receipt: Effect.Effect<Pick<Threads.MessageReceipt, "turnId" | "state" | "failure">, E, R>
): Effect.Effect<Outcome | undefined, E, R> => {
  if (ended !== undefined) return Effect.succeed({ state: ended.state, failure: ended.failure })
  const isTime = item._tag === "CaughtUp" || (item._tag === "Entry" && item.stored.entry._tag === "TurnEnded")
  return turnId === undefined && isTime ? Effect.map(receipt, withoutTurn) : Effect.undefined
}

/** A message that a turn has taken up ends with that turn's entry, which comes. */
const withoutTurn = ({
  failure,
  state,
  turnId
}: Pick<Threads.MessageReceipt, "turnId" | "state" | "failure">): Outcome | undefined =>
  turnId !== null || state === "accepted" || state === "running"
    ? undefined
    : { state: state === "unknown" ? "failed" : state, failure: failure ?? undefined }
