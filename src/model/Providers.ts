/**
 * Providers Troupe knows without being told: where they listen and whether they want a key. Any other provider that
 * speaks the same protocol works too, with a `base_url` of its own.
 *
 * The local addresses are the defaults these programs print when they start.
 */
export interface KnownProvider {
  readonly name: string
  readonly title: string
  /** `undefined` for `offline`, which contacts nothing. */
  readonly baseUrl: string | undefined
  readonly keyRequired: boolean
}

/** Name of the provider that needs no key, no network and no model. */
export const offline = "offline"

export const knownProviders: ReadonlyArray<KnownProvider> = [
  { name: offline, title: "Offline helper (no language model)", baseUrl: undefined, keyRequired: false },
  { name: "openai", title: "OpenAI", baseUrl: "https://api.openai.com/v1", keyRequired: true },
  { name: "openrouter", title: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", keyRequired: true },
  { name: "ollama", title: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", keyRequired: false },
  { name: "vllm", title: "vLLM", baseUrl: "http://127.0.0.1:8000/v1", keyRequired: false },
  { name: "lmstudio", title: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1", keyRequired: false }
]

/** Lower-cased, trimmed: the form in which provider names are compared. */
export const normalizeName = (name: string): string => name.trim().toLowerCase()

/** The entry for a name, in any case. */
export const find = (name: string): KnownProvider | undefined => {
  const wanted = normalizeName(name)
  return knownProviders.find((provider) => provider.name === wanted)
}

/** Provider and model of a route as it is written: `provider/model`. The model is empty where none is named. */
export const route = (written: string): { readonly provider: string; readonly model: string } => {
  const slash = written.indexOf("/")
  return slash < 0
    ? { provider: normalizeName(written), model: "" }
    : { provider: normalizeName(written.slice(0, slash)), model: written.slice(slash + 1).trim() }
}
