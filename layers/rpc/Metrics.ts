/** The metrics in Prometheus' text format, where the settings ask for them. Behind the gate, as everything but the health check. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as DeliveryMetrics from "../../src/channel/DeliveryMetrics.ts"
import * as MessageMetrics from "../../src/conversation/MessageMetrics.ts"
import { Overview } from "../../src/rpc/Overview.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Wire from "../../src/rpc/Wire.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { observability } = yield* Settings
    if (!observability.prometheus) return
    const overview = yield* Overview
    // A channel that has nothing left is no longer among the figures, and its series must say so.
    const channels = new Set<string>()
    const refresh = Effect.gen(function* () {
      const { oldestOwedMillis, undelivered } = yield* Effect.timeout(overview.read, "2 seconds")
      yield* Metric.update(MessageMetrics.oldestOwedSeconds, (oldestOwedMillis ?? 0) / 1000)
      const counts = new Map(undelivered.map(({ channel, count }) => [channel, count]))
      for (const channel of counts.keys()) channels.add(channel)
      for (const channel of channels) yield* DeliveryMetrics.pending(channel, counts.get(channel) ?? 0)
    })
    yield* router.add(
      "GET",
      Wire.metricsPath,
      // Some figures are counted in the store; one that cannot be read now does not keep the others away.
      Effect.catchCause(refresh, (cause) => Effect.logWarning("Some figures could not be counted", cause)).pipe(
        Effect.andThen(PrometheusMetrics.format()),
        Effect.map((text) => HttpServerResponse.text(text, { contentType }))
      )
    )
  })
)

const contentType = "text/plain; version=0.0.4; charset=utf-8"
