/**
 * The file of a vault: one JSON object, with everything in base64. Which of its parts guards what:
 *
 * - `checksum`, of all other fields, tells that the file is not what was written, before a password is asked for;
 * - `check` tells whether the password is right: a code over the head, by a key that only the password gives;
 * - the tag at the end of `ciphertext` tells whether head and content are what was written by somebody who knew the password.
 */
import * as Schema from "effect/Schema"

export const version = 1

/** Cost of the key: 32 MB of memory, three times. Source: the recommendation of OWASP for scrypt, with the N that 32 MB allow. */
export const cost = { n: 32_768, r: 8, p: 3 } as const

/** Bytes. */
export const sizes = { salt: 16, nonce: 12, key: 32, tag: 16, check: 32 } as const

const Bytes = Schema.Uint8ArrayFromBase64

const head = {
  version: Schema.Int,
  kdf: Schema.String,
  n: Schema.Int,
  r: Schema.Int,
  p: Schema.Int,
  salt: Bytes,
  nonce: Bytes
}

export const Head = Schema.Struct(head)
export type Head = typeof Head.Type

export const Envelope = Schema.Struct({ ...head, check: Bytes, ciphertext: Bytes, checksum: Bytes })
export type Envelope = typeof Envelope.Type

/** The head as the bytes that are guarded. Each field has one way of being written, so that no two heads have the same. */
export const bytesOf = ({ kdf, n, nonce, p, r, salt, version }: Head): Uint8Array =>
  new TextEncoder().encode(["troupe vault", version, kdf, n, r, p, hex(salt), hex(nonce)].join("\n"))

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Whether this version can read it. Other costs could be made to take all memory, so they are not tried. */
export const isSupported = (head: Head): boolean =>
  head.version === version &&
  head.kdf === "scrypt" &&
  head.n === cost.n &&
  head.r === cost.r &&
  head.p === cost.p &&
  head.salt.length === sizes.salt &&
  head.nonce.length === sizes.nonce
