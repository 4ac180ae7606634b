import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ModelsLive from "../../layers/model/Models.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import { Models } from "../../src/model/Models.ts"
import type { ModelSelection } from "../../src/model/Models.ts"
import * as Fake from "./FakeOpenAi.ts"

const withSettings = (input: SettingsInput) => ModelsLive.layer.pipe(Layer.provide(Settings.layer(input)))

const use = <A, E>(input: SettingsInput, run: (models: typeof Models.Service) => Effect.Effect<A, E>) =>
  Effect.flatMap(Models, run).pipe(Effect.provide(withSettings(input)))

const refusal = (input: SettingsInput, selection?: ModelSelection) =>
  use(input, (models) => Effect.flip(models.get(selection)))

describe("Models", () => {
  it.effect("is the offline helper when nothing is configured", () =>
    use({}, (models) =>
      Effect.gen(function* () {
        const handle = yield* models.default
        assert.strictEqual(handle.provider, "offline")
        assert.deepStrictEqual(
          models.available.map(({ name }) => name),
          ["offline"]
        )
        const response = yield* handle.languageModel.generateText({ prompt: "what can you do?" })
        assert.include(response.text, "not a language model")
      })
    )
  )

  it.live("reaches the provider of the settings, and keeps one client per model", () =>
    Effect.gen(function* () {
      const answer = Fake.stream(Fake.delta({ content: "hello" }, "stop"), Fake.done)
      const completion = Fake.json({ choices: [{ message: { content: "hello" }, finish_reason: "stop" }] })
      const server = yield* Fake.make([completion, answer])
      const settings: SettingsInput = {
        llm: { provider: "mine", model: "m1", retry_attempts: 0 },
        providers: { mine: { base_url: `${server.baseUrl}/`, api_key: "sk-1" } }
      }
      yield* use(settings, (models) =>
        Effect.gen(function* () {
          const handle = yield* models.default
          assert.deepStrictEqual([handle.provider, handle.model], ["mine", "m1"])
          assert.strictEqual((yield* handle.languageModel.generateText({ prompt: "hi" })).text, "hello")
          assert.strictEqual(server.received[0]?.path, "/v1/chat/completions")
          assert.strictEqual(server.received[0]?.headers.authorization, "Bearer sk-1")
          assert.strictEqual(yield* models.get({ provider: " MINE " }), handle)
          assert.notStrictEqual(yield* models.get({ model: "m2" }), handle)
        })
      )
    })
  )

  it.effect("lists providers with usable credentials, never keys", () =>
    use(
      {
        llm: { provider: "openai", model: "gpt-x" },
        providers: {
          openai: { api_key: "sk-secret" },
          openrouter: {},
          ollama: { models: ["llama"] }
        }
      },
      (models) =>
        Effect.sync(() => {
          assert.deepStrictEqual(models.available, [
            { name: "offline", models: ["offline-helper"] },
            { name: "ollama", models: ["llama"] },
            { name: "openai", models: ["gpt-x"] }
          ])
          assert.notInclude(JSON.stringify(models.available), "secret")
        })
    )
  )

  it.effect("says which key to set when a provider has no key", () =>
    Effect.gen(function* () {
      const error = yield* refusal({}, { provider: "openai", model: "gpt-x" })
      assert.strictEqual(error.reason, "missing-key")
      assert.include(error.message, "[providers.openai].api_key")
    })
  )

  it.effect("takes a header in place of a key, and asks for none at another address", () =>
    use(
      {
        llm: { provider: "openai", model: "gpt-x" },
        providers: {
          openai: { headers: { Authorization: "Bearer x" } },
          openrouter: { base_url: "http://127.0.0.1:9/v1", models: ["a"] }
        }
      },
      (models) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* models.default).provider, "openai")
          assert.strictEqual((yield* models.get({ provider: "openrouter" })).model, "a")
        })
    )
  )

  it.effect("refuses a provider nobody knows", () =>
    Effect.gen(function* () {
      const error = yield* refusal({}, { provider: "nowhere", model: "m" })
      assert.strictEqual(error.reason, "unknown-provider")
      assert.include(error.message, "[providers.nowhere]")
    })
  )

  it.effect("wants a model for a provider that lists none", () =>
    Effect.gen(function* () {
      const error = yield* refusal(
        { llm: { provider: "ollama", model: "a" }, providers: { vllm: {} } },
        { provider: "vllm" }
      )
      assert.strictEqual(error.reason, "missing-model")
      assert.include(error.message, "[providers.vllm].models")
    })
  )
})
