import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as ConfigFile from "../../layers/config/ConfigFile.ts"
import * as ClientSettings from "../../src/config/ClientSettings.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"

const load = Effect.fnUntraced(
  function* (text: string, variables: Readonly<Record<string, string>> = {}) {
    const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/config.toml`
    yield* (yield* FileSystem.FileSystem).writeFileString(path, text)
    return yield* ConfigFile.loadForClient({ path }).pipe(Effect.provide(Environment.layerTable(variables)))
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)

describe("ClientSettings", () => {
  it.effect("looks at the place and the token, and at nothing else of the file", () =>
    Effect.gen(function* () {
      const { http, storage } = yield* load(
        [
          "[storage]",
          'data_dir = "${PLACE}"',
          'synchronous = "${SYNCHRONOUS}"',
          "[http]",
          'auth_token = "${TOKEN}"',
          'port = "${PORT}"',
          'host = "0.0.0.0"',
          "[providers.openai]",
          'api_key = "${OPENAI_API_KEY}"',
          "[llm]",
          "unknown = 1"
        ].join("\n"),
        { PLACE: "/somewhere", TOKEN: "a-token" }
      )
      assert.strictEqual(storage.data_dir, "/somewhere")
      assert.strictEqual(Redacted.value(http.auth_token), "a-token")
    })
  )

  it.effect("are those of the whole settings", () =>
    Effect.gen(function* () {
      const { http, storage } = yield* load("")
      assert.strictEqual(storage.data_dir, Settings.defaults.storage.data_dir)
      assert.strictEqual(Redacted.value(http.auth_token), Redacted.value(Settings.defaults.http.auth_token))
    })
  )

  it.effect("what is wrong with them is refused, as in the whole settings", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [text: string, path: string]> = [
        ['[storage]\ndata_dir = "${NOWHERE}"', "storage.data_dir"],
        ["[storage]\ndata_dir = 5", "storage.data_dir"],
        ['[http]\nauth_token = "a b"', "http.auth_token"],
        ["http = 5", "http"],
        [`[http]\nauth_token${".a".repeat(5000)} = 5`, "http.auth_token"],
        ["= 5", ""]
      ]
      for (const [text, path] of wrong) {
        const error = yield* Effect.flip(load(text))
        assert.strictEqual(error._tag, "ConfigError")
        if (error._tag === "ConfigError")
          assert.include(
            error.problems.map((problem) => problem.path),
            path,
            text
          )
      }
    })
  )

  it("a document that is none is left as it is", () => {
    assert.strictEqual(ClientSettings.part(5), 5)
  })
})
