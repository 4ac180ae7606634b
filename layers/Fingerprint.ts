/** Fingerprints of texts: what is compared and looked up in place of words that may be long. */
import * as Crypto from "node:crypto"

/** SHA-256 of a content, in hexadecimal. */
export const ofBytes = (content: Uint8Array): string => Crypto.createHash("sha256").update(content).digest("hex")

/** SHA-256 over the parts; where one ends and the next begins counts. */
export const of = (...parts: ReadonlyArray<string>): string =>
  Crypto.createHash("sha256").update(JSON.stringify(parts)).digest("base64url")
