/** The settings as a command sees them: the file, then what the command line says over it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as ConfigFile from "./ConfigFile.ts"

/** What `--config` and `--data-dir` say. */
export interface Place {
  readonly config?: string | undefined
  readonly dataDir?: string | undefined
}

export const layer = (place: Place) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { settings, source } = yield* ConfigFile.load({ path: place.config })
      const chosen = place.dataDir === undefined ? {} : { data_dir: place.dataDir }
      return Context.make(Settings, { ...settings, storage: { ...settings.storage, ...chosen } }).pipe(
        Context.add(ConfigSource, source)
      )
    })
  )
