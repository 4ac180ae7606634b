import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as TestClock from "effect/testing/TestClock"
import { APIConnectionError } from "openai"
import * as OpenAiErrors from "../../layers/model/OpenAiErrors.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as Retry from "../../src/model/Retry.ts"

const error = (reason: AiError.AiErrorReason) => AiError.make({ module: "test", method: "test", reason })
const options = { attempts: 3, delay: Duration.seconds(2) }

/** Chance that always says the same, from 0 up to 1. */
const chance = (says: number) =>
  Effect.provideService(Random.Random, { nextDoubleUnsafe: () => says, nextIntUnsafe: () => 0 })

/** The times, in seconds after the first, at which an always failing request is sent. */
const sentAt = Effect.fnUntraced(function* (reason: AiError.AiErrorReason, says = 0) {
  const times: Array<number> = []
  const fiber = yield* Clock.currentTimeMillis.pipe(
    Effect.tap((now) => Effect.sync(() => times.push(now / 1000))),
    Effect.andThen(Effect.fail(error(reason))),
    Effect.retry(Retry.schedule(options)),
    chance(says),
    Effect.exit,
    Effect.forkChild
  )
  yield* TestClock.adjust("1 day")
  yield* Fiber.join(fiber)
  return times.map((time) => time - (times[0] ?? 0))
})

describe("Retry", () => {
  it.effect("pauses longer each time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAt(new AiError.InternalProviderError({ description: "x" })), [0, 2, 6, 14])
    })
  )

  it.effect("F083: waits at least as long as the provider asks", () =>
    Effect.gen(function* () {
      const asked = new AiError.RateLimitError({ retryAfter: Duration.seconds(5) })
      assert.deepStrictEqual(yield* sentAt(asked), [0, 5, 10, 18])
    })
  )

  it.effect("F083: waits its own time when the provider asks for less", () =>
    Effect.gen(function* () {
      const nothing = new AiError.RateLimitError({ retryAfter: Duration.zero })
      assert.deepStrictEqual(yield* sentAt(nothing), [0, 2, 6, 14])
    })
  )

  it.effect("is spread by chance, and never shorter than planned or asked for", () =>
    Effect.gen(function* () {
      const failure = new AiError.InternalProviderError({ description: "x" })
      assert.deepStrictEqual(yield* sentAt(failure, 1), [0, 2.5, 7.5, 17.5])
      const asked = new AiError.RateLimitError({ retryAfter: Duration.seconds(5) })
      assert.deepStrictEqual(yield* sentAt(asked, 0.5), [0, 5, 10, 19])
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

/** What is told of the retries of an always failing request: which, of how many, after how many seconds, and why. */
const told = Effect.fnUntraced(function* (failure: AiError.AiError) {
  const retries: Array<readonly [number, number, number, string]> = []
  const fiber = yield* Effect.fail(failure).pipe(
    Effect.retry(Retry.schedule(options)),
    Effect.provideService(Retry.OnRetry, ({ reason, retries: most, retry, wait }) =>
      Effect.sync(() => void retries.push([retry, most, Duration.toSeconds(wait), reason]))
    ),
    chance(0),
    Effect.exit,
    Effect.forkChild
  )
  yield* TestClock.adjust("1 day")
  yield* Fiber.join(fiber)
  return retries
})

describe("who asks", () => {
  it.effect("is told of every retry before its pause, and of none that does not come", () =>
    Effect.gen(function* () {
      const failure = error(new AiError.InternalProviderError({ description: "It is down" }))
      assert.deepStrictEqual(yield* told(failure), [
        [1, 3, 2, "It is down"],
        [2, 3, 4, "It is down"],
        [3, 3, 8, "It is down"]
      ])
      // How long is waited stands beside the reason, and is not said twice.
      const limited = error(new AiError.RateLimitError({ retryAfter: Duration.seconds(3) }))
      assert.deepStrictEqual((yield* told(limited))[0], [1, 3, 3, "The provider limits the rate of requests"])
      assert.include(ModelError.describe(limited).message, "it asks to wait 3s")
      assert.deepStrictEqual(yield* told(error(new AiError.InvalidRequestError({}))), [])
    })
  )
})

describe("a server on this machine that refuses the connection", () => {
  const refusedAt = (baseUrl: string, code = "ECONNREFUSED") =>
    OpenAiErrors.fromThrown(
      new APIConnectionError({ cause: Object.assign(new Error("connect"), { code }) }),
      { provider: "local", model: "m", baseUrl },
      0
    )

  for (const host of ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "models.localhost"]) {
    it.effect(`is waited for two seconds at ${host}`, () =>
      Effect.gen(function* () {
        const retries = yield* told(refusedAt(`http://${host}:9/v1`))
        assert.deepStrictEqual(
          retries.map(([retry, , wait]) => [retry, wait]),
          [
            [1, 1],
            [2, 1]
          ]
        )
        assert.include(retries[0]?.[3] ?? "", `${host}:9: nothing listens there. Start it`)
      })
    )
  }

  for (const [name, failure] of [
    ["another machine", refusedAt("http://10.0.0.7:9/v1")],
    ["a name that only looks like one of this machine", refusedAt("http://localhost.example.net:9/v1")],
    ["another failure", refusedAt("http://127.0.0.1:9/v1", "ECONNRESET")]
  ] as const) {
    it.effect(`${name} is waited for as configured`, () =>
      Effect.map(told(failure), (retries) =>
        assert.deepStrictEqual(
          retries.map(([, , wait]) => wait),
          [2, 4, 8]
        )
      )
    )
  }
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
      [{ "retry-after": "90000" }, "", 90_000],
      [{ "retry-after": "Sun, 04 Jan 2026 00:00:00 GMT" }, "", 259_200],
      // However long, it stays long: as good as not said would be asked again at once.
      [{ "retry-after": "999999999999" }, "", 31_536_000],
      [{ "retry-after": "9".repeat(40) }, "", 31_536_000],
      [{ "retry-after-ms": "9".repeat(40) }, "", 31_536_000],
      [{ "retry-after": "Fri, 01 Jan 2126 00:00:00 GMT" }, "", 31_536_000],
      [{}, "Please try again in 2 days", 172_800],
      [{}, "Please try again in 1h2m3.5s.", 3723.5],
      [{}, "Please try again in 7m66.5s. Need more?", 486.5],
      [{}, "try again in 3 minutes and 4 seconds", 180],
      [{}, "try again in 5 monkeys", undefined],
      [{ "retry-after": "garbage" }, "Please try again in 1.5s.", 1.5],
      [{ "retry-after-ms": "0" }, "", 0],
      [{}, "try again in 350ms", 0.35],
      [{}, "Please try again in 0.05s", 0.05],
      [{}, "Retry after 2 minutes", 120],
      [{}, "no hint", undefined]
    ]
  for (const [headers, message, seconds] of cases) {
    it(`F083: reads ${JSON.stringify(headers)} “${message}” as ${seconds}`, () => {
      const read = OpenAiErrors.retryAfterOf(new Headers(headers), message, now)
      assert.strictEqual(read === undefined ? undefined : Duration.toSeconds(read), seconds)
    })
  }
})
