/**
 * The settings file: finding it, reading it, and the settings it gives.
 *
 * Order of the steps: parse, expand references to the environment, decode, check the rules between keys. The file is read once,
 * at start; nothing is written back.
 */
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as ClientSettings from "../../src/config/ClientSettings.ts"
import { ConfigError } from "../../src/config/ConfigError.ts"
import type { Problem } from "../../src/config/ConfigError.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { Source } from "../../src/config/ConfigSource.ts"
import { Environment } from "../../src/config/Environment.ts"
import type * as Decode from "../../src/config/Decode.ts"
import * as DiskSettings from "../../src/config/DiskSettings.ts"
import * as Document from "../../src/config/Document.ts"
import * as Expansion from "../../src/config/Expansion.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Forms from "../../src/secret/Forms.ts"
import * as KnownSecrets from "../../src/secret/KnownSecrets.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import * as SecretUse from "../../src/vault/SecretUse.ts"
import * as Vault from "../../src/vault/Vault.ts"
import * as RegularFile from "../storage/RegularFile.ts"
import * as Toml from "./Toml.ts"
import * as Unlocking from "../vault/Unlocking.ts"
import * as Utf8 from "../Utf8.ts"

/** Settings together with where they came from. */
export interface Loaded {
  readonly settings: Settings.SettingsValue
  readonly source: Source
  /** Whatever of the settings must not be seen again, and the variables they were made from whose names say so. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly vault: Vault.Vault
}

export interface Options {
  /** The path given on the command line, if any. */
  readonly path?: string | undefined
}

/** The variable that names the settings file when the command line does not. */
const pathVariable = "TROUPE_CONFIG"

/** The file looked for in the working directory when nothing names one. */
export const defaultFile = "config.toml"

/**
 * Finds the settings file: the given path, else the one `TROUPE_CONFIG` names, else `config.toml` in the working directory,
 * else none. A file that was named must be there.
 */
const locate = Effect.fn("ConfigFile.locate")(function* (
  options: Options = {}
): Effect.fn.Return<Source, ConfigError, Environment | FileSystem.FileSystem | Path.Path> {
  const environment = yield* Environment
  const path = yield* Path.Path
  const fromEnvironment = Option.filter(yield* environment.get(pathVariable), (named) => named.trim() !== "")
  const named = options.path ?? Option.getOrUndefined(fromEnvironment)
  if (named !== undefined) return yield* checkNamed(path.resolve(named))
  const candidate = path.resolve(defaultFile)
  const type = yield* typeOf(candidate)
  return type === undefined || type === "Directory" ? { _tag: "Defaults" } : { _tag: "File", path: candidate }
})

/** Finds and reads the settings, and checks of them only what a command beside the daemon needs. */
export const loadForClient = Effect.fn("ConfigFile.loadForClient")(function* (options: Options = {}) {
  const source = yield* locate(options)
  if (source._tag === "Defaults") return yield* ClientSettings.decode({}, { source: "defaults" })
  const written = yield* parse(yield* read(source.path), source.path)
  const document = ClientSettings.part(written)
  // Commands beside the daemon ask for no password unless there is a secret among what they need.
  const unlocked = Expansion.needsVault(Document.shallow(document).document)
    ? yield* unlock(written, source.path)
    : undefined
  const expanded = yield* expand(document, source.path, unlocked)
  return yield* ClientSettings.decode(expanded.document, expanded.options)
})

/** Finds, reads and checks the settings. */
export const load = Effect.fn("ConfigFile.load")(function* (
  options: Options = {}
): Effect.fn.Return<Loaded, ConfigError, Environment | FileSystem.FileSystem | Path.Path> {
  const source = yield* locate(options)
  if (source._tag === "Defaults")
    return { settings: Settings.Settings.defaults, source, secrets: [], vault: Vault.none }
  const written = yield* parse(yield* read(source.path), source.path)
  const unlocked = yield* unlock(written, source.path)
  const { document, options: decoding, secrets } = yield* expand(written, source.path, unlocked)
  const settings = yield* Settings.decode(document, decoding)
  const vault = unlocked === undefined ? Vault.none : Vault.fromSecrets(unlocked)
  if (vault.unlocked) yield* Effect.andThen(refuseUnusable(settings, vault, source.path), warnOfShort(vault))
  return {
    settings,
    source,
    secrets: [...KnownSecrets.secretsIn(settings), ...secrets, ...(unlocked?.values() ?? [])],
    vault
  }
})

