/** Reading settings from a text in a test. */
import * as Effect from "effect/Effect"
import * as ConfigFile from "../../layers/config/ConfigFile.ts"
import { Environment } from "../../src/config/Environment.ts"

/** Decodes a TOML text called `config.toml` with these environment variables set. */
export const read = (text: string, variables: Readonly<Record<string, string>> = {}) =>
  ConfigFile.fromText(text, "config.toml").pipe(Effect.provide(Environment.layerTable(variables)))

/** The error that reading the text gives. */
export const refuse = (text: string, variables: Readonly<Record<string, string>> = {}) =>
  Effect.flip(read(text, variables))
