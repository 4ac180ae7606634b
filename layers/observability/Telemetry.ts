/** What this process tells others of itself by its own doing: an export to a collector, where the settings name one. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../src/config/Settings.ts"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"

/** Nothing is exported, and no code for it loaded, unless `[observability].otlp_endpoint` is set. */
export const layer: Layer.Layer<never, never, Settings | KnownSecrets> = Layer.unwrap(
  Effect.gen(function* () {
    const { observability } = yield* Settings
    const { otlp_endpoint: endpoint } = observability
    if (endpoint === undefined) return Layer.empty
    const Exporter = yield* Effect.promise(() => import("./Exporter.ts"))
    return Exporter.layer(endpoint, observability)
  })
)
