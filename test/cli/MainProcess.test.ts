import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
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
    60_000
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
    60_000
  )

  it.live(
    "is asked for by a terminal that closes, also when that says so twice",
    () =>
      Effect.gen(function* () {
        const running = yield* start(3_600_000)
        running.process.kill("SIGHUP")
        yield* running.says("ending")
        running.process.kill("SIGHUP")
        running.process.kill("SIGTERM")
        const result = yield* running.ended
        assert.strictEqual(result.code, 130, result.stderr)
        assert.include(result.stdout, "ending")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "takes nothing of the daemon with it that only a crash leaves behind",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        for (const signal of ["SIGTERM", "SIGHUP"] as const) {
          const at = yield* Program.place
          const daemon = yield* Program.daemon(at)
          daemon.process.kill(signal)
          const result = yield* daemon.ended
          assert.deepStrictEqual([result.code, result.signal], [0, null], `${signal}: ${result.stderr}`)
          const left = yield* files.readDirectory(at.data)
          for (const name of ["endpoint.json", "troupe.db-wal"]) assert.notInclude(left, name, signal)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
