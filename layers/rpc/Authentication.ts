/** Lets in whoever knows the token, and tells handlers who calls. */
import * as Cause from "effect/Cause"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ids from "../../src/Ids.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import { Authentication, Caller, InternalError, Unauthorized } from "../../src/rpc/TroupeRpcs.ts"
import * as Wire from "../../src/rpc/Wire.ts"
import { unavailableIn } from "../../src/storage/StorageError.ts"

/** Whether a token that was sent is the one in force. Takes the same time however much of it is right. */
export const isToken = (expected: Redacted.Redacted, sent: string | undefined): boolean =>
  sent !== undefined && Mac.timingSafeEqual(bytes(Redacted.value(expected)), bytes(sent))

/** The token of an `Authorization: Bearer …` header. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]

/**
 * The middleware of every call. What goes wrong inside a handler without being declared is written to the log under a
 * reference, and the caller gets the reference alone.
 */
export const layer: Layer.Layer<Authentication, never, AccessToken> = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const { token } = yield* AccessToken
    return Authentication.of((call, { headers, rpc }) => {
      const sent = bearerOf(headers["authorization"])
      if (!isToken(token, sent)) {
        const reason = sent === undefined ? "the call carries no bearer token" : "the bearer token is wrong"
        return Effect.fail(new Unauthorized({ reason }))
      }
      return call.pipe(
        Effect.provideService(Caller, { name: callerName(headers[Wire.clientHeader]) }),
        Effect.catchCauseIf(Cause.hasDies, (cause) => hideDefect(rpc._tag, cause))
      )
    })
  })
)

const hideDefect = Effect.fnUntraced(function* (call: string, cause: Cause.Cause<unknown>) {
  const unavailable = unavailableIn(cause)
  if (unavailable !== undefined) return yield* unavailable
  const reference = (yield* Ids.makeMessageId).slice(-12)
  yield* Effect.annotateLogs(Effect.logError(`The call ${call} failed`, cause), { reference })
  return yield* new InternalError({ reference })
})

const callerName = (header: string | undefined): string =>
  header !== undefined && /^[a-z0-9][a-z0-9 ._-]{0,63}$/i.test(header) ? header : "rpc"

const encoder = new TextEncoder()
const bytes = (text: string): Uint8Array => encoder.encode(text)
