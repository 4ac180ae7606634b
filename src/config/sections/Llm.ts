import * as Known from "../../model/Providers.ts"
import * as Key from "../Key.ts"
import type { Rule } from "../Rule.ts"
import * as Values from "../Values.ts"
import * as Providers from "./Providers.ts"

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
    max_tool_iterations: Key.key(Values.PositiveInt, 15, "Most model responses with tool calls in one turn."),
    request_timeout_seconds: Key.key(Values.Seconds, 600, "Longest one whole model response may take."),
    idle_timeout_seconds: Key.key(Values.Seconds, 120, "Longest silence between two parts of a response."),
    connect_timeout_seconds: Key.key(Values.Seconds, 10, "Longest time to reach the provider."),
    retry_attempts: Key.key(Values.NonNegativeInt, 3, "How many more times a failed request is tried."),
    retry_delay_seconds: Key.key(Values.Seconds, 2, "Pause before the first of those tries; later ones wait longer."),
    system_prompt: Key.optional(
      Values.Text,
      "You are a careful assistant.",
      "System prompt, unless system_prompt_file gives one."
    ),
    system_prompt_file: Key.optional(
      Values.Text,
      "./prompts/system.md",
      "File with the system prompt; an empty text means none."
    ),
    prompts_dir: Key.key(
      Values.NonEmptyText,
      "./prompts",
      "Folder with your own prompt files, which replace the built-in ones."
    ),
    reasoning_effort: Key.optional(
      Values.NonEmptyText,
      "medium",
      "How hard a reasoning model should think, in the provider's words (often low, medium or high)."
    ),
    parallel_tool_calls: Key.key(Values.Bool, true, "Whether the model may ask for several tool calls at once.")
  }),
  {},
  "The language model that answers."
)

type Read = { readonly llm: typeof section.Type; readonly providers: typeof Providers.section.Type }

/** The provider must exist, and a real one must be told which model. */
export const rules: ReadonlyArray<Rule<Read>> = [
  ({ llm, providers }) => {
    const known = [...new Set([Known.offline, ...Object.keys(providers), ...Providers.knownNames])]
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
        ]
]
