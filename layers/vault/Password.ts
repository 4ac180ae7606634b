/** Where the password of a vault comes from: a file, the environment, a person at the terminal; the first that there is. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { Environment } from "../../src/config/Environment.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import { AskPassword } from "../../src/vault/Vault.ts"
import { VaultError } from "../../src/vault/VaultError.ts"
import * as RegularFile from "../storage/RegularFile.ts"
import * as VaultFile from "./VaultFile.ts"

export const variable = "TROUPE_VAULT_PASSWORD"

const longest = 4096

/** The password that the vault at this path has. */
export const find = Effect.fn("Password.find")(function* (vault: string, passwordFile: string) {
  if (passwordFile !== "") return yield* fromFile(passwordFile)
  const fromEnvironment = Option.getOrElse(yield* (yield* Environment).get(variable), () => "")
  if (fromEnvironment !== "") return Redacted.make(fromEnvironment)
  const ask = yield* AskPassword
  if (ask === undefined) return yield* new VaultError({ path: vault, reason: "no_password" })
  return yield* ask(`Password of ${vault}`)
})

/** A new password: from a file or the environment, or typed twice. */
export const choose = Effect.fn("Password.choose")(function* (vault: string, passwordFile: string, variable: string) {
  const chosen = yield* chosenFor(vault, passwordFile, variable)
  if (Redacted.value(chosen) === "") return yield* new VaultError({ path: vault, reason: "empty_password" })
  return chosen
})

const chosenFor = Effect.fnUntraced(function* (vault: string, passwordFile: string, variable: string) {
  if (passwordFile !== "") return yield* fromFile(passwordFile)
  const fromEnvironment = Option.getOrElse(yield* (yield* Environment).get(variable), () => "")
  if (fromEnvironment !== "") return Redacted.make(fromEnvironment)
  const ask = yield* AskPassword
  if (ask === undefined) return yield* new VaultError({ path: vault, reason: "no_password" })
  const [first, second] = [yield* ask(`New password of ${vault}`), yield* ask("Once more")]
  return Redacted.value(first) === Redacted.value(second)
    ? first
    : yield* new VaultError({ path: vault, reason: "passwords_differ" })
})

/** Its first line. The file is for its owner alone. */
const fromFile = Effect.fnUntraced(function* (path: string) {
  const bytes = yield* Effect.mapError(
    RegularFile.read(path, longest),
    (error) =>
      new VaultError({
        path,
        reason: "unreadable",
        detail: error._tag === "PlatformError" ? FileTrouble.why(error) : error.message
      })
  )
  yield* VaultFile.refuseOpen(path)
  const text = new TextDecoder().decode(bytes).trim()
  bytes.fill(0)
  return text === "" ? yield* new VaultError({ path, reason: "empty_password" }) : Redacted.make(text)
})
