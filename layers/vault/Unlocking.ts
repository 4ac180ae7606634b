/** Unlocks a vault once, at the start: what is in it stays in memory, the password and its keys do not. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SecretList from "../../src/vault/SecretList.ts"
import { VaultError } from "../../src/vault/VaultError.ts"
import * as Password from "./Password.ts"
import * as VaultFile from "./VaultFile.ts"

/** The secrets of a vault by name. */
export const unlock = Effect.fn("Unlocking.unlock")(function* (path: string, passwordFile: string) {
  // What is wrong with the file itself is told before anybody is asked.
  yield* VaultFile.readEnvelope(path)
  return yield* secretsOf(path, yield* VaultFile.read(path, yield* Password.find(path, passwordFile)))
})

export const secretsOf = (path: string, text: string) =>
  Result.match(SecretList.parse(text), {
    onFailure: ({ line, what }) =>
      Effect.fail(new VaultError({ path, reason: "invalid_secrets", detail: `line ${line}: ${what}` })),
    onSuccess: (secrets) =>
      Effect.succeed(new Map(Array.from(secrets, ([name, value]) => [name, Redacted.make(value)] as const)))
  })
