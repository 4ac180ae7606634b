/** Bad settings files and exactly what people are told about them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Settings from "../../src/config/Settings.ts"
import { refuse } from "./Files.ts"

interface BadFile {
  readonly name: string
  readonly text: string
  readonly variables?: Readonly<Record<string, string>>
  /** The lines of the message after its first. */
  readonly says: ReadonlyArray<string>
}

const memoryTools = "memory_create, memory_update, memory_get, memory_search, memory_delete, memory_list_titles"
const knownProviders = "openai, openrouter, ollama, vllm, lmstudio"

const badFiles: ReadonlyArray<BadFile> = [
  {
    name: "a misspelled section",
    text: '[tool.approval]\nrequire_approval = ["*"]',
    says: [
      "  - tool: found an unknown key; expected one of runtime, storage, retention, http, logging, observability, providers, llm, orchestration, memory, attachments, outbound, ledger, policy, vault, tools",
      "      did you mean tools?"
    ]
  },
  {
    name: "a misspelled table of a tool",
    text: '[tools.aproval]\nrequire_approval = ["*"]',
    says: [
      `  - tools.aproval: found an unknown key; expected one of ${Object.keys(Settings.Settings.defaults.tools).join(", ")}`,
      "      did you mean approval?"
    ]
  },
  {
    name: "a misspelled key",
    text: '[http]\nauthToken = "sixteen-or-more-letters"',
    says: [
      "  - http.authToken: found an unknown key; expected one of host, port, auth_token, allowed_origins",
      "      did you mean auth_token?"
    ]
  },
  {
    name: "a key in the wrong section",
    text: '[runtime]\nlog_level = "debug"',
    says: [
      "  - runtime.log_level: found an unknown key; expected one of owner_id, environment, agent_timeout_seconds, " +
        "max_concurrent_turns, turn_crash_limit, conversation_idle_seconds, sweep_interval_seconds, shutdown_grace_seconds",
      "      there is logging.log_level"
    ]
  },
  {
    name: "a key unlike any other",
    text: "[memory]\ncolour = 1",
    says: [
      "  - memory.colour: found an unknown key; expected one of max_history_messages, max_history_tokens, context_ratio_before_compact, compaction, compaction_timeout_seconds, notify_compaction_updates"
    ]
  },
  {
    name: "a key that needs quotes, of a length nobody wants to read",
    text: `[memory]\n"a b${"c".repeat(100)}" = 1`,
    says: [
      `  - memory."a b${"c".repeat(57)}…": found an unknown key; expected one of max_history_messages, max_history_tokens, context_ratio_before_compact, compaction, compaction_timeout_seconds, notify_compaction_updates`
    ]
  },
  {
    name: "values of the wrong kind",
    text: [
      "logging = 5",
      "[runtime]",
      "owner_id = true",
      'max_concurrent_turns = "many"',
      "turn_crash_limit = 1.5",
      "agent_timeout_seconds = 2026-01-01",
      "sweep_interval_seconds = inf",
      "shutdown_grace_seconds = nan",
      "[http]",
      "port = 123456789012345678901",
      'allowed_origins = "https://example.org"',
      "[tools.wait]",
      "enabled = []",
      "max_milliseconds = {}",
      "[memory]",
      "max_history_messages = -3"
    ].join("\n"),
    says: [
      "  - logging: found a whole number; expected a table",
      "  - runtime.owner_id: found a boolean; expected text that is not empty",
      "  - runtime.max_concurrent_turns: found a text; expected a whole number of at least 1",
      "  - runtime.turn_crash_limit: found a number with a fraction; expected a whole number of at least 1",
      '  - runtime.agent_timeout_seconds: found a date or time; expected seconds (more than 0, at most 24 days), or a duration such as "2 minutes"',
      '  - runtime.sweep_interval_seconds: found infinity; expected seconds (more than 0, at most 24 days), or a duration such as "2 minutes"',
      '  - runtime.shutdown_grace_seconds: found not a number (nan); expected seconds (more than 0, at most 24 days), or a duration such as "2 minutes"',
      "  - http.port: found a whole number too large to be exact; expected a whole number from 0 to 65535",
      "  - http.allowed_origins: found a text; expected a list of origins",
      "  - tools.wait.enabled: found a list; expected true or false",
      "  - tools.wait.max_milliseconds: found a table; expected a whole number from 1 to 540000",
      "  - memory.max_history_messages: found a negative whole number; expected a whole number of at least 1"
    ]
  },
  {
    name: "wrong limits of a history",
    text: "[memory]\nmax_history_tokens = 0\ncontext_ratio_before_compact = 0\nnotify_compaction_updates = true",
    says: [
      "  - memory.max_history_tokens: found a whole number; expected a whole number of at least 1",
      "  - memory.context_ratio_before_compact: found a whole number; expected a number above 0 and at most 1",
      '  - memory.notify_compaction_updates: found a boolean; expected one of "off", "brief", "full"'
    ]
  },
  {
    name: "a summary that may take longer than its turn",
    text: "[memory]\ncompaction_timeout_seconds = 121\ncontext_ratio_before_compact = 1",
    says: [
      "  - memory.compaction_timeout_seconds: found a longer time than [runtime].agent_timeout_seconds; expected at most 120 seconds, after which the turn ends",
      "      shorten it, or lengthen [runtime].agent_timeout_seconds"
    ]
  },
  {
    name: "a wrong type and a broken limit side by side",
    text: "[llm]\ntemperature = 2.5\nretry_attempts = true\nmax_tool_iterations = 0",
    says: [
      "  - llm.temperature: found a number with a fraction; expected a number from 0 to 2",
      "  - llm.retry_attempts: found a boolean; expected a whole number of at least 0",
      "  - llm.max_tool_iterations: found a whole number; expected a whole number of at least 1"
    ]
  },
  {
    name: "an unknown word",
    text: '[logging]\nlog_level = "loud"',
    says: ['  - logging.log_level: found a text; expected one of "trace", "debug", "info", "warn", "error", "off"']
  },
  {
    name: "sizes",
    text: "[logging]\nmax_file_bytes = 12.5",
    says: [
      '  - logging.max_file_bytes: found a number with a fraction; expected bytes (a whole number of at least 1), or a size such as "10MB" or "2MiB"'
    ]
  },
  {
    name: "the name of a tool that was split up",
    text: '[tools.approval]\nrequire_approval = ["wait", " memory ", ""]',
    says: [
      "  - tools.approval.require_approval[1]: found a text; expected a tool that exists",
      `      that tool was split up; name its parts: ${memoryTools}`,
      '  - tools.approval.require_approval[2]: found an empty text; expected a tool name or a pattern such as "memory_*"'
    ]
  },
  {
    name: "a name that a tool had before",
    text: '[tools.approval]\nrequire_approval = ["calculator"]\n[orchestration.main_agent]\ntools_deny = ["datetime_now"]',
    says: [
      "  - tools.approval.require_approval[0]: found a text; expected a tool that exists",
      "      that tool is called calculate_expression now",
      "  - orchestration.main_agent.tools_deny[0]: found a text; expected a tool that exists",
      "      that tool is called current_datetime now"
    ]
  },
  {
    name: "a folder outside",
    text: '[tools.tool_output_spill]\nsubdir = "a/../../b"',
    says: ['  - tools.tool_output_spill.subdir: found a text; expected a relative folder path without ".."']
  },
  {
    name: "an address with credentials in it",
    text: '[providers.mine]\nbase_url = "https://me:pass@example.org/v1"',
    says: [
      "  - providers.mine.base_url: found a text; expected an http:// or https:// address, without a user name or password in it"
    ]
  },
  {
    name: "secrets that are not texts",
    text: '[providers.openai]\napi_key = 12345678\nheaders = { X-Key = ["87654321"] }',
    says: [
      "  - providers.openai.api_key: found a whole number; expected visible ASCII characters without spaces (kept secret)",
      "  - providers.openai.headers.X-Key: found a list; expected ASCII characters of one line (kept secret)"
    ]
  },
  {
    name: "providers nobody knows how to reach, or by a name nobody can choose",
    text: "[providers.mine]\n[providers.OpenAI]\n[providers.offline]",
    says: [
      "  - providers.mine.base_url: found nothing; expected an http:// or https:// address",
      `      only ${knownProviders} have one built in`,
      '  - providers.OpenAI: found a name that cannot be chosen; expected lower-case letters, digits, "_", "-" and "."',
      "  - providers.offline: found a section for the built-in helper; expected no such section: it has no settings"
    ]
  },
  {
    name: "a provider that does not exist",
    text: '[llm]\nprovider = "opneai"\nmodel = "m"\n[providers.mine]\nbase_url = "http://127.0.0.1:1/v1"',
    says: [
      '  - llm.provider: found a provider that is not known; expected one of "offline", "mine", "openai", "openrouter", "ollama", "vllm", "lmstudio"',
      "      add a [providers.<name>] section with a base_url for it"
    ]
  },
  {
    name: "a provider without a model",
    text: '[llm]\nprovider = "Ollama"\nmodel = " "',
    says: ["  - llm.model: found no model; expected the name of a model, since [llm].provider is not offline"]
  },
  {
    name: "models to fall back on that nobody knows",
    text: '[llm]\nfallback = ["opneai/gpt-x", "ollama", "ollama/", " Ollama/qwen3:8b ", "offline", "openai/gpt-x"]',
    says: [
      "  - llm.fallback[0]: found a provider that is not known; expected provider/model, with a provider that is known or has a section",
      "      add a [providers.<name>] section with a base_url for it",
      '  - llm.fallback[1]: found a provider without a model; expected "ollama/" and the name of a model',
      '  - llm.fallback[2]: found a provider without a model; expected "ollama/" and the name of a model',
      "  - llm.fallback[5]: found a provider without a key; expected [providers.openai].api_key"
    ]
  },
  {
    name: "a model that nobody would be asked for",
    text: '[llm]\nmodel = "gpt-5-mini"',
    says: [
      "  - llm.model: found a model, while [llm].provider is offline; expected a provider that has the model, or no model",
      '      set provider, for example to "openai", or leave model out'
    ]
  },
  {
    name: "nothing follows from a key that is misspelled",
    text: '[llm]\nprovder = "openai"\nmodel = "gpt-5-mini"',
    says: [
      "  - llm.provder: found an unknown key; expected one of provider, model, temperature, max_new_tokens, max_tool_iterations, " +
        "request_timeout_seconds, idle_timeout_seconds, connect_timeout_seconds, retry_attempts, retry_delay_seconds, " +
        "system_prompt, system_prompt_file, prompts_dir, reasoning_effort, reasoning_summary, parallel_tool_calls, " +
        "responses_state_mode, prompt_cache_enabled, prompt_cache_retention, fallback, fallback_cooldown_seconds",
      "      did you mean provider?"
    ]
  },
  {
    name: "a provider that wants a key, without one",
    text: '[llm]\nprovider = "openai"\nmodel = "m"\n[providers.openrouter]\nmodels = ["m"]',
    says: [
      "  - providers.openai.api_key: found no key; expected a key, since [llm].provider is openai",
      '      set it, for example to "${OPENAI_API_KEY}"'
    ]
  },
  {
    name: "a key whose variable is empty",
    text: '[llm]\nprovider = "openai"\nmodel = "m"\n[providers.openai]\napi_key = "${OPENAI_API_KEY}"',
    variables: { OPENAI_API_KEY: " " },
    says: [
      "  - providers.openai.api_key: found no key; expected a key, since [llm].provider is openai",
      '      set it, for example to "${OPENAI_API_KEY}"'
    ]
  },
  {
    name: "secrets that cannot be sent in a header",
    text: [
      "[http]",
      'auth_token = "sixteen letters and spaces"',
      "[providers.openai]",
      'api_key = "${KEY}"',
      "[providers.openai.headers]",
      'X-One = "one\\ntwo"',
      'X-Two = "\\u0007"',
      'X-Three = "schlüssel"',
      '"X Four" = "four"',
      '"" = "five"'
    ].join("\n"),
    variables: { KEY: "sk-one\r\nX-Other: two" },
    says: [
      "  - http.auth_token: found a text with a space in it; expected visible ASCII characters without spaces (kept secret)",
      "  - providers.openai.api_key: found a text with a line break in it (from ${KEY}); expected visible ASCII characters without spaces (kept secret)",
      "  - providers.openai.headers.X-One: found a text with a line break in it; expected ASCII characters of one line (kept secret)",
      "  - providers.openai.headers.X-Two: found a text with a control character in it; expected ASCII characters of one line (kept secret)",
      "  - providers.openai.headers.X-Three: found a text with a character outside ASCII in it; expected ASCII characters of one line (kept secret)",
      '  - providers.openai.headers."X Four": found a name that is no name of a header; expected letters, digits and "-"',
      '  - providers.openai.headers."": found a name that is no name of a header; expected letters, digits and "-"'
    ]
  },
  {
    name: "places that no system knows",
    text: [
      "[storage]",
      'data_dir = "/var/lib\\u0000/troupe"',
      "[llm]",
      'system_prompt_file = "a\\nb"',
      'prompts_dir = ""',
      "[http]",
      'host = "127.0.0.1:7433 or so"'
    ].join("\n"),
    says: [
      "  - storage.data_dir: found a text with a control character in it; expected a path",
      "  - llm.system_prompt_file: found a text with a line break in it; expected a path, or an empty text",
      "  - llm.prompts_dir: found an empty text; expected a path",
      "  - http.host: found a text; expected an IP address or the name of a host, without a port"
    ]
  },
  {
    name: "origins that are none, and a name that is no id of a model",
    text: '[http]\nallowed_origins = ["x", "https://a.b/c", "*", "https://a.b"]\n[orchestration.main_agent]\nname = "a/b"',
    says: [
      '  - http.allowed_origins[0]: found a text; expected an origin such as "https://example.org": scheme, host and port, without a path',
      '  - http.allowed_origins[1]: found an address with more than scheme, host and port in it; expected an origin such as "https://example.org": scheme, host and port, without a path',
      '  - http.allowed_origins[2]: found "*", which would let every page in; expected an origin such as "https://example.org": scheme, host and port, without a path',
      "  - orchestration.main_agent.name: found a text; expected a name of at most 64 letters, digits, dots, hyphens and underscores, with a letter or digit at its beginning"
    ]
  },
  {
    name: "a reference that is not closed",
    text: '[runtime]\nowner_id = "a ${OWNER"\n[orchestration.main_agent]\nname = "${A} and ${"',
    variables: { A: "a" },
    says: [
      "  - runtime.owner_id: found a reference that is not closed; expected ${NAME}",
      "      write } after the name, or $${ if the text itself is meant",
      "  - orchestration.main_agent.name: found a reference that is not closed; expected ${NAME}",
      "      write } after the name, or $${ if the text itself is meant"
    ]
  },
  {
    name: "times that can never apply, since another ends first",
    text: [
      "[llm]",
      "request_timeout_seconds = 600",
      "idle_timeout_seconds = 700",
      "connect_timeout_seconds = 800",
      "[providers.ollama.model_info.slow]",
      "request_timeout_seconds = 500",
      "idle_timeout_seconds = 501",
      "[providers.ollama.model_info.quiet]",
      "idle_timeout_seconds = 601",
      "[tools.wait]",
      "enabled = true",
      "max_milliseconds = 120001"
    ].join("\n"),
    says: [
      "  - llm.request_timeout_seconds: found a longer time than [runtime].agent_timeout_seconds; expected at most 120 seconds, after which the turn ends",
      "      shorten it, or lengthen [runtime].agent_timeout_seconds",
      "  - llm.idle_timeout_seconds: found a longer time than [llm].request_timeout_seconds; expected at most 600 seconds, after which the request ends",
      "      shorten it, or lengthen [llm].request_timeout_seconds",
      "  - llm.connect_timeout_seconds: found a longer time than [llm].request_timeout_seconds; expected at most 600 seconds, after which the request ends",
      "      shorten it, or lengthen [llm].request_timeout_seconds",
      "  - providers.ollama.model_info.slow.request_timeout_seconds: found a longer time than [runtime].agent_timeout_seconds; expected at most 120 seconds, after which the turn ends",
      "      shorten it, or lengthen [runtime].agent_timeout_seconds",
      "  - providers.ollama.model_info.slow.idle_timeout_seconds: found a longer time than [providers.ollama.model_info.slow].request_timeout_seconds; expected at most 500 seconds, after which the request ends",
      "      shorten it, or lengthen [providers.ollama.model_info.slow].request_timeout_seconds",
      "  - providers.ollama.model_info.quiet.idle_timeout_seconds: found a longer time than [llm].request_timeout_seconds; expected at most 600 seconds, after which the request ends",
      "      shorten it, or lengthen [llm].request_timeout_seconds",
      "  - tools.wait.max_milliseconds: found a longer time than [runtime].agent_timeout_seconds; expected at most 120 seconds, after which the turn ends",
      "      shorten it, or lengthen [runtime].agent_timeout_seconds"
    ]
  },
  {
    name: "tables in tables without end",
    text: `${"a.".repeat(40)}b = 1\n[memory]\nmax_history_messages = 0`,
    says: [
      "  - a: found an unknown key; expected one of runtime, storage, retention, http, logging, observability, providers, llm, orchestration, memory, attachments, outbound, ledger, policy, vault, tools",
      `  - ${"a.".repeat(15)}a: found tables or lists inside each other, more than 16 deep; expected a value, or a table of values`,
      "  - memory.max_history_messages: found a whole number; expected a whole number of at least 1"
    ]
  },
  {
    name: "a key that would write on the terminal",
    text: '[memory]\n"\u009b2J\u202e" = 1',
    says: [
      '  - memory."\\u009b2J\\u202e": found an unknown key; expected one of max_history_messages, max_history_tokens, context_ratio_before_compact, compaction, compaction_timeout_seconds, notify_compaction_updates'
    ]
  },
  {
    name: "a public server without a token (localhost is only a name)",
    text: '[http]\nhost = "localhost"',
    says: [
      "  - http.auth_token: found no token, while [http].host is not a loopback address; expected a token of at least 16 characters",
      "      set auth_token, or listen on 127.0.0.1 or ::1"
    ]
  },
  {
    name: "a public server with a short token",
    text: '[http]\nhost = "0.0.0.0"\nauth_token = "${TOKEN}"',
    variables: { TOKEN: "fifteen-letters" },
    says: [
      "  - http.auth_token: found a short token, while [http].host is not a loopback address; expected a token of at least 16 characters",
      "      set auth_token, or listen on 127.0.0.1 or ::1"
    ]
  },
  {
    name: "both an allow and a deny list",
    text: '[orchestration.main_agent]\ntools_allow = ["wait"]\ntools_deny = ["memory_*"]',
    says: [
      "  - orchestration.main_agent.tools_deny: found a list, while tools_allow is not empty; expected only one of tools_allow and tools_deny"
    ]
  },
  {
    name: "a preview longer than what it previews",
    text: "[tools.tool_output_spill]\nspill_after_chars = 800",
    says: [
      "  - tools.tool_output_spill.preview_chars: found a number that is not below spill_after_chars; expected fewer characters than spill_after_chars"
    ]
  },
  {
    name: "unset variables, also in what is switched off, together with other problems",
    text: [
      "[tools.wait]",
      "enabled = false",
      'max_milliseconds = "${WAIT}"',
      "[http]",
      'allowed_origins = ["https://example.org", "${ORIGIN}"]',
      'port = "${PORT}"',
      "prot = 1"
    ].join("\n"),
    variables: { PORT: "not-a-port" },
    says: [
      "  - tools.wait.max_milliseconds: found a reference to the environment variable WAIT, which is not set; expected a variable that is set (it may be empty)",
      "      set WAIT, or write $${WAIT} if the text itself is meant",
      "  - http.allowed_origins[1]: found a reference to the environment variable ORIGIN, which is not set; expected a variable that is set (it may be empty)",
      "      set ORIGIN, or write $${ORIGIN} if the text itself is meant",
      "  - http.port: found a text (from ${PORT}); expected a whole number from 0 to 65535",
      "  - http.prot: found an unknown key; expected one of host, port, auth_token, allowed_origins",
      "      did you mean port?"
    ]
  },
  {
    name: "a variable that is empty where something must be",
    text: '[runtime]\nowner_id = "${OWNER}"',
    variables: { OWNER: "" },
    says: ["  - runtime.owner_id: found an empty text (from ${OWNER}); expected text that is not empty"]
  },
  {
    name: "rules rest while a value they need is itself wrong",
    text: '[http]\nhost = "0.0.0.0"\nauth_token = 5\n[tools.tool_output_spill]\nspill_after_chars = "x"\npreview_chars = 9000',
    says: [
      "  - http.auth_token: found a whole number; expected visible ASCII characters without spaces (kept secret)",
      "  - tools.tool_output_spill.spill_after_chars: found a text; expected a whole number of at least 1"
    ]
  },
  {
    name: "a provider whose own section is wrong is not also called unknown",
    text: '[llm]\nprovider = "mine"\nmodel = "m"\n[providers]\nmine = 5',
    says: ["  - providers.mine: found a whole number; expected a table"]
  }
]

