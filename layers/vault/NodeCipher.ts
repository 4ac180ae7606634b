/**
 * The cryptography of the vault, over that of Node: scrypt, AES-256-GCM, HMAC and SHA-256. Nothing of it is made here. Keys and
 * what was decrypted are overwritten as soon as they have been used; what became a string cannot be.
 */
import * as Crypto from "node:crypto"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Envelope from "../../src/vault/Envelope.ts"

export const randomBytes = (count: number): Effect.Effect<Uint8Array> => Effect.sync(() => Crypto.randomBytes(count))

/** The two keys that a password gives: one to encrypt, one for the code that tells whether it is right. */
interface Keys {
  readonly content: Uint8Array
  readonly check: Uint8Array
}

/** Uses the keys of a password, and overwrites them then. */
export const withKeys = <A, E, R>(
  password: Redacted.Redacted,
  { n, p, r, salt }: Envelope.Head,
  use: (keys: Keys) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    derive(password, salt, { N: n, r, p, maxmem: 2 * 128 * n * r }),
    (both) => use({ content: both.subarray(0, Envelope.sizes.key), check: both.subarray(Envelope.sizes.key) }),
    (both) => Effect.sync(() => void both.fill(0))
  )

/** The same text typed on another system may be other code points for the same letters. */
const derive = (password: Redacted.Redacted, salt: Uint8Array, cost: Crypto.ScryptOptions) =>
  Effect.callback<Uint8Array>((resume) => {
    const secret = Buffer.from(Redacted.value(password).normalize("NFC"))
    Crypto.scrypt(secret, salt, 2 * Envelope.sizes.key, cost, (error, key) => {
      secret.fill(0)
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    })
  })

export const check = ({ check: key }: Keys, head: Uint8Array): Uint8Array =>
  Crypto.createHmac("sha256", key).update(head).digest()

export const checksum = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  parts.reduce((hash, part) => hash.update(part), Crypto.createHash("sha256")).digest()

export const equal = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && Crypto.timingSafeEqual(one, other)

/** Encrypted, with the tag at the end. */
export const seal = ({ content: key }: Keys, nonce: Uint8Array, head: Uint8Array, content: Uint8Array): Uint8Array => {
  const cipher = Crypto.createCipheriv("aes-256-gcm", key, nonce, { authTagLength: Envelope.sizes.tag })
  cipher.setAAD(head)
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

/** What was encrypted, or undefined when it or the head is not what was written. */
export const open = (
  { content: key }: Keys,
  nonce: Uint8Array,
  head: Uint8Array,
  sealed: Uint8Array
): Uint8Array | undefined => {
  const end = sealed.length - Envelope.sizes.tag
  if (end < 0) return undefined
  const decipher = Crypto.createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: Envelope.sizes.tag })
  decipher.setAAD(head)
  decipher.setAuthTag(sealed.subarray(end))
  const begun = decipher.update(sealed.subarray(0, end))
  const ended = Result.try(() => decipher.final())
  if (Result.isFailure(ended)) {
    begun.fill(0)
    return undefined
  }
  // A block cipher in counter mode has nothing left to say at the end.
  return begun
}
