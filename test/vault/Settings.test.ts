import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as ConfigFile from "../../layers/config/ConfigFile.ts"
import * as VaultFile from "../../layers/vault/VaultFile.ts"
import type { ConfigError } from "../../src/config/ConfigError.ts"
import { Environment } from "../../src/config/Environment.ts"
import { AskPassword } from "../../src/vault/Vault.ts"

const password = "correct horse battery staple"
const secret = "zq-a-very-long-secret"

/** A folder with a vault and a file of its password, and settings that begin with where the vault is. */
const withVault = <E>(
  use: (at: {
    readonly folder: string
    readonly load: (
      text: string,
      variables?: Readonly<Record<string, string>>
    ) => Effect.Effect<ConfigFile.Loaded, ConfigError, FileSystem.FileSystem | Path.Path>
  }) => Effect.Effect<void, E, FileSystem.FileSystem | Path.Path>
) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = yield* files.makeTempDirectoryScoped()
    const vault = paths.join(folder, "v.yml")
    yield* VaultFile.write(vault, Redacted.make(password), `door: ${secret}\nshort: abc\n`)
    yield* files.writeFileString(paths.join(folder, "password"), `${password}\n`, { mode: 0o600 })
    yield* use({
      folder,
      load: (text, variables = { TROUPE_VAULT_PASSWORD: password }) =>
        Effect.gen(function* () {
          const path = paths.join(folder, "config.toml")
          yield* Effect.orDie(files.writeFileString(path, `[vault]\nenabled = true\npath = "${vault}"\n${text}`))
          return yield* ConfigFile.load({ path })
        }).pipe(Effect.provide(Environment.layerTable(variables)))
    })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const owner = '[runtime]\nowner_id = "${secret:door}, $${secret:door}"\n'

describe("the vault in the settings", () => {
  it.live("gives its secrets to references, and all of them are known", () =>
    withVault(({ load }) =>
      Effect.gen(function* () {
        const { secrets, settings, vault } = yield* load(owner)
        assert.strictEqual(settings.runtime.owner_id, `${secret}, \${secret:door}`)
        assert.includeMembers(secrets.map(Redacted.value), [secret, "abc"])
        assert.deepStrictEqual([vault.unlocked, vault.names], [true, ["door", "short"]])
      })
    )
  )

  it.live("is unlocked by a file before a variable, and by a person when there is neither", () =>
    withVault(({ folder, load }) =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const file = `password_file = "${folder}/password"\n${owner}`
        assert.isTrue((yield* load(file, { TROUPE_VAULT_PASSWORD: "wrong" })).vault.unlocked)
        const asked: Array<string> = []
        const person = (question: string) => {
          asked.push(question)
          return Effect.succeed(Redacted.make(password))
        }
        assert.isTrue((yield* Effect.provideService(load(owner, {}), AskPassword, person)).vault.unlocked)
        assert.lengthOf(asked, 1)
        const failing = (text: string, variables: Readonly<Record<string, string>>) =>
          Effect.map(Effect.flip(load(text, variables)), ({ message }) => {
            assert.notInclude(message, password)
            assert.notInclude(message, secret)
            return message
          })
        assert.match(yield* failing(owner, {}), /vault\.path: .*no password.*\n.*TROUPE_VAULT_PASSWORD/)
        assert.match(yield* failing(owner, { TROUPE_VAULT_PASSWORD: "wrong" }), /vault\.path: .*password is wrong/)
        yield* files.chmod(`${folder}/password`, 0o644)
        assert.match(yield* failing(file, {}), /vault\.password_file: .*other users.*mode 644/)
      })
    )
  )

  it.live("refuses names that are not in it, itself, and uses that cannot be", () =>
    withVault(({ load }) =>
      Effect.gen(function* () {
        const found = (text: string) => Effect.map(Effect.flip(load(text)), ({ message }) => message)
        assert.match(
          yield* found('[runtime]\nowner_id = "${secret:window}"'),
          /runtime\.owner_id: .*window .*not in it/
        )
        assert.match(
          yield* found('password_file = "${secret:door}"'),
          /vault\.password_file: .*section of the vault itself/
        )
        const use = (more: string) => found(`[vault.use.door]\n${more}`)
        assert.match(
          yield* use('secret = "window"\nenv = "A"'),
          /vault\.use\.door: found a secret that is not in the vault/
        )
        assert.match(yield* use('secret = "short"\nenv = "A"'), /fewer than 8 characters/)
        assert.match(yield* use('hosts = ["a.example"]\nformat = "x"'), /vault\.use\.door\.format/)
        assert.match(yield* use(""), /no use of it/)
        assert.match(yield* use('env = "a b"'), /vault\.use\.door\.env/)
      })
    )
  )
})