const syntaxErrors: ReadonlyArray<readonly [text: string, says: string]> = [
  [
    "[http]\nport = 1\nport = 2",
    "found a syntax error: trying to redefine an already defined table or value (line 3, column 1)"
  ],
  ['api_key = "sk-12345', "found a syntax error: unfinished string (line 1, column 11)"],
  [
    "a = 1 b = 2",
    "found a syntax error: each key-value declaration must be followed by an end-of-line (line 1, column 7)"
  ],
  ["[__proto__]\nadmin = true", "found a syntax error: document contains an unsafe property (line 1, column 2)"]
]

describe("bad files", () => {
  for (const { name, says, text, variables } of badFiles) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const error = yield* refuse(text, variables)
        const count = error.problems.length
        assert.deepStrictEqual(error.message.split("\n"), [
          `config.toml: ${count} problem${count === 1 ? "" : "s"}`,
          ...says
        ])
      })
    )
  }

  it.effect("a text without quotes is told what it needs, and is not repeated", () =>
    Effect.gen(function* () {
      const error = yield* refuse("[llm]\nprovider = openai")
      assert.deepStrictEqual(error.message.split("\n"), [
        "config.toml: 1 problem",
        "  - found a syntax error: invalid value (line 2, column 12); expected valid TOML",
        '      a text stands in quotes: key = "text"'
      ])
    })
  )

  for (const [text, says] of syntaxErrors) {
    it.effect(`a syntax error: ${JSON.stringify(text)}`, () =>
      Effect.gen(function* () {
        const error = yield* refuse(text)
        assert.strictEqual(error.message, `config.toml: 1 problem\n  - ${says}; expected valid TOML`)
      })
    )
  }
})