/** `[vault]` of the settings, whatever else is in them; its defaults where there are none. Nothing is unlocked. */
export const vaultSettings = Effect.fn("ConfigFile.vaultSettings")(function* (options: Options = {}) {
  const source = yield* locate(options)
  if (source._tag === "Defaults") return Settings.Settings.defaults.vault
  return yield* vaultSection(yield* parse(yield* read(source.path), source.path), source.path)
})

/** What a report about the disk needs of the settings, whatever else is in them. Nothing is unlocked. */
export const diskSettings = Effect.fn("ConfigFile.diskSettings")(function* (options: Options = {}) {
  const source = yield* locate(options)
  if (source._tag === "Defaults") return Settings.Settings.defaults
  const part = DiskSettings.part(Document.shallow(yield* parse(yield* read(source.path), source.path)).document)
  const expanded = yield* expand(part, source.path)
  return yield* Settings.decode(expanded.document, expanded.options)
})

/** The settings that a TOML text gives, with the environment filled in. `source` names the text in errors. */
export const fromText = Effect.fn("ConfigFile.fromText")(function* (
  text: string,
  source: string
): Effect.fn.Return<Settings.SettingsValue, ConfigError, Environment> {
  const { document, options } = yield* expand(yield* parse(text, source), source)
  return yield* Settings.decode(document, options)
})

/** `Settings` and `ConfigSource` from the settings file, the secrets in it, and the vault that it unlocks. */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Settings.Settings | ConfigSource | KnownSecrets.KnownSecrets,
  ConfigError,
  Environment | FileSystem.FileSystem | Path.Path
> => Layer.unwrap(Effect.map(load(options), layerOf))

/** What was loaded, as services. */
export const layerOf = ({ secrets, settings, source, vault }: Loaded) =>
  Layer.merge(
    Layer.succeedContext(
      Context.make(Settings.Settings, settings).pipe(Context.add(ConfigSource, source), Context.add(Vault.Vault, vault))
    ),
    KnownSecrets.KnownSecrets.layer(secrets)
  )

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const checkNamed = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<Source, ConfigError, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const type = yield* typeOf(file)
  if (type === "Directory") return yield* failure(file, { path: "", found: "a folder", expected: "a .toml file" })
  const suffix = path.extname(file)
  if (suffix !== ".toml") {
    const found = suffix === "" ? "a file name without a suffix" : `a file name that ends in ${suffix}`
    return yield* failure(file, { path: "", found, expected: "one that ends in .toml" })
  }
  if (type === undefined) {
    return yield* failure(file, { path: "", found: "no such file", expected: "a .toml file that exists" })
  }
  return { _tag: "File", path: file }
})

/** What kind of file stands at a path; `undefined` where there is none. One that cannot be looked at is "Unknown". */
const typeOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(file).pipe(
    Effect.map((info): FileSystem.File.Type | undefined => info.type),
    Effect.catch((error) => Effect.succeed(error.reason._tag === "NotFound" ? undefined : ("Unknown" as const)))
  )
})

/** Far more than all settings there are, and little enough to be read at once. */
const longest = 256 * 1024

const read = Effect.fnUntraced(function* (file: string) {
  const refused = (problem: Problem) => failure(file, problem)
  const bytes = yield* Effect.mapError(RegularFile.read(file, longest), (error) => refused(unreadable(error)))
  return yield* Effect.mapError(Utf8.decode(bytes), refused)
})

const parse = (text: string, source: string) => Effect.mapError(Toml.parse(text), (problem) => failure(source, problem))

