import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ModelsLive from "../../layers/model/Models.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import { Models } from "../../src/model/Models.ts"
import type { ModelHandle, ModelSelection } from "../../src/model/Models.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Fake from "./FakeOpenAi.ts"
import * as Responses from "./FakeResponses.ts"

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

  it.live("F137: gives each model the patience that the settings have for it", () =>
    Effect.gen(function* () {
      const slow = () =>
        Fake.stream(Fake.delta({ content: "a" }), Fake.pause(600), Fake.delta({ content: "b" }, "stop"), Fake.done)
      const server = yield* Fake.make([slow(), slow()])
      const settings: SettingsInput = {
        llm: { provider: "mine", model: "quick", retry_attempts: 0, idle_timeout_seconds: 30 },
        providers: {
          mine: { base_url: server.baseUrl, api_key: "sk-1", model_info: { quick: { idle_timeout_seconds: 0.1 } } }
        }
      }
      yield* use(settings, (models) =>
        Effect.gen(function* () {
          const ask = Effect.fnUntraced(function* (model: string) {
            const { languageModel } = yield* models.get({ model })
            return yield* Effect.result(Stream.runDrain(languageModel.streamText({ prompt: "hi" })))
          })
          const quick = yield* ask("quick")
          assert(quick._tag === "Failure")
          assert.strictEqual(ModelError.describe(quick.failure).code, "model:idle-timeout")
          assert.strictEqual((yield* ask("other"))._tag, "Success")
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

  it.live("has the provider compact where it speaks responses, and nowhere else", () =>
    Effect.gen(function* () {
      const provider = { base_url: "http://127.0.0.1:1/v1", models: ["m"] }
      const settings: SettingsInput = { providers: { chat: provider, resp: { ...provider, api: "responses" } } }
      yield* use(settings, (models) =>
        Effect.gen(function* () {
          assert.isUndefined((yield* models.get({ provider: "chat" })).compact)
          assert.isFunction((yield* models.get({ provider: "resp" })).compact)
        })
      )
    })
  )

  it.effect("takes a word that every object knows for a name like any other", () =>
    Effect.gen(function* () {
      const settings: SettingsInput = {
        llm: { provider: "mine", model: "m" },
        providers: { mine: { base_url: "http://127.0.0.1:1/v1" } }
      }
      for (const word of ["constructor", "__proto__", "tostring"]) {
        assert.strictEqual((yield* refusal(settings, { provider: word, model: "m" })).reason, "unknown-provider")
        const handle = yield* use(settings, (models) => models.get({ model: word }))
        assert.deepStrictEqual([handle.model, handle.info?.family], [word, "unknown"])
      }
    })
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

  it.live("speaks the API that the provider's section names, and tells what is known of the model", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Responses.stream([{ type: "message", pieces: ["hello"] }])])
      const settings: SettingsInput = {
        llm: { provider: "mine", model: "gpt-5", retry_attempts: 0, responses_state_mode: "previous_response_id" },
        providers: {
          mine: { base_url: server.baseUrl, api: "responses", model_info: { "gpt-5": { context_tokens: 1000 } } }
        }
      }
      yield* use(settings, (models) =>
        Effect.gen(function* () {
          const { info, languageModel } = yield* models.default
          yield* Stream.runDrain(languageModel.streamText({ prompt: "hi" }))
          assert.strictEqual(server.received[0]?.path, "/v1/responses")
          assert.strictEqual(server.received[0]?.body["store"], true)
          assert.deepInclude(info, { family: "gpt", contextTokens: 1000, toolSchemas: "strict" })
        })
      )
    })
  )
})

describe("models to fall back on", () => {
  const settings: SettingsInput = {
    llm: { provider: "ollama", model: "a", fallback: ["ollama/a", "mine/m", "OpenRouter/org/m", "offline"] },
    providers: { openrouter: { api_key: "sk" }, mine: { api_format: "custom" } }
  }
  const names = (handle: ModelHandle) => handle.fallback?.map(({ model, provider }) => `${provider}/${model}`)

  it.effect("are those that can be asked, in order, without the model itself", () =>
    use(settings, (models) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(names(yield* models.default), ["openrouter/org/m", "offline/offline-helper"])
        assert.isDefined((yield* models.get({ provider: "ollama" })).fallback)
      })
    )
  )

  it.effect("are not for who chose another model", () =>
    use(settings, (models) =>
      Effect.gen(function* () {
        assert.isUndefined((yield* models.get({ model: "b" })).fallback)
        assert.isUndefined((yield* models.get({ provider: "openrouter", model: "org/m" })).fallback)
      })
    )
  )
})

describe("a provider that the program brings", () => {
  const settings: SettingsInput = {
    llm: { provider: "shop", model: "clerk" },
    providers: { shop: { api_format: "custom", models: ["clerk"] }, other: { api_format: "custom" } }
  }
  class Till extends Context.Service<Till, { readonly name: string }>()("test/Till") {}
  const made: Array<string> = []
  const closed: Array<string> = []
  const brought = ModelsLive.layerWith({
    shop: (model) =>
      Layer.effect(
        LanguageModel.LanguageModel,
        Effect.gen(function* () {
          const till = yield* Till
          made.push(model)
          yield* Effect.addFinalizer(() => Effect.sync(() => closed.push(model)))
          if (model === "broken") return yield* Effect.fail("no reason for the outside")
          return (yield* Scripted.make(() => [Scripted.text(`${model} at ${till.name}`)])).languageModel
        })
      )
  }).pipe(Layer.provide(Layer.succeed(Till, { name: "till 1" })), Layer.provide(Layer.orDie(Settings.layer(settings))))

  it.effect("is made once for each model, with what its layer needs, and closed in the end", () =>
    Effect.gen(function* () {
      yield* Effect.flatMap(Models, (models) =>
        Effect.gen(function* () {
          const { languageModel } = yield* models.default
          assert.strictEqual((yield* languageModel.generateText({ prompt: "hi" })).text, "clerk at till 1")
          yield* models.get({ model: "clerk" })
          assert.deepStrictEqual(made, ["clerk"])
          assert.deepStrictEqual(closed, [])
          assert.deepStrictEqual(
            models.available.map(({ name }) => name),
            ["offline", "shop"]
          )
          const broken = yield* Effect.flip(models.get({ model: "broken" }))
          assert.strictEqual(broken.reason, "broken-layer")
          assert.notInclude(broken.message, "no reason")
          const missing = yield* Effect.flip(models.get({ provider: "other", model: "m" }))
          assert.strictEqual(missing.reason, "missing-layer")
        })
      ).pipe(Effect.provide(brought))
      assert.include(closed, "clerk")
    })
  )
})
