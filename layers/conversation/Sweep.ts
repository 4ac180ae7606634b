/**
 * The sweep: wakes the conversation of every thread that owes something, at the start and every few seconds. It is what
 * makes a lost wake-up, a crash or a failed attempt cost time and nothing else. One runs in the whole cluster.
 */
import * as Singleton from "effect/cluster/Singleton"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Settings from "../../src/config/Settings.ts"
import { ConversationEntity } from "../../src/conversation/ConversationEntity.ts"
import * as Journal from "../../src/conversation/Journal.ts"

/** More threads than this are woken over several rounds, the oldest debt first. */
const batch = 5000

/** After this many the others get their turn: a process that wakes very many threads at its start serves meanwhile. */
const stride = 16

const sweep = Effect.gen(function* () {
  const { runtime } = yield* Settings.Settings
  const journal = yield* Journal.Journal
  const actorOf = yield* ConversationEntity.client

  const round = Effect.gen(function* () {
    const owing = yield* journal.owedThreads(batch)
    yield* Effect.forEach(
      owing,
      (threadId, index) =>
        Effect.andThen(
          index % stride === 0 ? Effect.yieldNow : Effect.void,
          Effect.ignore(actorOf(threadId).Wake({ accepted: null }, { discard: true }))
        ),
      { discard: true }
    )
  }).pipe(
    Effect.withSpan("conversation.sweep"),
    Effect.catchDefect((defect) => Effect.logError("A sweep failed; the next one follows", defect))
  )
  yield* Effect.repeat(round, Schedule.spaced(runtime.sweep_interval_seconds))
})

export const layer = Singleton.make("conversation-sweep", sweep)
