/**
 * The models of the settings: `[llm]` says which one answers, `[providers.<name>]` how to reach it.
 *
 * The adapter, with its SDK and HTTP library, is loaded when a provider is first used; with `offline` it never is.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { lacksKey } from "../../src/config/sections/Providers.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import { ModelUnavailable } from "../../src/model/ModelError.ts"
import { Models } from "../../src/model/Models.ts"
import type { AvailableProvider, ModelHandle, ModelSelection } from "../../src/model/Models.ts"
import * as Offline from "../../src/model/Offline.ts"
import * as Providers from "../../src/model/Providers.ts"
import { secretsIn } from "../../src/observability/Redactor.ts"

/** Models kept at the same time. One is only a few closures, but names of models may come from conversations. */
const kept = 256

/** `Models` from the settings. */
export const layer: Layer.Layer<Models, never, Settings> = Layer.effect(
  Models,
  Effect.gen(function* () {
    const settings = yield* Settings
    const scope = yield* Effect.scope
    const offline: ModelHandle = {
      provider: Providers.offline,
      model: Offline.modelName,
      languageModel: yield* Offline.make
    }
    // Interrupting one caller must not leave the others a half-loaded adapter.
    const adapter = yield* Effect.cached(loadAdapter(settings).pipe(Scope.provide(scope), Effect.uninterruptible))
    const handles = new Map<string, ModelHandle>()

    const get = Effect.fn("Models.get")(function* (selection: ModelSelection = {}) {
      const target = yield* choose(settings, selection)
      if (target.provider === Providers.offline) return offline
      const key = JSON.stringify([target.provider, target.model])
      const cached = handles.get(key)
      if (cached !== undefined) return cached
      const resolved = yield* resolve(settings, target)
      const languageModel = yield* (yield* adapter)(resolved)
      const handle = { ...target, languageModel }
      if (handles.size >= kept) handles.clear()
      handles.set(key, handle)
      return handle
    })

    return Models.of({ get, default: get(), available: listAvailable(settings) })
  })
)

interface Target {
  readonly provider: string
  readonly model: string
}

interface Resolved extends Target {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
}

/** Fills in what the selection leaves open. */
const choose = Effect.fnUntraced(function* (settings: SettingsValue, selection: ModelSelection) {
  const provider = Providers.normalizeName(selection.provider ?? settings.llm.provider)
  if (provider === Providers.offline) return { provider, model: Offline.modelName }
  const configured = provider === settings.llm.provider ? settings.llm.model : settings.providers[provider]?.models[0]
  const model = (selection.model ?? configured ?? "").trim()
  if (settings.providers[provider] === undefined && Providers.find(provider) === undefined) {
    return yield* unknownProvider(settings, provider)
  }
  if (model !== "") return { provider, model }
  return yield* new ModelUnavailable({
    provider,
    reason: "missing-model",
    remedy:
      provider === settings.llm.provider
        ? "Set [llm].model to a model of this provider"
        : `Name a model, or list one in [providers.${provider}].models`
  })
})

/** How to reach a provider, or why it cannot be. */
const resolve = Effect.fnUntraced(function* (settings: SettingsValue, target: Target) {
  const section = settings.providers[target.provider]
  const known = Providers.find(target.provider)
  const baseUrl = section?.base_url ?? known?.baseUrl
  if (baseUrl === undefined) {
    return yield* new ModelUnavailable({
      provider: target.provider,
      reason: "missing-base-url",
      remedy: `Set [providers.${target.provider}].base_url to the address of its API, up to and including /v1`
    })
  }
  if (!hasCredentials(settings, target.provider)) {
    return yield* new ModelUnavailable({
      provider: target.provider,
      reason: "missing-key",
      remedy: `Set [providers.${target.provider}].api_key, for example to "\${${target.provider.toUpperCase()}_API_KEY}"`
    })
  }
  const resolved: Resolved = {
    ...target,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey: section === undefined || Redacted.value(section.api_key) === "" ? undefined : section.api_key,
    headers: section?.headers ?? {}
  }
  return resolved
})

/** Only the well-known hosts are known to want a key; at another address that is the address's own business. */
const hasCredentials = (settings: SettingsValue, provider: string): boolean =>
  !lacksKey(provider, settings.providers[provider])

const unknownProvider = (settings: SettingsValue, provider: string) => {
  const names = new Set([...Providers.knownProviders.map(({ name }) => name), ...Object.keys(settings.providers)])
  return new ModelUnavailable({
    provider,
    reason: "unknown-provider",
    remedy: `Add a [providers.${provider}] section with a base_url, or use one of ${[...names].toSorted().join(", ")}`
  })
}

/** The configured providers that can be asked, and `offline`. */
const listAvailable = (settings: SettingsValue): ReadonlyArray<AvailableProvider> => {
  const configured = new Set([...Object.keys(settings.providers), settings.llm.provider])
  return [...configured.add(Providers.offline)]
    .filter((name) => hasCredentials(settings, name))
    .map((name) => ({
      name,
      models: name === Providers.offline ? [Offline.modelName] : modelsOf(settings, name)
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const modelsOf = (settings: SettingsValue, name: string): ReadonlyArray<string> => {
  const listed = settings.providers[name]?.models ?? []
  const own = name === settings.llm.provider ? settings.llm.model : ""
  return own === "" || listed.includes(own) ? listed : [own, ...listed]
}

/** Loads the adapter and opens its pool of connections in the surrounding scope. */
const loadAdapter = Effect.fnUntraced(function* (settings: SettingsValue) {
  const { llm } = settings
  const secrets = secretsIn(settings)
  const OpenAiChat = yield* Effect.promise(() => import("./OpenAiChat.ts"))
  const Transport = yield* Effect.promise(() => import("./Transport.ts"))
  const transport = yield* Transport.make({ connectTimeout: llm.connect_timeout_seconds })
  return (target: Resolved) =>
    OpenAiChat.make(
      {
        ...target,
        secrets,
        temperature: llm.temperature,
        maxNewTokens: llm.max_new_tokens,
        reasoningEffort: llm.reasoning_effort,
        parallelToolCalls: llm.parallel_tool_calls,
        requestTimeout: llm.request_timeout_seconds,
        idleTimeout: llm.idle_timeout_seconds,
        retry: { attempts: llm.retry_attempts, delay: llm.retry_delay_seconds }
      },
      transport
    )
})
