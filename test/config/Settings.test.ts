import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"

const of = (input: SettingsInput) => Effect.provide(Settings, Settings.layer(input))

describe("Settings", () => {
  it.effect("nothing given means the defaults", () =>
    Effect.gen(function* () {
      const settings = yield* of({})
      assert.deepStrictEqual(settings, Settings.defaults)
      assert.strictEqual(settings.llm.provider, "offline")
      assert.strictEqual(settings.llm.temperature, undefined)
      assert.strictEqual(Duration.toMillis(settings.runtime.agent_timeout_seconds), 120_000)
      assert.strictEqual(settings.logging.max_file_bytes, 10_000_000)
    })
  )

  it.effect("a key given in code decodes as it would in a file, and leaves the others alone", () =>
    Effect.gen(function* () {
      const settings = yield* of({
        llm: { provider: " Ollama ", model: "x", request_timeout_seconds: "2 minutes", retry_attempts: "1" },
        http: { auth_token: " token " },
        logging: { max_file_bytes: "2MiB", log_level: "WARN" },
        tools: { approval: { require_approval: [" memory_* "] } }
      })
      assert.strictEqual(settings.llm.provider, "ollama")
      assert.strictEqual(Duration.toMillis(settings.llm.request_timeout_seconds), 120_000)
      assert.strictEqual(settings.llm.retry_attempts, 1)
      assert.strictEqual(settings.llm.max_tool_iterations, Settings.defaults.llm.max_tool_iterations)
      assert.strictEqual(Redacted.value(settings.http.auth_token), "token")
      assert.strictEqual(settings.logging.max_file_bytes, 2_097_152)
      assert.strictEqual(settings.logging.log_level, "warn")
      assert.deepStrictEqual(settings.tools.approval.require_approval, ["memory_*"])
    })
  )

  it.effect("what a file may not hold, code may not either", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(of({ llm: { provider: "openai" }, http: { port: 70_000, host: "0.0.0.0" } }))
      assert.strictEqual(error._tag, "ConfigError")
      assert.strictEqual(error.source, "settings given in code")
      assert.deepStrictEqual(
        error.problems.map((problem) => problem.path),
        ["providers.openai.api_key", "llm.model", "http.auth_token", "http.port"]
      )
    })
  )

  it.effect("references are for files: text given in code stays as it is", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* of({ runtime: { owner_id: "${HOME}" } })).runtime.owner_id, "${HOME}")
    })
  )

  it.effect("an empty table is an empty list", () =>
    Effect.gen(function* () {
      // Only a file can hold this: the types refuse it.
      const input: object = { http: { allowed_origins: {} } }
      assert.deepStrictEqual((yield* of(input)).http.allowed_origins, [])
    })
  )

  it.effect("only the provider in force needs its key, and only at its own address", () =>
    Effect.gen(function* () {
      const model = { provider: "openai", model: "m" }
      yield* of({ llm: model, providers: { openai: { api_key: "k" } } })
      yield* of({ llm: model, providers: { openai: { headers: { Authorization: "Basic eDp5" } } } })
      yield* of({ llm: model, providers: { openai: { base_url: "http://127.0.0.1:1/v1" } } })
      for (const provider of ["ollama", "vllm", "lmstudio"]) yield* of({ llm: { provider, model: "m" } })
    })
  )

  it.effect("a default gives way to a time that was written", () =>
    Effect.gen(function* () {
      yield* of({ runtime: { agent_timeout_seconds: 30 } })
      yield* of({ llm: { request_timeout_seconds: 5 } })
    })
  )

  it.effect("known providers need no address; others with one are as good", () =>
    Effect.gen(function* () {
      const settings = yield* of({
        llm: { provider: "mine", model: "m" },
        providers: {
          openai: {},
          openrouter: { api_key: "k" },
          mine: { base_url: "http://127.0.0.1:1/v1", models: ["m"] }
        }
      })
      assert.deepStrictEqual(Object.keys(settings.providers), ["openai", "openrouter", "mine"])
    })
  )

  it.effect("loopback needs no token; another address is served with a long one", () =>
    Effect.gen(function* () {
      for (const host of ["127.0.0.1", "::1"]) yield* of({ http: { host } })
      yield* of({ http: { host: "0.0.0.0", auth_token: "0123456789abcdef" } })
    })
  )

  it("is typed by its schema", () => {
    // @ts-expect-error a key that does not exist
    void Settings.layer({ llm: { modle: "x" } })
    // @ts-expect-error a value of another kind
    void Settings.layer({ http: { port: true } })
  })
})
