import * as Schema from "effect/Schema"
import * as Known from "../../model/Providers.ts"
import * as Own from "../../Own.ts"
import * as Key from "../Key.ts"
import type { Finding, Rule } from "../Rule.ts"
import * as Rules from "../Rules.ts"
import * as Values from "../Values.ts"
import * as Providers from "./Providers.ts"
import type * as Runtime from "./Runtime.ts"

/** Provider and model; the first slash parts them, since models have slashes in their names. */
const Routes = Schema.Array(Values.NonEmptyText).annotate({ expected: 'a list such as ["ollama/qwen3", "offline"]' })

export const section = Key.key(
  Key.table({
    provider: Key.key(
      Values.LowerCaseName,
      Known.offline,
      "Where the model comes from: a [providers.<name>] section, a known provider, or offline (a helper that is no language model)."
    ),
    model: Key.key(Values.Text, "", "Model to use, as its provider calls it; needed unless the provider is offline."),
    temperature: Key.optional(
      Values.NumberBetween(0, 2),
      0.7,
      "Randomness of answers; left to the provider when not set."
    ),
    max_new_tokens: Key.optional(
      Values.PositiveInt,
      4096,
      "Most tokens in one response; left to the provider when not set."
    ),
    max_tool_iterations: Key.key(
      Values.PositiveInt,
      15,
      "Most model responses with tool calls in one turn; it may make twice as many calls, and at least 12."
    ),
    request_timeout_seconds: Key.key(
      Values.Seconds,
      90,
      "Longest one whole model response may take; at most [runtime].agent_timeout_seconds."
    ),
    idle_timeout_seconds: Key.key(
      Values.Seconds,
      60,
      "Longest silence between two parts of a response; at most request_timeout_seconds."
    ),
    connect_timeout_seconds: Key.key(Values.Seconds, 10, "Longest time to reach the provider."),
    retry_attempts: Key.key(Values.NonNegativeInt, 3, "How many more times a failed request is tried."),
    retry_delay_seconds: Key.key(Values.Seconds, 2, "Pause before the first of those tries; later ones wait longer."),
    system_prompt: Key.optional(
      Values.Text,
      "You are a careful assistant.",
      "System prompt, unless system_prompt_file gives one."
    ),
    system_prompt_file: Key.optional(
      Values.OptionalFilePath,
      "./prompts/system.md",
      "File with the system prompt; an empty text means none."
    ),
    prompts_dir: Key.key(
      Values.FilePath,
      "./prompts",
      "Folder with your own prompt files, which replace the built-in ones."
    ),
    reasoning_effort: Key.optional(
      Values.NonEmptyText,
      "medium",
      "How hard a reasoning model should think, in the provider's words (often low, medium or high)."
    ),
    reasoning_summary: Key.optional(
      Values.Choice(["auto", "concise", "detailed"]),
      "auto",
      "How much of its reasoning a model of the responses API shows; nothing when not set."
    ),
    parallel_tool_calls: Key.key(Values.Bool, true, "Whether the model may ask for several tool calls at once."),
    responses_state_mode: Key.key(
      Values.Choice(["full_messages", "previous_response_id"]),
      "full_messages",
      "With the responses API: send the whole history each time and have nothing kept, or have the provider keep its responses and send what is new."
    ),
    prompt_cache_enabled: Key.key(
      Values.Bool,
      true,
      "Whether the provider is told which requests belong together, so that it reads less again (responses API, OpenAI)."
    ),
    prompt_cache_retention: Key.optional(
      Values.Choice(["in_memory", "24h"]),
      "24h",
      "How long the provider keeps what it has read; left to it when not set."
    ),
    fallback: Key.key(
      Routes,
      [],
      "Who answers, in order, when the model above cannot: provider/model, or offline. Not for agents with a model of their own."
    ),
    fallback_cooldown_seconds: Key.key(
      Values.Seconds,
      30,
      "How long a model that failed is left alone before it is tried again; twice as long after each further failure, at most 16 times."
    )
  }),
  {},
  "The language model that answers."
)

type Read = {
  readonly llm: typeof section.Type
  readonly providers: typeof Providers.section.Type
  readonly runtime: typeof Runtime.section.Type
}

const knownIn = (providers: Read["providers"]): ReadonlyArray<string> => {
  const chosen = Object.keys(providers).filter(Providers.canBeChosen)
  return [...new Set([Known.offline, ...chosen, ...Providers.knownNames])]
}

