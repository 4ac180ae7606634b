/** Conversations behind the cluster: accept writes, the owner of the thread is told, and everything else is asked of it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type * as Approval from "../../src/approval/Approval.ts"
import { ConversationEntity, type Signal } from "../../src/conversation/ConversationEntity.ts"
import { Conversations, ConversationUnavailable, type WatchItem } from "../../src/conversation/Conversations.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import * as MessageMetrics from "../../src/conversation/MessageMetrics.ts"
import type * as Ids from "../../src/Ids.ts"
import { isStorageUnavailable } from "../../src/storage/StorageError.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Admission from "./Admission.ts"
import { TurnSlots } from "./TurnSlots.ts"

const pageSize = 200

const make = Effect.gen(function* () {
  const journal = yield* Journal.Journal
  const threads = yield* Threads.Threads
  const actorOf = yield* ConversationEntity.client
  let ending = false
  // This layer ends before the actors do: turns at work may finish, and no further one is begun only to be broken off.
  yield* Effect.acquireRelease(TurnSlots, (slots) => {
    ending = true
    return slots.close
  })

  const acceptQuietly = (message: Journal.InboundMessage) =>
    Effect.andThen(Admission.admit, MessageMetrics.accepting(message.channel, journal.accept(message)))

  const accept = Effect.fn("Conversations.accept")(function* (message: Journal.InboundMessage) {
    const accepted = yield* acceptQuietly(message)
    if (!accepted.duplicate) yield* wake(accepted)
    return accepted
  })

  // A hint: should it be lost, the sweep finds the message in its table. While the process ends an actor may take no more, and
  // whoever hands a message in must not wait for that: it is on disk, and the next process answers it.
  const wake = ({ messageId, seq, threadId }: Omit<Journal.Accepted, "duplicate">) =>
    Effect.suspend(() =>
      ending ? Effect.void : Effect.ignore(actorOf(threadId).Wake({ accepted: { messageId, seq } }, { discard: true }))
    )

  /** A store that cannot be written makes a conversation unreachable, as what asks again later does. */
  const whileStored =
    (threadId: Ids.ThreadId) =>
    <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.catchDefect(effect, (defect) =>
        isStorageUnavailable(defect) ? unreachable(threadId)(defect) : Effect.die(defect)
      )

  const stop = Effect.fn("Conversations.stop")(function* (threadId: Ids.ThreadId, by: string) {
    yield* threads.get(threadId)
    const stopping = Effect.catchTag(actorOf(threadId).Stop({ by }), clusterFailures, unreachable(threadId))
    return yield* whileStored(threadId)(stopping)
  })

  const decide = Effect.fn("Conversations.decide")(function* (threadId: Ids.ThreadId, answer: Approval.Answer) {
    yield* threads.get(threadId)
    const deciding = Effect.catchTag(actorOf(threadId).Decide(answer), clusterFailures, unreachable(threadId))
    return yield* whileStored(threadId)(deciding)
  })

  const inspect = Effect.fn("Conversations.inspect")(function* (threadId: Ids.ThreadId) {
    yield* threads.get(threadId)
    return yield* Effect.catchTag(actorOf(threadId).Inspect(), clusterFailures, unreachable(threadId))
  })

  return Conversations.of({
    accept,
    acceptQuietly,
    wake,
    stop,
    decide,
    inspect,
    watch: (threadId, { from }) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* threads.get(threadId)
          const cursor = yield* Ref.make(from)
          return actorOf(threadId)
            .Watch()
            .pipe(
              Stream.mapError((error) => unavailable(threadId, error)),
              Stream.flatMap((signal) => itemsOf(threads, threadId, cursor, signal))
            )
        })
      )
  })
})

export const layer = Layer.effect(Conversations, make)

/**
 * What one signal adds to a watcher's stream: the log as far as the signal says, or the live event itself. Never further, so
 * that a piece of an answer does not come behind the answer it is a piece of.
 */
const itemsOf = (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  cursor: Ref.Ref<number>,
  signal: Signal
): Stream.Stream<WatchItem> => {
  const logTo = (seq: number) => Stream.paginate(undefined, () => nextPage(threads, threadId, cursor, seq))
  if (signal._tag === "Listening") {
    const caughtUp = Effect.map(Ref.get(cursor), (next): WatchItem => ({ _tag: "CaughtUp", seq: next - 1 }))
    return Stream.concat(logTo(Number.MAX_SAFE_INTEGER), Stream.fromEffect(caughtUp))
  }
  const { event } = signal
  return event._tag === "EntriesCommitted" || event._tag === "MessageAccepted"
    ? logTo(event.seq)
    : Stream.succeed({ _tag: "Live", event })
}

/** The next entries up to `last` that the watcher has not seen, and whether there are more. */
const nextPage = Effect.fnUntraced(function* (
  threads: Threads.Threads["Service"],
  threadId: Ids.ThreadId,
  cursor: Ref.Ref<number>,
  last: number
) {
  const from = yield* Ref.get(cursor)
  const limit = Math.min(pageSize, last - from + 1)
  const { entries, next } = yield* threads.entries(threadId, { from, limit })
  const end = entries.at(-1)
  if (end !== undefined) yield* Ref.set(cursor, end.seq + 1)
  const items = entries.map((stored): WatchItem => ({ _tag: "Entry", stored }))
  return [items, next !== null && next <= last ? Option.some(undefined) : Option.none<undefined>()] as const
})

/** The ways in which the cluster says that it cannot reach an actor now. */
const clusterFailures = [
  "MailboxFull",
  "AlreadyProcessingMessage",
  "PersistenceError",
  "EntityNotAssignedToRunner"
] as const

const unavailable = (threadId: Ids.ThreadId, error: { readonly message: string }) =>
  new ConversationUnavailable({ threadId, reason: error.message })

const unreachable = (threadId: Ids.ThreadId) => (error: { readonly message: string }) =>
  Effect.fail(unavailable(threadId, error))
