/**
 * The settings of an installation, decoded and checked. Keys are spelled the same in the file, here and in the documents.
 *
 * A new section is one file in `sections/` and one line in `schema` below (and one in `rules`, if it has any).
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { ConfigError } from "./ConfigError.ts"
import * as Decode from "./Decode.ts"
import * as Key from "./Key.ts"
import type { Rule } from "./Rule.ts"
import * as Attachments from "./sections/Attachments.ts"
import * as Http from "./sections/Http.ts"
import * as Ledger from "./sections/Ledger.ts"
import * as Llm from "./sections/Llm.ts"
import * as Logging from "./sections/Logging.ts"
import * as Memory from "./sections/Memory.ts"
import * as Observability from "./sections/Observability.ts"
import * as Orchestration from "./sections/Orchestration.ts"
import * as Outbound from "./sections/Outbound.ts"
import * as Policy from "./sections/Policy.ts"
import * as Providers from "./sections/Providers.ts"
import * as Retention from "./sections/Retention.ts"
import * as Runtime from "./sections/Runtime.ts"
import * as Storage from "./sections/Storage.ts"
import * as Tools from "./sections/Tools.ts"
import * as Vault from "./sections/Vault.ts"

/** The whole file. */
export const schema = Key.table({
  runtime: Runtime.section,
  storage: Storage.section,
  retention: Retention.section,
  http: Http.section,
  logging: Logging.section,
  observability: Observability.section,
  providers: Providers.section,
  llm: Llm.section,
  orchestration: Orchestration.section,
  memory: Memory.section,
  attachments: Attachments.section,
  outbound: Outbound.section,
  ledger: Ledger.section,
  policy: Policy.section,
  vault: Vault.section,
  tools: Tools.section
})

/** What must hold between keys, all sections together. */
const rules: ReadonlyArray<Rule<SettingsValue>> = [
  ...Http.rules,
  ...Observability.rules,
  ...Providers.rules,
  ...Llm.rules,
  ...Memory.rules,
  ...Orchestration.rules,
  ...Tools.rules,
  ...Vault.rules
]

/** Decoded settings: durations are `Duration`, sizes are bytes, secrets are `Redacted`. */
export type SettingsValue = typeof schema.Type

/** Settings as they may be written: every key optional, values as in the file. */
export type SettingsInput = typeof schema.Encoded

/** Decodes and checks settings written in code or read from a file. Reports everything that is wrong at once. */
export const decode = (input: unknown, options: Decode.Options): Effect.Effect<SettingsValue, ConfigError> =>
  Decode.decode(schema, rules, input, options)

/** The settings in force: `const { llm } = yield* Settings`. */
export class Settings extends Context.Service<Settings, SettingsValue>()("troupe/config/Settings") {
  /** Settings written in code, for programs that embed the runtime and for tests: checked exactly as a file would be. */
  static readonly layer = (input: SettingsInput = {}): Layer.Layer<Settings, ConfigError> =>
    Layer.effect(Settings, decode(input, { source: "settings given in code" }))

  /** The schema of the whole file. */
  static readonly schema = schema

  /** What applies when nothing is configured. */
  static get defaults(): SettingsValue {
    // Not before they are asked for: the commands beside the daemon load this module and need none of it.
    decodedDefaults ??= Schema.decodeSync(schema)({})
    return decodedDefaults
  }
}

let decodedDefaults: SettingsValue | undefined
