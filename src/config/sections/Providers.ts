import * as Schema from "effect/Schema"
import * as Redacted from "effect/Redacted"
import * as Known from "../../model/Providers.ts"
import * as Key from "../Key.ts"
import type { Finding, Path, Rule } from "../Rule.ts"
import * as Rules from "../Rules.ts"
import * as Values from "../Values.ts"

/** Providers whose address and protocol are known, so that a section for them may leave both out. */
export const knownNames: ReadonlyArray<string> = Known.knownProviders
  .map((provider) => provider.name)
  .filter((name) => name !== Known.offline)

const Model = Key.table({
  context_tokens: Key.optional(Values.PositiveInt, 128_000, "Tokens that it can read and write in one request."),
  tool_schemas: Key.optional(
    Values.Choice(["strict", "relaxed", "plain"]),
    "relaxed",
    "How tools are described: strict (every parameter required, nothing else), relaxed (for picky servers), plain (as they are)."
  ),
  reasoning: Key.optional(Values.Bool, true, "Whether it thinks before it answers, and takes settings for that."),
  images: Key.optional(Values.Bool, false, "Whether it can be shown images."),
  request_timeout_seconds: Key.optional(
    Values.Seconds,
    110,
    "Longest one whole response of it may take, in place of [llm].request_timeout_seconds."
  ),
  idle_timeout_seconds: Key.optional(
    Values.Seconds,
    100,
    "Longest silence of it, in place of [llm].idle_timeout_seconds: for models that think long without a sign of life."
  )
})

const Provider = Key.table({
  api_key: Key.key(Values.Token, "", "Key sent as the bearer token; empty sends none (local servers)."),
  base_url: Key.optional(
    Values.HttpUrl,
    "http://127.0.0.1:8000/v1",
    `Address of the API, up to and including /v1; may be left out for ${knownNames.join(", ")}.`
  ),
  headers: Key.key(
    Schema.Record(Schema.String, Values.HeaderValue).annotate({ expected: "a table of texts" }),
    {},
    "Extra headers sent with every request; kept secret."
  ),
  api_format: Key.key(
    Values.Choice(["openai", "custom"]),
    "openai",
    "openai is what all the known providers speak; custom is a provider that a program with Troupe inside brings along."
  ),
  api: Key.key(
    Values.Choice(["chat_completions", "responses"]),
    "chat_completions",
    "Which of the APIs of the openai format: chat_completions, which every server has, or responses."
  ),
  models: Key.key(Values.TextList, [], "Models on offer here, shown to people and agents; not checked."),
  model_info: Key.key(
    Key.tables(Model),
    {},
    "What a model takes and can do, where Troupe does not know it or is mistaken. The name is the model's.",
    { placeholder: "model" }
  )
})

export const section = Key.key(
  Key.tables(Provider),
  {},
  `A place models come from. Known names: ${knownNames.join(", ")}; any other name needs a base_url.`,
  { placeholder: "name" }
)

const providerName = /^[a-z0-9][a-z0-9_.-]*$/

/** Whether `[llm].provider` can hold this name. */
export const canBeChosen = (name: string): boolean => providerName.test(name)

/** A section without the key that the host of its provider is known to want; at another address nobody knows. */
export const lacksKey = (name: string, provider: ProviderValue | undefined): boolean =>
  Known.find(name)?.keyRequired === true &&
  (provider === undefined ||
    (provider.base_url === undefined &&
      provider.api_format === "openai" &&
      Redacted.value(provider.api_key) === "" &&
      !Object.keys(provider.headers).some((header) => header.toLowerCase() === "authorization")))

type ProviderValue = typeof Provider.Type

/** Names are looked up in lower case, and a name nobody knows an address for must bring one. */
export const rules: ReadonlyArray<Rule<{ readonly providers: typeof section.Type }>> = [
  ({ providers }) =>
    Object.entries(providers).flatMap(([name, provider]): ReadonlyArray<Finding> => {
      const path = ["providers", name]
      if (name === Known.offline) {
        return [{ path, found: "a section for the built-in helper", expected: "no such section: it has no settings" }]
      }
      if (!canBeChosen(name)) {
        return [
          { path, found: "a name that cannot be chosen", expected: 'lower-case letters, digits, "_", "-" and "."' }
        ]
      }
      return [
        ...Rules.headerNames([...path, "headers"], provider.headers),
        ...(provider.base_url === undefined && !knownNames.includes(name) && provider.api_format !== "custom"
          ? [noAddress(path)]
          : [])
      ]
    })
]

const noAddress = (path: Path): Finding => ({
  path: [...path, "base_url"],
  found: "nothing",
  expected: "an http:// or https:// address",
  hint: `only ${knownNames.join(", ")} have one built in`
})
