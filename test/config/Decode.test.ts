import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { stringify } from "smol-toml"
import { refuse } from "./Files.ts"

/** One mistake each, at places that have nothing to do with each other. */
const mistakes: ReadonlyArray<readonly [section: string, line: string, path: string]> = [
  ["runtime", "owner_id = 5", "runtime.owner_id"],
  ["runtime", "agent_timeout_seconds = 0", "runtime.agent_timeout_seconds"],
  ["runtime", "nope = 1", "runtime.nope"],
  ["storage", 'synchronous = "maybe"', "storage.synchronous"],
  ["http", 'port = "http"', "http.port"],
  ["http", 'allowed_origins = ["https://a.example", 5]', "http.allowed_origins[1]"],
  ["http", 'host = "example.org"', "http.auth_token"],
  ["llm", "temperature = 3", "llm.temperature"],
  ["llm", "connect_timeout_seconds = true", "llm.connect_timeout_seconds"],
  ["llm", 'provider = "unheard-of"\nmodel = "m"', "llm.provider"],
  ["memory", 'max_history_messages = "${UNSET}"', "memory.max_history_messages"],
  ["orchestration.main_agent", 'tools_allow = ["a"]\ntools_deny = ["b"]', "orchestration.main_agent.tools_deny"],
  ["providers.mine", 'base_url = "nowhere"', "providers.mine.base_url"],
  ["tools.wait", "max_milliseconds = 1.5", "tools.wait.max_milliseconds"],
  ["tools.approval", 'require_approval = ["graph"]', "tools.approval.require_approval[0]"],
  ["tools.tool_output_spill", "preview_chars = 9000", "tools.tool_output_spill.preview_chars"],
  ["tools.unheard_of", "enabled = true", "tools.unheard_of"]
]

const Chosen = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mistakes.length - 1 }))).check(
  Schema.isMinLength(1)
)

describe("decoding", () => {
  it.effect.prop(
    "reports every mistake of a file, each once, and nothing else",
    [Chosen],
    ([chosen]) =>
      Effect.gen(function* () {
        const made = mistakes.filter((_, index) => chosen.includes(index))
        const sections = Map.groupBy(made, ([section]) => section)
        const text = [...sections]
          .map(([section, lines]) => `[${section}]\n${lines.map(([, line]) => line).join("\n")}\n`)
          .join("")
        const error = yield* refuse(text)
        assert.deepStrictEqual(
          error.problems.map((problem) => problem.path).toSorted(),
          made.map(([, , path]) => path).toSorted()
        )
      }),
    { arbitrary: { runs: 150 } }
  )

  // ------------------------------------------------------------------------------------------------------------------
  // Whatever a file holds, and wherever: no value of it comes back out.

  const marker = "s3cr3tvalu3"
  const Leaf = Schema.Literals([
    marker,
    `${marker} `,
    `http://${marker}@${marker}.example`,
    `\${${marker}_SET}`,
    `<\${SET}>`,
    `\${secret:${marker}}`,
    `$\${${marker}}`,
    777_000_777,
    -777_000_777,
    0.777000777,
    777_000_777_777_000_777_777n
  ])
  const Value = Schema.Union([Leaf, Schema.Array(Leaf), Schema.Record(Schema.Literals(["a", "name"]), Leaf)])
  const places: ReadonlyArray<ReadonlyArray<string>> = [
    ["runtime"],
    ["runtime", "owner_id"],
    ["runtime", "agent_timeout_seconds"],
    ["runtime", "environment"],
    ["storage", "synchronous"],
    ["storage", "data_dir"],
    ["http", "host"],
    ["http", "port"],
    ["http", "auth_token"],
    ["http", "allowed_origins"],
    ["logging", "log_level"],
    ["logging", "max_file_bytes"],
    ["logging", "file"],
    ["providers", "mine"],
    ["providers", "mine", "api_key"],
    ["providers", "mine", "base_url"],
    ["providers", "mine", "headers"],
    ["providers", "mine", "api_format"],
    ["llm", "provider"],
    ["llm", "model"],
    ["llm", "temperature"],
    ["llm", "max_new_tokens"],
    ["llm", "unknown"],
    ["unknown"],
    ["tools", "approval", "require_approval"],
    ["tools", "wait"],
    ["tools", "wait", "unknown"],
    ["tools", "tool_output_spill", "subdir"],
    ["memory", "max_history_messages"],
    ["orchestration", "main_agent"]
  ]
  const Written = Schema.Array(
    Schema.Struct({
      place: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: places.length - 1 })),
      value: Value
    })
  )

  const put = (document: Record<string, unknown>, [key, ...rest]: ReadonlyArray<string>, value: unknown): void => {
    if (key === undefined) return
    if (rest.length === 0) {
      document[key] ??= value
      return
    }
    const inner = document[key] ?? {}
    if (typeof inner !== "object" || Array.isArray(inner)) return
    const copy: Record<string, unknown> = { ...inner }
    put(copy, rest, value)
    document[key] = copy
  }

  const leaks = (text: string): boolean => text.includes(marker) || text.includes("777000777")

  it.effect.prop(
    "an error never holds a value of the file or of the environment",
    [Written],
    ([written]) =>
      Effect.gen(function* () {
        const document: Record<string, unknown> = { unknown_key: 1 }
        for (const { place, value } of written) put(document, places[place] ?? [], value)
        const error = yield* refuse(stringify(document), { SET: marker })
        const text = `${error.message}\n${JSON.stringify(error)}\n${String(error)}`
          // Names of variables are no values, and have to be named.
          .replaceAll(`${marker}_SET`, "")
        assert.isFalse(leaks(text), text)
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "nor does a syntax error",
    [Schema.Literals(["= =", '"', "[", "]", "1 2", "'", "\\", "0x", "{", "1979-99-99"])],
    ([broken]) =>
      Effect.gen(function* () {
        const error = yield* refuse(
          `[llm]\nmodel = "${marker}"\nprovider = "${marker}" ${broken}\n\n[http]\nauth_token = "${marker}"`
        )
        assert.isFalse(leaks(`${error.message}\n${JSON.stringify(error)}\n${String(error)}\n${error.stack}`))
      })
  )
})
