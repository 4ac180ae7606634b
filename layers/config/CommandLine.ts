/** The settings as a command sees them: the file, then what the command line says over it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import * as ConfigFile from "./ConfigFile.ts"

/** What `--config` and `--data-dir` say. */
export interface Place {
  readonly config?: string | undefined
  readonly dataDir?: string | undefined
}

/** All settings, all of them checked, and the secrets in them: for the daemon, and for looking at them. */
export const layer = (place: Place) =>
  Layer.unwrap(
    Effect.map(ConfigFile.load({ path: place.config }), (loaded) =>
      ConfigFile.layerOf({ ...loaded, settings: over(loaded.settings, place) })
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
