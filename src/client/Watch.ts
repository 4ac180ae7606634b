/** Following a thread through cuts of the connection. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import * as Stream from "effect/Stream"
import type * as Conversations from "../conversation/Conversations.ts"
import type * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import type * as Threads from "../thread/Threads.ts"
import * as Unreachable from "./Unreachable.ts"

export interface Options {
  readonly thread: TroupeRpcs.ThreadRef
  /** The first entry wanted; 1 is the beginning. */
  readonly from: number
  /** Told of every cut, before the pause that follows it: for the words "connection lost". */
  readonly onCut?: ((pause: Duration.Duration) => Effect.Effect<void>) | undefined
}

export type WatchError =
  | Threads.ThreadNotFound
  | Conversations.ConversationUnavailable
  | TroupeRpcs.EdgeError
  | RpcClientError

export type WatchStream = Stream.Stream<Conversations.WatchItem, WatchError>

/** One connection's worth of a thread. */
export type Once = (request: { readonly thread: TroupeRpcs.ThreadRef; readonly from: number }) => WatchStream

/** Makes one endless stream of as many connections as it takes. */
export const make =
  (once: Once) =>
  (options: Options): WatchStream =>
    Stream.suspend(() => {
      let next = options.from
      let connected = false
      let failures = 0

      const pause = Effect.suspend(() => {
        const length = Duration.millis(Math.min(firstPause * 2 ** failures, longestPause))
        failures++
        return Effect.andThen(options.onCut?.(length) ?? Effect.void, Effect.sleep(length))
      })

      const connection = Stream.suspend(() => once({ thread: options.thread, from: next })).pipe(
        Stream.map((item) => {
          connected = true
          failures = 0
          if (item._tag === "Entry") next = item.stored.seq + 1
          return item
        }),
        Stream.catchCause((cause) => (connected && isCut(cause) ? Stream.empty : Stream.failCause(cause)))
      )
      return Stream.forever(Stream.concat(connection, Stream.fromEffectDrain(pause)))
    })

/** In milliseconds. */
const firstPause = 100
const longestPause = 5000

/** The far side went away, or asked to come back later; anything else would only be said again. */
const isCut = (cause: Cause.Cause<WatchError>): boolean =>
  cause.reasons.every((reason) => {
    if (reason._tag === "Interrupt") return true
    if (reason._tag === "Die") return false
    const error = reason.error
    if (error._tag === "ConversationUnavailable") return true
    return error._tag === "RpcClientError" && !Unreachable.isRefusal(error)
  })
