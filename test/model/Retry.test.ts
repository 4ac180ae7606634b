import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ChatErrors from "../../layers/model/ChatErrors.ts"
import * as Retry from "../../src/model/Retry.ts"

const error = (reason: AiError.AiErrorReason) => AiError.make({ module: "test", method: "test", reason })
const options = { attempts: 3, delay: Duration.seconds(2) }

/** The times, in seconds, at which an always failing request is sent. */
const sentAt = Effect.fnUntraced(function* (reason: AiError.AiErrorReason) {
  const times: Array<number> = []
  const fiber = yield* Clock.currentTimeMillis.pipe(
    Effect.tap((now) => Effect.sync(() => times.push(now / 1000))),
    Effect.andThen(Effect.fail(error(reason))),
    Effect.retry(Retry.schedule(options)),
    Effect.exit,
    Effect.forkChild
  )
  yield* TestClock.adjust("1 day")
  yield* Fiber.join(fiber)
  return times
})

describe("Retry", () => {
  it.effect("pauses longer each time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAt(new AiError.InternalProviderError({ description: "x" })), [0, 2, 6, 14])
    })
  )

  it.effect("waits at least as long as the provider asks", () =>
    Effect.gen(function* () {
      const asked = new AiError.RateLimitError({ retryAfter: Duration.seconds(5) })
      assert.deepStrictEqual(yield* sentAt(asked), [0, 5, 10, 18])
    })
  )

  it.effect("waits its own time when the provider asks for less", () =>
    Effect.gen(function* () {
      const nothing = new AiError.RateLimitError({ retryAfter: Duration.zero })
      assert.deepStrictEqual(yield* sentAt(nothing), [0, 2, 6, 14])
    })
  )

  it.effect("does not sit out a long wait", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAt(new AiError.RateLimitError({ retryAfter: Duration.hours(1) })), [0])
    })
  )

  it.effect("does not repeat what would fail again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAt(new AiError.InvalidRequestError({})), [0])
    })
  )
})

describe("retryAfterOf", () => {
  const now = Date.UTC(2026, 0, 1)
  const cases: ReadonlyArray<readonly [headers: Record<string, string>, message: string, seconds: number | undefined]> =
    [
      [{ "retry-after": "0" }, "", 0],
      [{ "retry-after": "3" }, "", 3],
      [{ "retry-after": "3600" }, "", 3600],
      [{ "retry-after": "1.5" }, "", 1.5],
      [{ "retry-after-ms": "250", "retry-after": "9" }, "", 0.25],
      [{ "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" }, "", 20],
      [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, "", 0],
      [{ "retry-after": "soon" }, "", undefined],
      [{ "retry-after": "-5" }, "", undefined],
      [{ "retry-after": "999999999999" }, "", undefined],
      [{ "retry-after": "garbage" }, "Please try again in 1.5s.", 1.5],
      [{}, "try again in 350ms", 0.35],
      [{}, "Retry after 2 minutes", 120],
      [{}, "no hint", undefined]
    ]
  for (const [headers, message, seconds] of cases) {
    it(`reads ${JSON.stringify(headers)} “${message}” as ${seconds}`, () => {
      const read = ChatErrors.retryAfterOf(new Headers(headers), message, now)
      assert.strictEqual(read === undefined ? undefined : Duration.toSeconds(read), seconds)
    })
  }
})
