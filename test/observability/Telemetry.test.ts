/** What a collector gets, and what it never gets. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Http from "node:http"
import * as Telemetry from "../../layers/observability/Telemetry.ts"
import { Settings, type SettingsInput } from "../../src/config/Settings.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"

const secret = "sk-very-secret-0123456789"

/** A collector on the loopback interface; `when` waits for what it wants to have got. */
const collector = Effect.gen(function* () {
  const got: Array<{ readonly path: string; readonly headers: Http.IncomingHttpHeaders; readonly body: string }> = []
  const waiting = new Set<() => void>()
  const server = Http.createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => (body += String(piece)))
    request.on("end", () => {
      got.push({ path: request.url ?? "", headers: request.headers, body })
      response.end("{}")
      for (const look of waiting) look()
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.sync(() => server.close())
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const all = () => got.map(({ body }) => body).join("\n")
  const when = (path: string, text: string) =>
    Effect.gen(function* () {
      const found = yield* Deferred.make<void>()
      const look = () => {
        if (got.some((one) => one.path === path && one.body.includes(text))) Deferred.doneUnsafe(found, Effect.void)
      }
      waiting.add(look)
      look()
      yield* Deferred.await(found)
      waiting.delete(look)
    })
  return { got, all, when, url: `http://127.0.0.1:${port}` }
})

const telemetry = (observability: NonNullable<SettingsInput["observability"]>) =>
  Telemetry.layer.pipe(
    Layer.provideMerge(Logger.layer([])),
    Layer.provide([
      Layer.orDie(Settings.layer({ observability: { otlp_interval_seconds: 0.05, ...observability } })),
      KnownSecrets.layer([Redacted.make(secret)])
    ])
  )

const work = Effect.gen(function* () {
  yield* Effect.logInfo(`a log line with ${secret} in it`)
  yield* Metric.update(Metric.counter("telemetry_test_total", { incremental: true }), 1)
  return yield* Effect.fail(`the provider said ${secret}`)
}).pipe(Effect.withSpan("telemetry.test", { attributes: { words: `with ${secret}` } }), Effect.ignore)

describe("telemetry", () => {
  it.live("goes to the collector, as traces, metrics and logs, with secrets masked", () =>
    Effect.gen(function* () {
      const { all, got, url, when } = yield* collector
      yield* Effect.gen(function* () {
        yield* work
        yield* when("/v1/traces", "telemetry.test")
        yield* when("/v1/metrics", "telemetry_test_total")
        yield* when("/v1/logs", "a log line")
      }).pipe(
        Effect.provide(
          telemetry({ otlp_endpoint: url, otlp_headers: { "x-collector": "key" }, service_name: "my troupe" })
        )
      )
      assert.notInclude(all(), secret)
      assert.include(all(), "with [redacted]")
      assert.include(all(), "my troupe")
      assert.isTrue(got.every(({ headers }) => headers["x-collector"] === "key"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("goes to a path before the query of the collector's address", () =>
    Effect.gen(function* () {
      const { got, url } = yield* collector
      yield* Effect.provide(work, telemetry({ otlp_endpoint: `${url}/in?key=a%26b&k=2`, otlp_interval_seconds: 3600 }))
      const paths = new Set(got.map(({ path }) => path))
      for (const signal of ["traces", "metrics", "logs"]) {
        assert.isTrue(paths.has(`/in/v1/${signal}?key=a%26b&k=2`), [...paths].join(" "))
      }
    }).pipe(Effect.scoped)
  )

  it.live("is sent once more at the end", () =>
    Effect.gen(function* () {
      const { all, url } = yield* collector
      yield* Effect.provide(work, telemetry({ otlp_endpoint: url, otlp_interval_seconds: 3600 }))
      assert.include(all(), "telemetry.test")
      assert.include(all(), "a log line")
    }).pipe(Effect.scoped)
  )

  it.live("is not gathered without a collector", () =>
    Effect.gen(function* () {
      const { got } = yield* collector
      yield* Effect.provide(work, telemetry({}))
      assert.strictEqual(got.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("to a collector that nobody runs keeps nobody from working or from ending", () =>
    Effect.provide(work, telemetry({ otlp_endpoint: "http://127.0.0.1:1" }))
  )
})
