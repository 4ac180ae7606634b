/** From an accepted message to its answer, as it comes in. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ClientAbort } from "effect/http/HttpServerError"
import * as Stream from "effect/Stream"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as Following from "../../src/conversation/Following.ts"
import * as Outcome from "../../src/conversation/Outcome.ts"
import * as Problem from "../../src/openai/Problem.ts"
import * as Reply from "../../src/conversation/Reply.ts"
import * as Threads from "../../src/thread/Threads.ts"
import type { Accepted } from "./Asking.ts"
import * as Asking from "./Asking.ts"
import * as Departure from "./Departure.ts"

export type Replies = Stream.Stream<Reply.Reply, Problem.Problem>

export const make = Effect.gen(function* () {
  const conversations = yield* Conversations
  const threads = yield* Threads.Threads
  const departure = yield* Departure.Departure

  // What is on disk decides: who follows may not have heard of it yet.
  const hasBegun = ({ messageId }: Accepted) =>
    Effect.map(Effect.orDie(threads.receipt(messageId)), ({ state }) => state !== "accepted")

  const isOver = Effect.fnUntraced(function* ({ messageId }: Accepted, { item, reply }: Seen) {
    const outcome = yield* Outcome.after(item, reply, Effect.orDie(threads.receipt(messageId)))
    if (outcome === undefined || outcome.state === "answered") return outcome !== undefined
    return yield* Problem.ofTurn(outcome.state, outcome.failure)
  })

  /**
   * The reply each time that it has changed; the last one is the whole answer. Fails with how the turn ended if it was not
   * answered. Without `live`, it holds what the log holds and nothing else. `stopWhenLeft`: a client that goes away takes its turn
   * with it, if that has begun.
   */
  const follow = (
    accepted: Accepted,
    { live, stopWhenLeft }: How
  ): { readonly replies: Replies; readonly left: Left } => {
    let last = Reply.start(accepted.messageId)
    const replies = Following.from(conversations, accepted, accepted.quiet).pipe(
      Stream.mapError(() => Problem.unavailable),
      Stream.map((item): Seen => {
        if (live || item._tag === "Entry") last = Reply.next(last, item)
        return { item, reply: last }
      }),
      Stream.takeUntilEffect((seen) => isOver(accepted, seen)),
      Stream.map(({ reply }) => reply),
      Stream.changes,
      (answer) => departure.until(answer, hasBegun(accepted))
    )
    const left = (exit: Exit.Exit<unknown, unknown>) =>
      stopWhenLeft && last.turnId !== undefined && last.ended === undefined && isAbort(exit)
        ? Effect.ignore(conversations.stop(accepted.threadId, Asking.channel))
        : Effect.void
    return {
      replies: Stream.concat(
        replies,
        Stream.suspend(() => mustHaveEnded(last))
      ),
      left
    }
  }
  return follow
})

interface How {
  readonly live: boolean
  readonly stopWhenLeft: boolean
}

/** Told how the response to the client ended. */
export type Left = (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>

interface Seen {
  readonly item: Parameters<typeof Reply.next>[1]
  readonly reply: Reply.Reply
}

const mustHaveEnded = ({ ended }: Reply.Reply): Stream.Stream<never, Problem.Problem> =>
  ended === undefined ? Stream.fail(Problem.unavailable) : Stream.empty

/** The client closed its connection; a daemon that goes away interrupts as well, and must leave the turn alone. */
const isAbort = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(ClientAbort.key)) &&
  Cause.hasInterrupts(exit.cause)