/** A document with the environment filled in. */
interface Filled {
  readonly document: unknown
  /** What decoding it must know. */
  readonly options: Decode.Options
  /** The values of variables whose names say that they are secret, wherever in the document they ended up. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

const expand = Effect.fnUntraced(function* (
  written: unknown,
  source: string,
  vault?: ReadonlyMap<string, Redacted.Redacted>
): Effect.fn.Return<Filled, ConfigError, Environment> {
  const shallow = Document.shallow(written)
  const variables = yield* lookup(Expansion.variables(shallow.document))
  const { document, findings, origin } = Expansion.expand(shallow.document, variables, vault)
  return {
    document,
    options: { source, findings: [...shallow.findings, ...findings], origin },
    secrets: Array.from(variables).flatMap(([name, value]) =>
      KnownSecrets.isSecretVariable(name) ? [Redacted.make(value)] : []
    )
  }
})

const vaultSection = Effect.fnUntraced(function* (written: unknown, source: string) {
  const section = Document.get(Document.shallow(written).document, ["vault"])
  if (section === undefined) return Settings.Settings.defaults.vault
  const { document, options } = yield* expand({ vault: section }, source)
  return (yield* Settings.decode(document, options)).vault
})

const refuseUnusable = (settings: Settings.SettingsValue, vault: Vault.Vault, source: string) => {
  const [first, ...rest] = SecretUse.problems(settings.vault.use, vault).map(([name, found]): Problem => ({
    path: `vault.use.${name}`,
    found,
    expected: "a secret of the vault that can be used so",
    hint: "`troupe vault list` tells the names, `troupe vault edit` changes them"
  }))
  return first === undefined ? Effect.void : Effect.fail(new ConfigError({ source, problems: [first, ...rest] }))
}

const warnOfShort = ({ get, names }: Vault.Vault) => {
  const short = names.filter((name) => {
    const value = get(name)
    return value !== undefined && !Forms.isFindable(Redacted.value(value))
  })
  return short.length === 0
    ? Effect.void
    : Effect.logWarning(
        `Secrets of fewer than ${Forms.shortest} characters are not masked anywhere: ${short.join(", ")}`
      )
}

/** The secrets of the vault, where `[vault].enabled` says that there is one. */
const unlock = Effect.fnUntraced(function* (written: unknown, source: string) {
  const { enabled, password_file, path } = yield* vaultSection(written, source)
  if (!enabled) return undefined
  const paths = yield* Path.Path
  const passwordFile = password_file === "" ? "" : paths.resolve(password_file)
  return yield* Effect.mapError(Unlocking.unlock(paths.resolve(path), passwordFile), (error) =>
    failure(source, {
      path: error.path === passwordFile ? "vault.password_file" : "vault.path",
      found: `a file that cannot be used: ${error.found}`,
      expected: "a vault that can be unlocked",
      hint: error.remedy
    })
  )
})

const unreadable = (error: Effect.Error<ReturnType<typeof RegularFile.read>>): Problem => {
  switch (error._tag) {
    case "NotAFile":
      return { path: "", found: error.kind, expected: "a file" }
    case "FileTooLarge": {
      const size = ByteSize.format(ByteSize.bytes(error.size), {
        system: "decimal",
        precision: 1,
        trailingZeros: false
      })
      return { path: "", found: `a file of ${size}`, expected: "at most 256 KiB" }
    }
    case "PlatformError":
      return {
        path: "",
        found: `a file that cannot be read (${FileTrouble.why(error)})`,
        expected: "a file this user may read"
      }
  }
}

const lookup = Effect.fnUntraced(function* (names: ReadonlySet<string>) {
  const environment = yield* Environment
  const values = new Map<string, string>()
  for (const name of names) {
    const value = yield* environment.get(name)
    if (Option.isSome(value)) values.set(name, value.value)
  }
  return values
})

const failure = (source: string, problem: Problem) => new ConfigError({ source, problems: [problem] })
