/**
 * Finds the data directory. A daemon makes it if it is not there; what only asks a daemon makes nothing.
 *
 * The first of these that is set: `[storage].data_dir`, the variable `TROUPE_DATA_DIR`, the user's data directory of the
 * platform (`$XDG_DATA_HOME/troupe`, `~/.local/share/troupe`, `~/Library/Application Support/troupe`, `%APPDATA%\troupe`).
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type * as PlatformError from "effect/PlatformError"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { DataDirectory, lockName } from "../../src/storage/DataDirectory.ts"
import { HeldLock } from "../../src/storage/HeldLock.ts"
import type { DataDirectoryInUse } from "../../src/storage/StorageError.ts"
import { DataDirectoryUnusable } from "../../src/storage/StorageError.ts"
import * as NodeFiles from "../file/NodeFiles.ts"
import * as Directories from "./Directories.ts"
import * as Unusable from "./Unusable.ts"

type Platform = Environment | FileSystem.FileSystem | Path.Path

/**
 * The directory as it is, without its lock: for the clients of a running daemon, which read the token and the endpoint. It need
 * not be there.
 */
export const layerExisting: Layer.Layer<DataDirectory, DataDirectoryUnusable, ClientSettings | Platform> = Layer.effect(
  DataDirectory,
  Effect.suspend(() => Effect.flatMap(ClientSettings, find))
)

/** The directory, made and held by this process for the scope of the layer. Fails at once when another process holds it. */
export const layerLocked: Layer.Layer<
  DataDirectory | HeldLock,
  DataDirectoryInUse | DataDirectoryUnusable,
  Settings | Platform
> = Layer.effectContext(
  Effect.suspend(() =>
    Effect.tap(Effect.flatMap(Settings, hold), (context) => warnIfOpen(Context.get(context, DataDirectory).path))
  )
)

/**
 * The same for a command that needs nothing else of the settings. Where it puts no other database into the directory, what was
 * made in order to hold it goes again.
 */
export const layerLockedByCommand: Layer.Layer<
  DataDirectory | HeldLock,
  DataDirectoryInUse | DataDirectoryUnusable,
  ClientSettings | Platform
> = Layer.effectContext(Effect.suspend(() => Effect.flatMap(ClientSettings, holdForNow)))

// Loaded when it is needed: the clients of a daemon read the directory and open no database.
const lock = Effect.promise(() => import("./DirectoryLock.ts"))

/** What says where the directory is. */
interface Chosen {
  readonly storage: { readonly data_dir?: string }
}

const find = Effect.fnUntraced(function* ({ storage }: Chosen) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = yield* locate(storage.data_dir)
  const isThere = yield* files.exists(path).pipe(Effect.catchTag("PlatformError", unusable(path, "it cannot be read")))
  if (isThere) {
    yield* isDirectory(path)
    yield* files
      .access(path, { readable: true })
      .pipe(Effect.catchTag("PlatformError", unusable(path, "this user may not read it")))
  }
  return DataDirectory.of({ path, file: (name) => paths.join(path, name) })
})

const hold = Effect.fnUntraced(function* ({ storage }: Chosen) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = yield* locate(storage.data_dir)
  yield* Directories.make(path).pipe(Effect.catchTag("PlatformError", unusable(path, "it cannot be created")))
  yield* isDirectory(path)
  yield* files
    .access(path, { readable: true, writable: true })
    .pipe(Effect.catchTag("PlatformError", unusable(path, "this user may not write to it")))
  const directory = DataDirectory.of({ path, file: (name) => paths.join(path, name) })
  const { acquire } = yield* lock
  return Context.make(HeldLock, yield* acquire(directory)).pipe(Context.add(DataDirectory, directory))
})

const holdForNow = Effect.fnUntraced(function* (chosen: Chosen) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const path = yield* locate(chosen.storage.data_dir)
  const isThere = (file: string) => Effect.orElseSucceed(files.exists(file), () => true)
  const database = Effect.map(
    Effect.option(files.stat(paths.join(path, "troupe.db"))),
    Option.map(({ ino }) => ino)
  )
  const missing: Array<string> = []
  for (let folder = path; !(yield* isThere(folder)); folder = paths.dirname(folder)) missing.push(folder)
  // Of a folder, only an empty one is removed. The last finalizer: the lock is closed by then.
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.forEach(missing, NodeFiles.removeFolder, { discard: true })))
  const lockFile = paths.join(path, lockName)
  if (yield* isThere(lockFile)) return yield* hold(chosen)
  const before = yield* database
  const removeLock = Effect.ignore(files.remove(lockFile))
  const held = yield* Effect.tapError(hold(chosen), (error) =>
    error._tag === "DataDirectoryInUse" ? Effect.void : removeLock
  )
  // While it is held: the next holder makes its own.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(database, (now) => (Equal.equals(before, now) ? removeLock : Effect.void))
  )
  return held
})

const unusable = (path: string, reason: string) => (error: PlatformError.PlatformError) =>
  Effect.fail(Unusable.directory(path, reason)(error))

const modeAndType = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  return yield* files.stat(path).pipe(Effect.catchTag("PlatformError", unusable(path, "it cannot be read")))
})

const isDirectory = Effect.fnUntraced(function* (path: string) {
  const { type } = yield* modeAndType(path)
  if (type !== "Directory") return yield* new DataDirectoryUnusable({ path, reason: "it is not a directory" })
})

/** An existing directory is not changed behind its owner's back, only talked about: by the daemon, once for each start. */
const warnIfOpen = Effect.fnUntraced(function* (path: string) {
  const { mode } = yield* modeAndType(path)
  if (isWindows(yield* Path.Path) || (mode & 0o077) === 0) return
  yield* Effect.logWarning("Other users of this machine can look into the data directory; chmod 700 closes it", {
    path
  })
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
