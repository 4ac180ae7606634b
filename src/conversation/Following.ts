/** Following a message from its acceptance on, without missing the first word of its turn. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Conversations } from "./Conversations.ts"
import type * as Journal from "./Journal.ts"

/**
 * The thread from the message's entry on. A message that was accepted quietly wakes its conversation once the watcher
 * listens, or has gone: nothing of the turn comes before there is somebody to see it.
 */
export const from = (
  conversations: Pick<Conversations["Service"], "wake" | "watch">,
  message: Omit<Journal.Accepted, "duplicate">,
  quiet: boolean
) =>
  Stream.suspend(() => {
    let woken = !quiet
    const wake = Effect.suspend(() => {
      if (woken) return Effect.void
      woken = true
      return conversations.wake(message)
    })
    return conversations.watch(message.threadId, { from: message.seq }).pipe(
      Stream.tap((item) => (item._tag === "CaughtUp" ? wake : Effect.void)),
      Stream.ensuring(wake)
    )
  })
