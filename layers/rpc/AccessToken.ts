/**
 * The access token: `[http].auth_token`, or the file `token` in the data directory, which the first start makes.
 *
 * The file is for its owner alone. One that others can read has been given away, and is refused until its owner has
 * looked at it.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as AccessToken from "../../src/rpc/AccessToken.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import type { DataDirectoryUnusable } from "../../src/storage/StorageError.ts"
import * as PrivateFile from "../storage/PrivateFile.ts"
import * as Unusable from "../storage/Unusable.ts"

type Requirements = DataDirectory | FileSystem.FileSystem | Path.Path

/** The name of the file in the data directory. */
const fileName = "token"

/** For the server: makes the file when nothing is configured and there is none. */
export const layer: Layer.Layer<
  AccessToken.AccessToken,
  AccessToken.TokenUnusable | DataDirectoryUnusable,
  Settings | KnownSecrets | Requirements
> = Layer.effect(
  AccessToken.AccessToken,
  Effect.gen(function* () {
    const chosen = yield* choose(Effect.andThen(create, read))(yield* Settings)
    yield* (yield* KnownSecrets).add(chosen.token)
    return chosen
  })
).pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** For the clients of a server: only reads. */
export const layerExisting: Layer.Layer<
  AccessToken.AccessToken,
  AccessToken.TokenUnusable,
  ClientSettings | Requirements
> = Layer.effect(
  AccessToken.AccessToken,
  Effect.suspend(() => Effect.flatMap(ClientSettings, choose(read)))
)

const choose =
  <E, R>(fromFile: Effect.Effect<string, E, R>) =>
  ({ http }: { readonly http: { readonly auth_token: Redacted.Redacted } }) =>
    Redacted.value(http.auth_token) === ""
      ? Effect.map(fromFile, (text) => ({ token: Redacted.make(text) }))
      : Effect.succeed({ token: http.auth_token })

const create = Effect.gen(function* () {
  const directory = yield* DataDirectory
  const path = directory.file(fileName)
  const files = yield* FileSystem.FileSystem
  if (yield* files.exists(path).pipe(Effect.orElseSucceed(() => true))) return
  const bytes = yield* (yield* SecureRandom.SecureRandom).randomBytes(32)
  yield* Effect.mapError(PrivateFile.write(path, `${Base64Url.encode(bytes)}\n`), (error) =>
    FileTrouble.ofDisk(error) === undefined
      ? unusable(path, "it cannot be written")(error)
      : Unusable.directory(directory.path)(error)
  )
})

const read = Effect.gen(function* () {
  const path = (yield* DataDirectory).file(fileName)
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const info = yield* Effect.mapError(files.stat(path), unusable(path, "it cannot be found"))
  if (info.type !== "File") {
    return yield* new AccessToken.TokenUnusable({
      path,
      reason: "it is not a file",
      remedy: "Move it away; the next start of the daemon makes a new one."
    })
  }
  // On Windows the mode says nothing.
  if (paths.sep === "/" && (info.mode & 0o077) !== 0) {
    return yield* new AccessToken.TokenUnusable({
      path,
      reason: `other users of this machine may read it (mode ${(info.mode & 0o777).toString(8)})`,
      remedy:
        "If nobody did, `chmod 600` it. If somebody may have, delete it: the next start of the daemon makes a new one."
    })
  }
  const token = (yield* Effect.mapError(files.readFileString(path), unusable(path, "it cannot be read"))).trim()
  if (AccessToken.isSendable(token)) return token
  return yield* new AccessToken.TokenUnusable({
    path,
    reason: token === "" ? "it is empty" : "it has characters that cannot be sent in a header",
    remedy: "Delete it; the next start of the daemon makes a new one."
  })
})

const unusable = (path: string, reason: string) => (error: PlatformError.PlatformError) =>
  new AccessToken.TokenUnusable({
    path,
    reason: `${reason} (${FileTrouble.why(error)})`,
    remedy: "Make it readable for this user, or start the daemon once to make it."
  })
