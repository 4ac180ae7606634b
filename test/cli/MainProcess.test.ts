import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import * as Program from "./Program.ts"

const neverEnds = fileURLToPath(new URL("./fixtures/neverEnds.ts", import.meta.url))

const start = Effect.fnUntraced(function* (graceMillis: number) {
  const running = yield* Program.start(yield* Program.place, [String(graceMillis)], { program: neverEnds })
  yield* running.says("ready")
  return running
})

describe("the end of the process", () => {
  it.live(
    "is cut off when the grace is over",
    () =>
      Effect.gen(function* () {
        const running = yield* start(10)
        running.process.kill("SIGTERM")
        const result = yield* running.ended
        assert.strictEqual(result.code, 0, result.stderr)
        assert.include(result.stdout, "ending")
        assert.include(result.stderr, "The end took too long and was cut off")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    30_000
  )

  it.live(
    "comes at once with the second signal",
    () =>
      Effect.gen(function* () {
        const running = yield* start(3_600_000)
        running.process.kill("SIGINT")
        yield* running.says("ending")
        running.process.kill("SIGINT")
        const result = yield* running.ended
        assert.strictEqual(result.code, 130, result.stderr)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    30_000
  )
})
