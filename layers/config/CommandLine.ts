/** The settings as a command sees them: the file, then what the command line says over it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as ConfigFile from "./ConfigFile.ts"

/** What `--config` and `--data-dir` say. */
export interface Place {
  readonly config?: string | undefined
  readonly dataDir?: string | undefined
}

/** All settings, all of them checked, and the secrets in them: for the daemon, and for looking at them. */
export const layer = (place: Place) =>
  Layer.unwrap(
    Effect.map(ConfigFile.load({ path: place.config }), ({ secrets, settings, source }) =>
      Layer.merge(
        Layer.succeedContext(Context.make(Settings, over(settings, place)).pipe(Context.add(ConfigSource, source))),
        KnownSecrets.layer(secrets)
      )
    )
  )

/** For the commands beside the daemon: only what they need, and nothing else is looked at. */
export const layerClient = (place: Place) =>
  Layer.effect(
    ClientSettings,
    Effect.map(ConfigFile.loadForClient({ path: place.config }), (settings) => over(settings, place))
  )

const over = <S extends { readonly storage: { readonly data_dir?: string } }>(settings: S, place: Place) => ({
  ...settings,
  storage: { ...settings.storage, ...(place.dataDir === undefined ? {} : { data_dir: place.dataDir }) }
})