/** The provider must exist and have its key, a real one must be told which model, and of two times the inner is the shorter. */
export const rules: ReadonlyArray<Rule<Read>> = [
  ({ llm, providers }) =>
    llm.fallback.flatMap((written, index): ReadonlyArray<Finding> => {
      const { model, provider } = Known.route(written)
      const path = ["llm", "fallback", index]
      if (!knownIn(providers).includes(provider)) {
        return [
          {
            path,
            found: "a provider that is not known",
            expected: "provider/model, with a provider that is known or has a section",
            hint: "add a [providers.<name>] section with a base_url for it",
            reads: [["providers", provider]]
          }
        ]
      }
      if (model === "" && provider !== Known.offline) {
        return [{ path, found: "a provider without a model", expected: `"${provider}/" and the name of a model` }]
      }
      return Providers.lacksKey(provider, Own.get(providers, provider))
        ? [
            {
              path,
              found: "a provider without a key",
              expected: `[providers.${provider}].api_key`,
              reads: [["providers", provider]]
            }
          ]
        : []
    }),
  ({ llm, providers }) => {
    const known = knownIn(providers)
    return known.includes(llm.provider)
      ? []
      : [
          {
            path: ["llm", "provider"],
            found: "a provider that is not known",
            expected: `one of ${known.map((name) => `"${name}"`).join(", ")}`,
            hint: "add a [providers.<name>] section with a base_url for it",
            reads: [["providers", llm.provider]]
          }
        ]
  },
  ({ llm }) =>
    llm.provider === Known.offline || llm.model.trim() !== ""
      ? []
      : [
          {
            path: ["llm", "model"],
            found: "no model",
            expected: "the name of a model, since [llm].provider is not offline",
            reads: [["llm", "provider"]]
          }
        ],
  ({ llm }) =>
    llm.provider !== Known.offline || llm.model.trim() === ""
      ? []
      : [
          {
            path: ["llm", "model"],
            found: "a model, while [llm].provider is offline",
            expected: "a provider that has the model, or no model",
            hint: 'set provider, for example to "openai", or leave model out',
            reads: [["llm", "provider"]]
          }
        ],
  ({ llm: { provider: name }, providers }) =>
    Providers.lacksKey(name, Own.get(providers, name))
      ? [
          {
            path: ["providers", name, "api_key"],
            found: "no key",
            expected: `a key, since [llm].provider is ${name}`,
            hint: `set it, for example to "\${${name.toUpperCase()}_API_KEY}"`,
            reads: [
              ["llm", "provider"],
              ["providers", name, "headers"],
              ["providers", name, "base_url"]
            ]
          }
        ]
      : [],
  ({ llm, runtime }, written) => [
    ...Rules.within(written, inner("request_timeout_seconds", llm), {
      path: ["runtime", "agent_timeout_seconds"],
      time: runtime.agent_timeout_seconds,
      ends: "the turn"
    }),
    ...(["idle_timeout_seconds", "connect_timeout_seconds"] as const).flatMap((name) =>
      Rules.within(written, inner(name, llm), {
        path: ["llm", "request_timeout_seconds"],
        time: llm.request_timeout_seconds,
        ends: "the request"
      })
    )
  ],
  ({ llm, providers, runtime }, written) =>
    Object.entries(providers).flatMap(([provider, { model_info }]) =>
      Object.entries(model_info).flatMap(([model, info]) => {
        const at = (name: string) => ["providers", provider, "model_info", model, name]
        const { idle_timeout_seconds: idle, request_timeout_seconds: request } = info
        const whole =
          request === undefined
            ? { path: ["llm", "request_timeout_seconds"], time: llm.request_timeout_seconds }
            : { path: at("request_timeout_seconds"), time: request }
        const turn = { path: ["runtime", "agent_timeout_seconds"], time: runtime.agent_timeout_seconds }
        return [
          ...(request === undefined ? [] : Rules.within(written, whole, { ...turn, ends: "the turn" })),
          ...(idle === undefined
            ? []
            : Rules.within(
                written,
                { path: at("idle_timeout_seconds"), time: idle },
                { ...whole, ends: "the request" }
              ))
        ]
      })
    )
]

const inner = (
  name: "request_timeout_seconds" | "idle_timeout_seconds" | "connect_timeout_seconds",
  llm: typeof section.Type
) => ({ path: ["llm", name], time: llm[name] })
