/** Following a thread through cuts of the connection. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import * as Stream from "effect/Stream"
import type { AttachmentRefused } from "../attachment/Attachment.ts"
import type { ChannelNotFound } from "../channel/Channels.ts"
import type * as Conversations from "../conversation/Conversations.ts"
import type { Overloaded } from "../conversation/Overloaded.ts"
import type * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import type * as Threads from "../thread/Threads.ts"
import * as Unreachable from "./Unreachable.ts"

export interface Cuts {
  /** Told of every cut, before the pause that follows it: for the words "connection lost". */
  readonly onCut?: ((pause: Duration.Duration) => Effect.Effect<void>) | undefined
}

export interface Options extends Cuts {
  readonly thread: TroupeRpcs.ThreadRef
  /** The first entry wanted; 1 is the beginning. */
  readonly from: number
}

export type WatchError =
  | ChannelNotFound
  | Overloaded
  | Threads.ThreadNotFound
  | Conversations.ConversationUnavailable
  | TroupeRpcs.EdgeError
  | RpcClientError

export type SendError = WatchError | AttachmentRefused

export type WatchStream = Stream.Stream<Conversations.WatchItem, WatchError>
export type SentStream = Stream.Stream<TroupeRpcs.SentItem, SendError>

/** What one connection is asked for: a thread from an entry on. */
interface Place {
  readonly thread: TroupeRpcs.ThreadRef
  readonly from: number
}

/** One connection's worth of a thread. */
export type Once = (place: Place) => WatchStream

/** Makes one endless stream of as many connections as it takes. */
export const make =
  (once: Once) =>
  ({ from, onCut, thread }: Options): WatchStream =>
    Stream.suspend(() => {
      let place: Place = { thread, from }
      return connecting(
        () => once(place),
        (item) => {
          if (item._tag === "Entry") place = { thread, from: item.stored.seq + 1 }
        },
        onCut
      )
    })

/** The same for a message that the first connection sends: later ones go on in the thread it is in. */
export const makeSending =
  (once: Once) =>
  (send: SentStream, { onCut }: Cuts): SentStream =>
    Stream.suspend(() => {
      let place: Place | undefined
      return connecting(
        (): SentStream => (place === undefined ? send : once(place)),
        (item) => {
          if (item._tag === "Accepted") place = { thread: item.threadId, from: item.seq }
          if (item._tag === "Entry" && place !== undefined) place = { ...place, from: item.stored.seq + 1 }
        },
        onCut
      )
    })

/** Connection after connection, with growing pauses. One that never gave anything is not tried again. */
const connecting = <A, E extends SendError>(
  connect: () => Stream.Stream<A, E>,
  see: (item: A) => void,
  onCut: Cuts["onCut"]
): Stream.Stream<A, E> =>
  Stream.suspend(() => {
    let connected = false
    let failures = 0

    const pause = Effect.suspend(() => {
      const length = Duration.millis(Math.min(firstPause * 2 ** failures, longestPause))
      failures++
      return Effect.andThen(onCut?.(length) ?? Effect.void, Effect.sleep(length))
    })

    const connection = Stream.suspend(connect).pipe(
      Stream.map((item) => {
        connected = true
        failures = 0
        see(item)
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
const isCut = (cause: Cause.Cause<SendError>): boolean =>
  cause.reasons.every((reason) => {
    if (reason._tag === "Interrupt") return true
    if (reason._tag === "Die") return false
    const error = reason.error
    if (error._tag === "ConversationUnavailable") return true
    return error._tag === "RpcClientError" && !Unreachable.isRefusal(error)
  })
