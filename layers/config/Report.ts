/** What the commands that look at settings print. */
import * as Effect from "effect/Effect"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { Source } from "../../src/config/ConfigSource.ts"
import { Settings } from "../../src/config/Settings.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as PolicyPatterns from "../../src/tool/PolicyPatterns.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"
import * as PromptFiles from "../agent/PromptFiles.ts"
import * as ConfigFile from "./ConfigFile.ts"
import * as Describe from "./Describe.ts"

/** Checks the settings file a command with this `--config` would use; the text says which one that was. Fails as loading does. */
export const check = Effect.fn("Report.check")(function* (path?: string) {
  const { settings, source } = yield* ConfigFile.load({ path })
  const prompts = yield* Effect.provideService(
    Effect.tap(PromptFiles.problem, () => PromptFiles.check),
    Settings,
    settings
  )
  const lines = prompts === undefined ? notes(settings) : [...notes(settings), prompts]
  return source._tag === "File"
    ? `${source.path}: no problems found\n${lines.map((line) => `  - note: ${line}\n`).join("")}`
    : `There is no settings file (${ConfigFile.defaultFile}): the built-in defaults apply.\n`
})

/** What may be meant as it is, since tools can come from elsewhere, but most often is a slip. */
const notes = (settings: Settings["Service"]): ReadonlyArray<string> =>
  PolicyPatterns.unmatched(settings, builtIn, "built-in ")

const builtIn = catalogue.flatMap(({ items }) => items.map(({ tool }) => tool.name))

/** The settings in force as a TOML text, secrets masked. */
export const show = Effect.gen(function* () {
  const settings = yield* Settings
  const source = yield* ConfigSource
  // A setting that is no secret by itself may have been given one.
  return (yield* KnownSecrets).text(`# ${origin(source)}\n\n${yield* Describe.settingsText(settings)}`)
})

const origin = (source: Source): string =>
  source._tag === "File"
    ? `Settings from ${source.path}; what it leaves out has its default.`
    : "Built-in defaults: there is no settings file."
