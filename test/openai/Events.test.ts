import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Http from "../../layers/openai/Http.ts"

it.effect("comments for a client that does not read do not pile up", () =>
  Effect.gen(function* () {
    const pull = yield* Stream.toPull(Http.events(Stream.never, () => []))
    const first = yield* Effect.forkChild(pull, { startImmediately: true })
    yield* TestClock.adjust("15 seconds")
    assert.deepStrictEqual(yield* Fiber.join(first), [": keep-alive\n\n"])
    // Nobody reads for a day, which has 5760 of them.
    yield* TestClock.adjust("1 day")
    let waiting = 0
    for (;;) {
      const next = yield* Effect.forkChild(pull, { startImmediately: true })
      for (let turn = 0; turn < 100 && next.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
      if (next.pollUnsafe() === undefined) break
      waiting += (yield* Fiber.join(next)).length
    }
    assert.isAtMost(waiting, 20)
  }).pipe(Effect.scoped)
)
