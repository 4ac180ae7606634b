import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import * as Http from "node:http"
import { join } from "node:path"
import * as EndpointFile from "../../layers/rpc/EndpointFile.ts"
import * as Database from "../../layers/storage/Database.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

const announced = (path: string) =>
  EndpointFile.layer.pipe(
    Layer.provide([
      Database.layerMemory,
      NodeHttpServer.layer(Http.createServer, { host: "127.0.0.1", port: 0 }),
      Layer.succeed(DataDirectory, { path, file: (name) => join(path, name) })
    ])
  )

const inPlace = <A, E, R>(use: (path: string, files: FileSystem.FileSystem) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.flatMap(files.makeTempDirectoryScoped(), (path) => use(path, files))
  ).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("the file that says where the daemon is", () => {
  it.effect("is written again when it is deleted, and goes with the daemon", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const endpoint = join(path, "endpoint.json")
        yield* Effect.gen(function* () {
          const text = yield* files.readFileString(endpoint)
          yield* files.remove(endpoint)
          yield* TestClock.adjust("2 seconds")
          yield* files
            .exists(endpoint)
            .pipe(
              Effect.repeat({ until: (exists) => exists, schedule: Schedule.spaced("5 millis") }),
              Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
            )
          assert.strictEqual(yield* files.readFileString(endpoint), text)
          assert.strictEqual((yield* files.stat(endpoint)).mode & 0o777, 0o600)
        }).pipe(Effect.provide(announced(path)))
        assert.isFalse(yield* files.exists(endpoint))
      })
    )
  )

  it.effect("cannot be written where something else has its name, which is to be moved away", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        yield* files.makeDirectory(join(path, "endpoint.json"))
        const error = yield* Effect.flip(Effect.provide(Effect.void, announced(path)))
        assert.strictEqual(
          error.message,
          `The data directory ${path} cannot be used: endpoint.json in it is a directory and not a file. ` +
            "Move endpoint.json away: a new one is made."
        )
        assert.deepStrictEqual(yield* files.readDirectory(path), ["endpoint.json"])
      })
    )
  )

  it.effect("stays when it is another daemon's", () =>
    inPlace((path, files) =>
      Effect.gen(function* () {
        const endpoint = join(path, "endpoint.json")
        const other = `{"url":"http://127.0.0.1:9","pid":1,"incarnation":"inc_${"0".repeat(26)}","version":"0"}`
        yield* Effect.provide(files.writeFileString(endpoint, other), announced(path))
        assert.strictEqual(yield* files.readFileString(endpoint), other)
      })
    )
  )
})
