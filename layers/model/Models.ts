/**
 * The models of the settings: `[llm]` says which one answers, `[providers.<name>]` how to reach it.
 *
 * The adapters, with their SDK and HTTP library, are loaded when a provider is first used; with `offline` they never are.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { lacksKey } from "../../src/config/sections/Providers.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import { ModelUnavailable } from "../../src/model/ModelError.ts"
import { Models } from "../../src/model/Models.ts"
import type { AvailableProvider, ModelHandle, ModelSelection } from "../../src/model/Models.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as Offline from "../../src/model/Offline.ts"
import * as Origin from "../../src/model/Origin.ts"
import * as Providers from "../../src/model/Providers.ts"
import { secretsIn } from "../../src/secret/KnownSecrets.ts"
import * as Own from "../../src/Own.ts"

/** Models kept at the same time. One is only a few closures, but names of models may come from conversations. */
const kept = 256

/** Makes the language models of a provider from the names of models; each is made once and kept. */
export type CustomProvider<E, R> = (model: string) => Layer.Layer<LanguageModel.LanguageModel, E, R>

/** `Models` from the settings. */
export const layer: Layer.Layer<Models, never, Settings> = Layer.suspend(() => layerWith({}))

/**
 * `Models` from the settings, with providers that the program brings: any layer of `LanguageModel` will do. Each needs a
 * section `[providers.<name>]` with `api_format = "custom"`, and is chosen like the others.
 */
export const layerWith = <E = never, R = never>(
  custom: Readonly<Record<string, CustomProvider<E, R>>>
): Layer.Layer<Models, never, Settings | R> =>
  Layer.effect(
    Models,
    Effect.gen(function* () {
      const settings = yield* Settings
      const context = yield* Effect.context<R>()
      const scope = yield* Effect.scope
      const brought = new Map(Object.entries(custom).map(([name, make]) => [Providers.normalizeName(name), make]))
      const offline: ModelHandle = {
        provider: Providers.offline,
        model: Offline.modelName,
        languageModel: yield* Offline.make
      }
      // Interrupting one caller must not leave the others a half-loaded adapter.
      const adapter = yield* Effect.cached(loadAdapter(settings).pipe(Scope.provide(scope), Effect.uninterruptible))
      const handles = new Map<string, ModelHandle>()

      const adapted = Effect.fnUntraced(function* (
        target: Origin.Origin,
        info: ModelTable.ModelInfo
      ): Effect.fn.Return<Adapted, ModelUnavailable> {
        if (sectionOf(settings, target.provider)?.api_format !== "custom") {
          return yield* (yield* adapter)(yield* resolve(settings, target), info)
        }
        const make = brought.get(target.provider)
        if (make === undefined) return yield* missingLayer(target)
        return yield* Layer.build(make(target.model)).pipe(
          Effect.map((made) => ({ languageModel: Context.get(made, LanguageModel.LanguageModel) })),
          Scope.provide(scope),
          Effect.provideContext(context),
          Effect.uninterruptible,
          Effect.tapError((error) => Effect.logError(`The layer of provider "${target.provider}" failed`, error)),
          Effect.mapError(() => brokenLayer(target))
        )
      })

      const single = Effect.fnUntraced(function* (target: Origin.Origin) {
        if (target.provider === Providers.offline) return offline
        const key = Origin.keyOf(target)
        const cached = handles.get(key)
        if (cached !== undefined) return cached
        const info = infoOf(settings, target)
        const handle: ModelHandle = { ...target, info, ...(yield* adapted(target, info)) }
        if (handles.size >= kept) handles.clear()
        handles.set(key, handle)
        return handle
      })

      /** Those that can be asked at all; the others are told of once. */
      const fallback = yield* Effect.cached(
        Effect.forEach(settings.llm.fallback, (written) =>
          choose(settings, routeOf(written)).pipe(
            Effect.flatMap(single),
            Effect.tapError((error) => Effect.logWarning(`[llm].fallback: ${error.message}`)),
            Effect.option
          )
        ).pipe(Effect.map(Arr.getSomes))
      )
      const main = yield* Effect.option(choose(settings, {}))

      const get = Effect.fn("Models.get")(function* (selection: ModelSelection = {}) {
        const target = yield* choose(settings, selection)
        const handle = yield* single(target)
        if (
          settings.llm.fallback.length === 0 ||
          Option.isNone(main) ||
          Origin.keyOf(target) !== Origin.keyOf(main.value)
        ) {
          return handle
        }
        const others = (yield* fallback).filter((other) => Origin.keyOf(other) !== Origin.keyOf(target))
        return { ...handle, fallback: others }
      })

      return Models.of({ get, default: get(), available: listAvailable(settings, brought) })
    })
  )

/** What an adapter makes of a provider and model. */
type Adapted = Pick<ModelHandle, "languageModel" | "compact">

const routeOf = (written: string): ModelSelection => {
  const { model, provider } = Providers.route(written)
  return model === "" ? { provider } : { provider, model }
}

/** Names may be those of what every object has. */
const sectionOf = (settings: SettingsValue, provider: string) => Own.get(settings.providers, provider)

/** What the settings say of a model. */
const writtenOf = (settings: SettingsValue, { model, provider }: Origin.Origin) =>
  Own.get(sectionOf(settings, provider)?.model_info ?? {}, model)

const infoOf = (settings: SettingsValue, target: Origin.Origin): ModelTable.ModelInfo => {
  const known = writtenOf(settings, target)
  return ModelTable.infoOf(target.model, {
    contextTokens: known?.context_tokens,
    toolSchemas: known?.tool_schemas,
    reasoning: known?.reasoning,
    images: known?.images
  })
}

