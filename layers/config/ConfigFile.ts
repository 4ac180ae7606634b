/**
 * The settings file: finding it, reading it, and the settings it gives.
 *
 * Order of the steps: parse, expand references to the environment, decode, check the rules between keys. The file is read once,
 * at start; nothing is written back.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import { ConfigError } from "../../src/config/ConfigError.ts"
import type { Problem } from "../../src/config/ConfigError.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { Source } from "../../src/config/ConfigSource.ts"
import { Environment } from "../../src/config/Environment.ts"
import * as Expansion from "../../src/config/Expansion.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Toml from "./Toml.ts"

/** Settings together with where they came from. */
export interface Loaded {
  readonly settings: Settings.SettingsValue
  readonly source: Source
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

/** Finds, reads and checks the settings. */
export const load = Effect.fn("ConfigFile.load")(function* (
  options: Options = {}
): Effect.fn.Return<Loaded, ConfigError, Environment | FileSystem.FileSystem | Path.Path> {
  const source = yield* locate(options)
  if (source._tag === "Defaults") return { settings: Settings.Settings.defaults, source }
  const text = yield* read(source.path)
  return { settings: yield* fromText(text, source.path), source }
})

/** The settings that a TOML text gives, with the environment filled in. `source` names the text in errors. */
export const fromText = Effect.fn("ConfigFile.fromText")(function* (
  text: string,
  source: string
): Effect.fn.Return<Settings.SettingsValue, ConfigError, Environment> {
  const document = yield* Effect.mapError(Toml.parse(text), (problem) => failure(source, problem))
  const expanded = Expansion.expand(document, yield* lookup(Expansion.variables(document)))
  return yield* Settings.decode(expanded.document, { source, findings: expanded.findings, origin: expanded.origin })
})

/** `Settings` and `ConfigSource` from the settings file. */
export const layer = (
  options: Options = {}
): Layer.Layer<Settings.Settings | ConfigSource, ConfigError, Environment | FileSystem.FileSystem | Path.Path> =>
  Layer.effectContext(
    Effect.map(load(options), ({ settings, source }) =>
      Context.make(Settings.Settings, settings).pipe(Context.add(ConfigSource, source))
    )
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

const read = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(file), (error) => failure(file, unreadable(error)))
})

const unreadable = (error: PlatformError.PlatformError): Problem => ({
  path: "",
  found: `a file that cannot be read (${error.reason._tag})`,
  expected: "a file this user may read"
})

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
