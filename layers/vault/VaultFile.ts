/** The file of a vault: opened with its password, and written so that a reader sees the old one or the new one, whole. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import * as Envelope from "../../src/vault/Envelope.ts"
import { VaultError } from "../../src/vault/VaultError.ts"
import type { Reason } from "../../src/vault/VaultError.ts"
import * as RegularFile from "../storage/RegularFile.ts"
import * as NodeCipher from "./NodeCipher.ts"

/** Far more than passwords and keys need, and little enough to be looked for in everything that is said. */
export const mostBytes = 64 * 1024

/** An encrypted text is half as long again in the file. */
const mostFileBytes = 2 * mostBytes

export const exists = (path: string) =>
  FileSystem.FileSystem.use((files) => Effect.orElseSucceed(files.exists(path), () => true))

/** Fails for a file that others than its owner can read or change. */
export const refuseOpen = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const { sep } = yield* Path.Path
  const { mode } = yield* Effect.mapError(files.stat(path), unreadable(path))
  // On Windows the mode says nothing.
  if (sep === "/" && (mode & 0o077) !== 0) {
    return yield* failure(path, "open_to_others", `mode ${(mode & 0o777).toString(8)}`)
  }
})

/** The text inside. */
export const read = Effect.fn("VaultFile.read")(function* (path: string, password: Redacted.Redacted) {
  const envelope = yield* readEnvelope(path)
  const head = Envelope.bytesOf(envelope)
  return yield* NodeCipher.withKeys(password, envelope, (keys) =>
    Effect.gen(function* (): Effect.fn.Return<string, VaultError> {
      if (!NodeCipher.equal(NodeCipher.check(keys, head), envelope.check)) return yield* failure(path, "wrong_password")
      const content = NodeCipher.open(keys, envelope.nonce, head, envelope.ciphertext)
      if (content === undefined) return yield* failure(path, "damaged")
      const text = new TextDecoder().decode(content)
      content.fill(0)
      return text
    })
  )
})

/** Fails for what is no whole vault, before anybody is asked for a password. */
export const readEnvelope = Effect.fnUntraced(function* (path: string) {
  if (!(yield* exists(path))) return yield* failure(path, "missing")
  yield* refuseOpen(path)
  const bytes = yield* RegularFile.read(path, mostFileBytes).pipe(
    Effect.mapError((error) =>
      error._tag === "PlatformError" ? unreadable(path)(error) : failure(path, "not_a_vault", error.message)
    )
  )
  const written = yield* Effect.mapError(decodeJson(new TextDecoder().decode(bytes)), () =>
    failure(path, "not_a_vault")
  )
  if (written["version"] !== Envelope.version) return yield* failure(path, "unsupported")
  const envelope = yield* Effect.mapError(decodeEnvelope(written), () => failure(path, "corrupt"))
  if (!NodeCipher.equal(checksumOf(envelope), envelope.checksum)) return yield* failure(path, "corrupt")
  if (!Envelope.isSupported(envelope)) return yield* failure(path, "unsupported")
  return envelope
})

/** Encrypts with a new salt and a new nonce, and replaces what was there. */
export const write = Effect.fn("VaultFile.write")(function* (path: string, password: Redacted.Redacted, text: string) {
  const head = {
    version: Envelope.version,
    kdf: "scrypt",
    ...Envelope.cost,
    salt: yield* NodeCipher.randomBytes(Envelope.sizes.salt),
    nonce: yield* NodeCipher.randomBytes(Envelope.sizes.nonce)
  }
  const bytes = Envelope.bytesOf(head)
  const sealed = yield* NodeCipher.withKeys(password, head, (keys) =>
    Effect.sync(() => {
      const content = new TextEncoder().encode(text)
      const ciphertext = NodeCipher.seal(keys, head.nonce, bytes, content)
      content.fill(0)
      return { ...head, check: NodeCipher.check(keys, bytes), ciphertext }
    })
  )
  const envelope = { ...sealed, checksum: checksumOf(sealed) }
  yield* Effect.mapError(replace(path, `${JSON.stringify(encodeEnvelope(envelope), null, 2)}\n`), (error) =>
    failure(path, "not_written", FileTrouble.why(error))
  )
})

const checksumOf = (envelope: Omit<Envelope.Envelope, "checksum">): Uint8Array =>
  NodeCipher.checksum(Envelope.bytesOf(envelope), envelope.check, envelope.ciphertext)

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
const decodeEnvelope = Schema.decodeUnknownEffect(Envelope.Envelope)
const encodeEnvelope = Schema.encodeSync(Envelope.Envelope)

/** On disk before it takes the place of the old one: a loss of power leaves one of the two. */
const replace = Effect.fnUntraced(function* (path: string, text: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  yield* files.makeDirectory(paths.dirname(path), { recursive: true, mode: 0o700 })
  const aside = `${path}.new`
  yield* files.remove(aside, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* files.open(aside, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new TextEncoder().encode(text))
      yield* file.sync
    })
  ).pipe(
    Effect.andThen(files.rename(aside, path)),
    Effect.onError(() => Effect.ignore(files.remove(aside, { force: true })))
  )
})

const unreadable = (path: string) => (error: PlatformError.PlatformError) =>
  failure(path, "unreadable", FileTrouble.why(error))

const failure = (path: string, reason: Reason, detail?: string): VaultError =>
  new VaultError({ path, reason, ...(detail === undefined ? {} : { detail }) })
