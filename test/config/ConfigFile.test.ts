import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { spawnSync } from "node:child_process"
import * as ConfigFile from "../../layers/config/ConfigFile.ts"
import * as Report from "../../layers/config/Report.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { Source } from "../../src/config/ConfigSource.ts"
import { Environment } from "../../src/config/Environment.ts"
import * as Vault from "../../src/vault/Vault.ts"
import { Settings } from "../../src/config/Settings.ts"

/** A folder with these files in it (folders have no text), which is also where relative paths start. */
const folder = Effect.fnUntraced(function* (files: Readonly<Record<string, string | undefined>>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "troupe-config-" })
  for (const [name, text] of Object.entries(files)) {
    yield* text === undefined
      ? fs.makeDirectory(path.join(root, name))
      : fs.writeFileString(path.join(root, name), text)
  }
  return {
    file: (name: string) => path.join(root, name),
    /** The platform with this folder as the working directory. */
    here: Layer.succeed(Path.Path, { ...path, resolve: (...parts) => path.resolve(root, ...parts) })
  }
})

const variables = (table: Readonly<Record<string, string>> = {}) => Environment.layerTable(table)
const owner = (name: string) => `[runtime]\nowner_id = "${name}"\n`

describe("ConfigFile", () => {
  it.effect("takes the given path, then TROUPE_CONFIG, then ./config.toml, then the defaults", () =>
    Effect.gen(function* () {
      const { file, here } = yield* folder({
        "given.toml": owner("given"),
        "variable.toml": owner("variable"),
        "config.toml": owner("here"),
        empty: undefined
      })
      const load = (options: ConfigFile.Options, environment: Readonly<Record<string, string>>) =>
        Effect.map(
          ConfigFile.load(options).pipe(Effect.provide([here, variables(environment)])),
          ({ settings, source }) => [settings.runtime.owner_id, source] as const
        )
      const from = (name: string): Source => ({ _tag: "File", path: file(name) })
      const named = { TROUPE_CONFIG: file("variable.toml") }

      assert.deepStrictEqual(yield* load({ path: file("given.toml") }, named), ["given", from("given.toml")])
      assert.deepStrictEqual(yield* load({ path: "given.toml" }, {}), ["given", from("given.toml")])
      assert.deepStrictEqual(yield* load({}, named), ["variable", from("variable.toml")])
      assert.deepStrictEqual(yield* load({}, { TROUPE_CONFIG: " " }), ["here", from("config.toml")])
      assert.deepStrictEqual(yield* load({}, {}), ["here", from("config.toml")])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect(
    "F057 tells of its secrets: those of the settings, and of variables whose names say so, wherever they are used",
    () =>
      Effect.gen(function* () {
        const text = `[runtime]
owner_id = "\${CHAT_TOKEN} of \${HOME_TOWN}"
[providers.acme]
base_url = "http://acme.test/v1"
api_key = "\${ACME}"
`
        const { here } = yield* folder({ "config.toml": text })
        const environment = {
          CHAT_TOKEN: "a-token-of-chats",
          ACME: "a-key-of-acme",
          HOME_TOWN: "elsewhere",
          OTHER_KEY: "not-named"
        }
        const { secrets } = yield* ConfigFile.load().pipe(Effect.provide([here, variables(environment)]))
        assert.sameMembers(
          secrets.map(Redacted.value).filter((value) => value !== ""),
          ["a-key-of-acme", "a-token-of-chats"]
        )
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("goes without a file where ./config.toml is missing or a folder", () =>
    Effect.gen(function* () {
      for (const files of [{}, { "config.toml": undefined }]) {
        const { here } = yield* folder(files)
        const loaded = yield* ConfigFile.load().pipe(Effect.provide([here, variables()]))
        assert.deepStrictEqual(loaded, {
          settings: Settings.defaults,
          source: { _tag: "Defaults" },
          secrets: [],
          vault: Vault.none
        })
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a file that was named must be there, be a file, and end in .toml", () =>
    Effect.gen(function* () {
      const { file, here } = yield* folder({ "dir.toml": undefined, dir: undefined, "config.yaml": "", config: "" })
      const refused = (name: string, options: ConfigFile.Options, environment: Readonly<Record<string, string>> = {}) =>
        ConfigFile.load(options).pipe(
          Effect.provide([here, variables(environment)]),
          Effect.flip,
          Effect.map((error) => error.message.replace(file(name), name))
        )
      const says: ReadonlyArray<readonly [string, string]> = [
        ["dir.toml", "found a folder; expected a .toml file"],
        ["dir", "found a folder; expected a .toml file"],
        ["missing.toml", "found no such file; expected a .toml file that exists"],
        ["config.yaml", "found a file name that ends in .yaml; expected one that ends in .toml"],
        ["config", "found a file name without a suffix; expected one that ends in .toml"]
      ]
      for (const [name, problem] of says) {
        const message = `${name}: 1 problem\n  - ${problem}`
        assert.strictEqual(yield* refused(name, { path: name }), message)
        assert.strictEqual(yield* refused(name, {}, { TROUPE_CONFIG: file(name) }), message)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a file that cannot be read says why", () =>
    Effect.gen(function* () {
      const { file, here } = yield* folder({ "config.toml": "" })
      const fs = yield* FileSystem.FileSystem
      // The user who runs the tests may be allowed everything, so the refusal is played.
      const noReading = Layer.succeed(FileSystem.FileSystem, {
        ...fs,
        readFile: () => Effect.flip(fs.access(file("missing"))).pipe(Effect.orDie, Effect.flatMap(Effect.fail))
      })
      const error = yield* ConfigFile.load().pipe(Effect.provide([here, noReading, variables()]), Effect.flip)
      assert.include(error.message, "found a file that cannot be read (NotFound); expected a file this user may read")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a file that nobody wrote as settings is not read", () =>
    Effect.gen(function* () {
      const { file, here } = yield* folder({ "latin.toml": "", "huge.toml": "", "pipe.toml": "" })
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFile(
        file("latin.toml"),
        Uint8Array.from([..."# one\n# Sch"].map((c) => c.charCodeAt(0)).concat(0xfc))
      )
      yield* fs.truncate(file("huge.toml"), 100_000_000)
      yield* fs.remove(file("pipe.toml"))
      assert.strictEqual(spawnSync("mkfifo", [file("pipe.toml")]).status, 0)
      const noReading = Layer.succeed(FileSystem.FileSystem, {
        ...fs,
        readFile: (path: string) => (path.endsWith("latin.toml") ? fs.readFile(path) : Effect.die("read"))
      })
      for (const [name, problem] of [
        ["latin.toml", "found a text that is not UTF-8 (line 2, column 6); expected a file saved as UTF-8"],
        ["huge.toml", "found a file of 100 MB; expected at most 256 KiB"],
        ["pipe.toml", "found a pipe; expected a file"]
      ] as const) {
        const error = yield* ConfigFile.load({ path: name }).pipe(
          Effect.provide([here, noReading, variables()]),
          Effect.flip
        )
        assert.strictEqual(error.message.replace(file(name), name), `${name}: 1 problem\n  - ${problem}`)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("fills in the environment, and what it holds cannot break out of its text", () =>
    Effect.gen(function* () {
      const text = [
        "[http]",
        'port = "${PORT}"',
        "[tools.wait]",
        'enabled = "${WAIT}"',
        "[providers.openai]",
        'api_key = "${KEY}"',
        'headers = { X-Title = "<${KEY}>" }',
        "[runtime]",
        'owner_id = "${HOSTILE}"'
      ].join("\n")
      const hostile = 'x"\nturn_crash_limit = 9\n[tools.bash]\nenabled = true\\'
      const settings = yield* ConfigFile.fromText(text, "config.toml").pipe(
        Effect.provide(variables({ PORT: "8080", WAIT: "true", KEY: "k", HOSTILE: hostile }))
      )
      assert.strictEqual(settings.http.port, 8080)
      assert.isTrue(settings.tools.wait.enabled)
      assert.strictEqual(settings.runtime.owner_id, hostile)
      assert.strictEqual(settings.runtime.turn_crash_limit, 3)
    })
  )

  it.effect("reads the byte order mark and line ends of other editors", () =>
    Effect.gen(function* () {
      const settings = yield* ConfigFile.fromText('\uFEFF[runtime]\r\nowner_id = "me"\r\n', "config.toml").pipe(
        Effect.provide(variables())
      )
      assert.strictEqual(settings.runtime.owner_id, "me")
    })
  )

  it.effect("the layer gives the settings and where they came from", () =>
    Effect.gen(function* () {
      const { file } = yield* folder({ "a.toml": owner("me") })
      const layer = ConfigFile.layer({ path: file("a.toml") }).pipe(Layer.provide(variables()))
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Settings).runtime.owner_id, "me")
        assert.deepStrictEqual(yield* ConfigSource, { _tag: "File", path: file("a.toml") })
        const shown = yield* Report.show
        assert.isTrue(shown.startsWith(`# Settings from ${file("a.toml")}`))
        assert.include(shown, 'owner_id = "me"\n')
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("check names the file it found nothing wrong with", () =>
    Effect.gen(function* () {
      const unasked = '[tools.approval]\nrequire_approval = ["wiat"]'
      const { file, here } = yield* folder({
        "good.toml": owner("me"),
        "bad.toml": "[runtime]\nowner = 1",
        "unasked.toml": unasked
      })
      const check = (path?: string) => Report.check(path).pipe(Effect.provide([here, variables()]))
      assert.strictEqual(yield* check("good.toml"), `${file("good.toml")}: no problems found\n`)
      assert.strictEqual(
        yield* check("unasked.toml"),
        `${file("unasked.toml")}: no problems found\n` +
          "  - note: tools.approval.require_approval[0] matches no built-in tool; did you mean wait?\n"
      )
      assert.strictEqual(yield* check(), "There is no settings file (config.toml): the built-in defaults apply.\n")
      const bad = yield* Effect.flip(check("bad.toml"))
      assert.strictEqual(bad._tag === "ConfigError" ? bad.problems[0].path : bad.message, "runtime.owner")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
