/** Messages that come in while a turn runs, and join it. */
import * as Effect from "effect/Effect"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import type * as Session from "./Session.ts"

/** What may join between two responses. */
const betweenSteps: ReadonlyArray<Entry.Delivery> = ["now", "after-tool"]

export interface Steering {
  /** Whether a message waits that asked to be seen at once. It is taken up when the calls are out of the way. */
  readonly isUrgent: (session: Session.Session) => Effect.Effect<boolean>
  /** The messages that may join now and came in since the last look. */
  readonly arrived: (session: Session.Session) => Effect.Effect<ReadonlyArray<Journal.WaitingMessage["messageId"]>>
  /** The messages that may join now, whether looked at before or not. */
  readonly waiting: (session: Session.Session) => Effect.Effect<ReadonlyArray<Journal.WaitingMessage["messageId"]>>
}

export const make = (journal: Journal.Journal["Service"]): Steering => {
  const joining = Effect.fnUntraced(function* (session: Session.Session, deliveries: ReadonlyArray<Entry.Delivery>) {
    const since = steerableSince(session)
    if (since === undefined) return []
    const { waiting } = yield* journal.owed(session.run.thread.id)
    return waiting
      .filter(({ delivery, seq, source }) => source === "person" && deliveries.includes(delivery) && seq > since)
      .map((message) => message.messageId)
  })

  return {
    isUrgent: Effect.fnUntraced(function* (session) {
      return (yield* session.run.peekNews) && (yield* joining(session, ["now"])).length > 0
    }),
    arrived: Effect.fnUntraced(function* (session) {
      return (yield* session.run.takeNews) ? yield* joining(session, betweenSteps) : []
    }),
    waiting: (session) => joining(session, betweenSteps)
  }
}

/**
 * The `seq` after which a message must have come in to join. Only a person's turn can be joined: the result of a task and a
 * scheduled prompt are answered on their own. A message that asked for a turn of its own begins it alone, so what waited
 * beside it goes on waiting.
 */
const steerableSince = ({ entries, run }: Session.Session): number | undefined => {
  const opening = TurnEntries.opening(entries(), run.turnId)
  if (opening.some((message) => message.source !== "person")) return undefined
  return opening.some((message) => message.delivery === "after-turn") ? TurnEntries.startedAt(entries(), run.turnId) : 0
}
