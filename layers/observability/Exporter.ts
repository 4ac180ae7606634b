/**
 * Traces, metrics and logs to a collector that speaks OTLP. Everything that leaves has its secrets masked at the last step,
 * whatever part of the program wrote it.
 *
 * A collector that is away, slow or full costs what was gathered meanwhile and nothing else.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type { SettingsValue } from "../../src/config/Settings.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { version } from "../cli/Version.ts"

/** How long one request to the collector may take; without an end, what is gathered would grow behind one that hangs. */
const requestTimeout = Duration.seconds(5)

/** Exports to this collector for as long as the layer lives. */
export const layer = (
  endpoint: string,
  settings: SettingsValue["observability"]
): Layer.Layer<never, never, KnownSecrets> => {
  const { origin, pathname, search } = new URL(endpoint)
  return Otlp.layerJson({
    baseUrl: `${origin}${pathname}`,
    headers: Record.map(settings.otlp_headers, Redacted.value),
    resource: { serviceName: settings.service_name, serviceVersion: version },
    loggerExportInterval: settings.otlp_interval_seconds,
    metricsExportInterval: settings.otlp_interval_seconds,
    tracerExportInterval: settings.otlp_interval_seconds,
    shutdownTimeout: "1 second"
  }).pipe(Layer.provide(prepared(search)), Layer.provide(FetchHttpClient.layer))
}

/** Requests with the query that the address has, after the path that each signal adds to it, and their secrets masked. */
const prepared = (search: string) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const secrets = yield* KnownSecrets
      return client.pipe(
        HttpClient.mapRequest((request) =>
          request.pipe(
            HttpClientRequest.setUrl(`${request.url}${search}`),
            HttpClientRequest.setBody(mask(request.body, secrets))
          )
        ),
        HttpClient.transform(giveUp)
      )
    })
  )

const mask = (body: HttpBody.HttpBody, secrets: KnownSecrets["Service"]): HttpBody.HttpBody =>
  body._tag === "Uint8Array" ? HttpBody.text(secrets.text(new TextDecoder().decode(body.body)), body.contentType) : body

const giveUp = <A, E, R>(response: Effect.Effect<A, E, R>, request: HttpClientRequest.HttpClientRequest) =>
  Effect.timeoutOrElse(response, {
    duration: requestTimeout,
    orElse: () =>
      Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description: "The collector did not answer in time" })
        })
      )
  })