const missingLayer = ({ provider }: Origin.Origin) =>
  new ModelUnavailable({
    provider,
    reason: "missing-layer",
    remedy: `[providers.${provider}].api_format is custom: the program must bring a layer for it (Models.layerWith)`
  })

const brokenLayer = ({ provider }: Origin.Origin) =>
  new ModelUnavailable({
    provider,
    reason: "broken-layer",
    remedy: "The layer that the program brings for it could not be made; the log has the reason"
  })

interface Resolved extends Origin.Origin {
  readonly api: "chat_completions" | "responses"
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
}

/** Fills in what the selection leaves open. */
const choose = Effect.fnUntraced(function* (settings: SettingsValue, selection: ModelSelection) {
  const provider = Providers.normalizeName(selection.provider ?? settings.llm.provider)
  if (provider === Providers.offline) return { provider, model: Offline.modelName }
  const configured = provider === settings.llm.provider ? settings.llm.model : sectionOf(settings, provider)?.models[0]
  const model = (selection.model ?? configured ?? "").trim()
  if (sectionOf(settings, provider) === undefined && Providers.find(provider) === undefined) {
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
const resolve = Effect.fnUntraced(function* (settings: SettingsValue, target: Origin.Origin) {
  const section = sectionOf(settings, target.provider)
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
    api: section?.api ?? "chat_completions",
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey: section === undefined || Redacted.value(section.api_key) === "" ? undefined : section.api_key,
    headers: section?.headers ?? {}
  }
  return resolved
})

/** Only the well-known hosts are known to want a key; at another address that is the address's own business. */
const hasCredentials = (settings: SettingsValue, provider: string): boolean =>
  !lacksKey(provider, sectionOf(settings, provider))

const unknownProvider = (settings: SettingsValue, provider: string) => {
  const names = new Set([...Providers.knownProviders.map(({ name }) => name), ...Object.keys(settings.providers)])
  return new ModelUnavailable({
    provider,
    reason: "unknown-provider",
    remedy: `Add a [providers.${provider}] section with a base_url, or use one of ${[...names].toSorted().join(", ")}`
  })
}

/** The configured providers that can be asked, and `offline`. */
const listAvailable = (
  settings: SettingsValue,
  brought: ReadonlyMap<string, unknown>
): ReadonlyArray<AvailableProvider> => {
  const configured = new Set([...Object.keys(settings.providers), settings.llm.provider])
  const usable = (name: string) =>
    sectionOf(settings, name)?.api_format === "custom" ? brought.has(name) : hasCredentials(settings, name)
  return [...configured.add(Providers.offline)]
    .filter(usable)
    .map((name) => ({
      name,
      models: name === Providers.offline ? [Offline.modelName] : modelsOf(settings, name)
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const modelsOf = (settings: SettingsValue, name: string): ReadonlyArray<string> => {
  const listed = sectionOf(settings, name)?.models ?? []
  const own = name === settings.llm.provider ? settings.llm.model : ""
  return own === "" || listed.includes(own) ? listed : [own, ...listed]
}

/** Loads the adapters and opens their pool of connections in the surrounding scope. */
const loadAdapter = Effect.fnUntraced(function* (settings: SettingsValue) {
  const { llm } = settings
  const secrets = secretsIn(settings)
  const OpenAiChat = yield* Effect.promise(() => import("./OpenAiChat.ts"))
  const OpenAiResponses = yield* Effect.promise(() => import("./OpenAiResponses.ts"))
  const ResponsesCompact = yield* Effect.promise(() => import("./ResponsesCompact.ts"))
  const Client = yield* Effect.promise(() => import("./Client.ts"))
  const Transport = yield* Effect.promise(() => import("./Transport.ts"))
  const transport = yield* Transport.make({ connectTimeout: llm.connect_timeout_seconds })
  const clients = new Map<string, ReturnType<typeof Client.make>>()
  /** A provider has one client, whichever of its models are asked. */
  const clientOf = (target: Resolved) => {
    const client = clients.get(target.provider) ?? Client.make(target, transport)
    clients.set(target.provider, client)
    return client
  }
  return Effect.fnUntraced(function* (
    { api, ...target }: Resolved,
    info: ModelTable.ModelInfo
  ): Effect.fn.Return<Adapted> {
    const client = clientOf({ api, ...target })
    const written = writtenOf(settings, target)
    const options = {
      ...target,
      info,
      secrets,
      temperature: llm.temperature,
      maxNewTokens: llm.max_new_tokens,
      reasoningEffort: llm.reasoning_effort,
      parallelToolCalls: llm.parallel_tool_calls,
      promptCache: llm.prompt_cache_enabled ? { retention: llm.prompt_cache_retention } : undefined,
      requestTimeout: written?.request_timeout_seconds ?? llm.request_timeout_seconds,
      idleTimeout: written?.idle_timeout_seconds ?? llm.idle_timeout_seconds,
      retry: { attempts: llm.retry_attempts, delay: llm.retry_delay_seconds }
    }
    if (api === "chat_completions") return { languageModel: yield* OpenAiChat.make(options, client) }
    return {
      languageModel: yield* OpenAiResponses.make(
        { ...options, stateMode: llm.responses_state_mode, reasoningSummary: llm.reasoning_summary },
        client
      ),
      compact: ResponsesCompact.make(options, client)
    }
  })
})
