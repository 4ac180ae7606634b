/** What the audio service stands on beside its settings: child processes, files, and the way out as it is by default. */
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Environment } from "../../src/config/Environment.ts"
import * as Http from "../http/Fixtures.ts"
import * as Process from "../process/Setting.ts"

/** `secret`: a key that must be in nothing that is said. `environment`: what the daemon would have been started with. */
export const layer = (secret = "", environment: Readonly<Record<string, string>> = Process.env) =>
  Layer.mergeAll(
    Process.layer,
    Layer.orDie(Http.layer({ secrets: secret === "" ? [] : [Redacted.make(secret)] })),
    Environment.layerTable(environment)
  )
