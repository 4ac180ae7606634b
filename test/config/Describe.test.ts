import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as Describe from "../../layers/config/Describe.ts"
import { Settings } from "../../src/config/Settings.ts"
import { read, refuse } from "./Files.ts"

const onDisk = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")
const remedy = "run `npm run docs:config`"

describe("the example file", () => {
  it("is what the schema says", () => {
    assert.strictEqual(onDisk("config.example.toml"), Describe.exampleFile(), remedy)
  })

  it.effect("gives exactly the defaults", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read(onDisk("config.example.toml")), Settings.defaults)
    })
  )

  it.effect("stays valid with every key without a default switched on", () =>
    Effect.gen(function* () {
      const settings = yield* read(Describe.exampleFile().replaceAll(/^#(?! )/gm, ""))
      assert.strictEqual(settings.llm.temperature, 0.7)
      assert.deepStrictEqual(Object.keys(settings.providers), ["my_name"])
    })
  )

  it("has a line of meaning above every key", () => {
    const lines = Describe.exampleFile().split("\n")
    const keys = lines.flatMap((line, index) => (/^#?[a-z_]+ = /.test(line) ? [index] : []))
    assert.isAbove(keys.length, 40)
    for (const index of keys) assert.match(lines[index - 1] ?? "", /^# .{10,}$/)
  })
})

describe("the reference", () => {
  it("is what the schema says", () => {
    const page = onDisk("docs/configuration.md")
    assert.strictEqual(page, Describe.intoPage(page), remedy)
    assert.include(page, Describe.referenceTables())
  })

  it("names every key of the example file", () => {
    const keys = [...Describe.exampleFile().matchAll(/^#?([a-z_]+) = /gm)].map(([, key]) => key ?? "")
    for (const key of keys) assert.include(Describe.referenceTables(), `| \`${key}\` |`)
  })

  it("leaves a page without marks alone", () => {
    assert.strictEqual(Describe.intoPage("# Hello\n"), "# Hello\n")
  })
})

describe("the settings in force", () => {
  const secrets = {
    http: { host: "0.0.0.0", auth_token: "very-secret-token-1" },
    llm: {
      provider: "my.host",
      model: "m",
      temperature: 0.5,
      request_timeout_seconds: "2 minutes",
      system_prompt: 'a "b"\nc'
    },
    providers: {
      "my.host": {
        base_url: "http://127.0.0.1:1/v1?api-version=1&key=very-secret-4#very-secret-5",
        api_key: "very-secret-2",
        headers: { "X-Key": "very-secret-3", B: "" }
      },
      ollama: {}
    },
    tools: { tool_output_spill: { exclude_tools: ["a", "b*"] } }
  }
  const settings = Effect.provide(Settings, Settings.layer(secrets))

  it.effect("show no secret", () =>
    Effect.gen(function* () {
      const shown = yield* Describe.settingsText(yield* settings)
      assert.notInclude(shown, "very-secret")
      assert.include(shown, 'auth_token = "***"\n')
      assert.include(
        shown,
        '[providers."my.host"]\napi_key = "***"\nbase_url = "http://127.0.0.1:1/v1?***"\nheaders.X-Key = "***"\nheaders.B = ""\n'
      )
      assert.include(shown, '[providers.ollama]\napi_key = ""\n')
    })
  )

  it.effect("show no secret of a provider that is named like a key", () =>
    Effect.gen(function* () {
      const hidden = {
        api_key: "very-secret-6",
        headers: { base_url: "very-secret-7", otlp_endpoint: "very-secret-8" }
      }
      const shown = yield* Describe.settingsText(
        yield* Effect.provide(
          Settings,
          Settings.layer({
            providers: {
              base_url: { ...hidden, base_url: "http://127.0.0.1:1/v1?very-secret-9" },
              otlp_endpoint: { ...hidden, api_format: "custom" },
              api_key: { base_url: "http://127.0.0.1:2/v1", models: ["a"] }
            }
          })
        )
      )
      assert.notInclude(shown, "very-secret")
      assert.include(
        shown,
        '[providers.base_url]\napi_key = "***"\nbase_url = "http://127.0.0.1:1/v1?***"\nheaders.base_url = "***"\nheaders.otlp_endpoint = "***"\n'
      )
      assert.include(shown, '[providers.api_key]\napi_key = ""\nbase_url = "http://127.0.0.1:2/v1"\n')
      assert.include(shown, 'models = ["a"]\n')
    })
  )

  it.effect("are a file that gives the same settings, secrets apart", () =>
    Effect.gen(function* () {
      const shown = yield* Describe.settingsText(yield* settings)
      const again = yield* read(shown.replace('"***"', '"a-long-enough-token"'))
      assert.strictEqual(yield* Describe.settingsText(again), shown)
      assert.strictEqual(again.llm.system_prompt, 'a "b"\nc')
      const defaults = yield* Describe.settingsText(Settings.defaults)
      assert.deepStrictEqual(yield* read(defaults), Settings.defaults)
    })
  )
})

describe("the page", () => {
  it.effect("shows what people really see", () =>
    Effect.gen(function* () {
      const [, file, says] =
        /This file, say.*?```toml\n(.*?)```.*?```text\n(.*?)\n```/s.exec(onDisk("docs/configuration.md")) ?? []
      const error = yield* refuse(file ?? "", { PORT: "http" })
      assert.strictEqual(says, `troupe: ${error.message}`)
    })
  )
})
