/** The body of a response as a stream: decompressed, counted, and waited for only so long. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { OutboundError, Reason } from "../../src/http/Outbound.ts"
import * as OutboundMetrics from "../../src/http/OutboundMetrics.ts"
import type * as Masking from "../../src/secret/Masking.ts"
import * as Decompression from "./Decompression.ts"
import * as Exchange from "./Exchange.ts"
import * as Sockets from "./Sockets.ts"

/** Text rarely becomes a tenth of itself; what is much smaller was made to be. */
const largestRatio = 250
/** Below this many bytes, nobody minds the ratio. */
const harmless = 1024 * 1024

export interface Options {
  /** Bytes, decompressed. */
  readonly limit: number
  readonly fail: (reason: Reason) => OutboundError
  /** Waits for the next piece, for as long as the limits allow. */
  readonly waiting: <A>(effect: Effect.Effect<A, OutboundError>) => Effect.Effect<A, OutboundError>
}

export const stream = (
  { body, taken }: Decompression.Decompressed,
  { fail, limit, waiting }: Options
): Stream.Stream<Uint8Array, OutboundError> => {
  const pieces = body[Symbol.asyncIterator]()
  const next = waiting(
    Effect.tryPromise({
      try: () => pieces.next(),
      catch: (error) => {
        const code = Sockets.codeOf(error)
        return fail(Decompression.isOurs(code) ? "invalid_encoding" : Exchange.brokenBy(error))
      }
    })
  )
  return Stream.unfold(
    0,
    Effect.fnUntraced(
      function* (before) {
        const { done, value } = yield* next
        if (done === true || !(value instanceof Uint8Array)) return undefined
        const read = before + value.length
        if (taken !== undefined && read > harmless && read > largestRatio * taken()) {
          return yield* fail("decompression_bomb")
        }
        if (read > limit) return yield* fail("body_too_large")
        yield* OutboundMetrics.read(value.length)
        return [value, read] as const
      },
      Effect.tapError(({ reason }) => OutboundMetrics.failed(reason))
    )
  )
}

/** The same body with the secrets of this process masked, before anybody counts or cuts it. */
export const masked = (
  body: Stream.Stream<Uint8Array, OutboundError>,
  mask: () => Masking.Masking<Uint8Array>
): Stream.Stream<Uint8Array, OutboundError> =>
  Stream.suspend(() => {
    const masking = mask()
    return Stream.map(body, masking.take).pipe(
      Stream.concat(Stream.fromEffect(Effect.sync(() => masking.rest({ cut: true })))),
      Stream.filter(({ length }) => length > 0)
    )
  })
