import * as Context from "effect/Context"

/** Where the settings in force came from. */
export type Source =
  | { readonly _tag: "File"; /** Absolute path. */ readonly path: string }
  | { readonly _tag: "Defaults" }

/** Where the settings in force came from: a file, or nowhere (all defaults). */
export class ConfigSource extends Context.Service<ConfigSource, Source>()("troupe/config/ConfigSource") {}
