/**
 * Finds the data directory and makes it if it is not there.
 *
 * The first of these that is set: `[storage].data_dir`, the variable `TROUPE_DATA_DIR`, the user's data directory of the
 * platform (`$XDG_DATA_HOME/troupe`, `~/.local/share/troupe`, `~/Library/Application Support/troupe`, `%APPDATA%\troupe`).
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type * as PlatformError from "effect/PlatformError"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { DataDirectoryInUse } from "../../src/storage/StorageError.ts"
import { DataDirectoryUnusable } from "../../src/storage/StorageError.ts"

type Requirements = Settings | Environment | FileSystem.FileSystem | Path.Path

/** The directory without its lock: for the clients of a running daemon, which read the token and the endpoint. */
export const layer: Layer.Layer<DataDirectory, DataDirectoryUnusable, Requirements> = Layer.effect(
  DataDirectory,
  Effect.suspend(() => make())
)

/** The directory, held by this process for the scope of the layer. Fails at once when another process holds it. */
export const layerLocked: Layer.Layer<DataDirectory, DataDirectoryInUse | DataDirectoryUnusable, Requirements> =
  Layer.effect(
    DataDirectory,
    Effect.suspend(() => Effect.tap(make(), (directory) => Effect.flatMap(lock, ({ acquire }) => acquire(directory))))
  )

// Loaded when it is needed: the clients of a daemon read the directory and open no database.
const lock = Effect.promise(() => import("./DirectoryLock.ts"))

const make = Effect.fnUntraced(function* () {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = yield* locate((yield* Settings).storage.data_dir)
  const unusable = (reason: string) => (error: PlatformError.PlatformError) =>
    Effect.fail(new DataDirectoryUnusable({ path, reason: `${reason} (${error.reason._tag})` }))

  yield* files
    .makeDirectory(path, { recursive: true, mode: 0o700 })
    .pipe(Effect.catchTag("PlatformError", unusable("it cannot be created")))
  const info = yield* files.stat(path).pipe(Effect.catchTag("PlatformError", unusable("it cannot be read")))
  if (info.type !== "Directory") return yield* new DataDirectoryUnusable({ path, reason: "it is not a directory" })
  yield* files
    .access(path, { readable: true, writable: true })
    .pipe(Effect.catchTag("PlatformError", unusable("this user may not write to it")))
  // An existing directory is not changed behind its owner's back, only talked about.
  if (!isWindows(paths) && (info.mode & 0o077) !== 0) {
    yield* Effect.logWarning("Other users of this machine can look into the data directory; chmod 700 closes it", {
      path
    })
  }
  return DataDirectory.of({ path, file: (name) => paths.join(path, name) })
})

const locate = Effect.fnUntraced(function* (configured: string | undefined) {
  const paths = yield* Path.Path
  const environment = yield* variables(["TROUPE_DATA_DIR", "HOME", "USERPROFILE", "XDG_DATA_HOME", "APPDATA"])
  const chosen = configured ?? environment["TROUPE_DATA_DIR"]
  const directories = UserDirectories.make()
  const place = <A>(found: Effect.Effect<A, PlatformError.PlatformError>) =>
    found.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(environment)),
      Effect.mapError((error) => {
        const reason = `the home directory is not known (${error.message})`
        return new DataDirectoryUnusable({ path: chosen ?? "(not set)", reason })
      })
    )
  if (chosen === undefined) return yield* place(directories.data("troupe"))
  if (!chosen.startsWith("~/")) return paths.resolve(chosen)
  return paths.join(yield* place(directories.home), chosen.slice(2))
})

/** The variables that are set to something. */
const variables = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const environment = yield* Environment
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = Option.getOrElse(yield* environment.get(name), () => "")
    if (value !== "") found[name] = value
  }
  return found
})

const isWindows = (paths: Path.Path): boolean => paths.sep === "\\"
