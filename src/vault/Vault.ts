/** The unlocked vault of this process: its secrets by name. There is none unless one was unlocked at the start. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { VaultError } from "./VaultError.ts"

export interface Vault {
  readonly unlocked: boolean
  /** In the order of the alphabet. */
  readonly names: ReadonlyArray<string>
  readonly get: (name: string) => Redacted.Redacted | undefined
}

export const none: Vault = { unlocked: false, names: [], get: () => undefined }

export const fromSecrets = (secrets: ReadonlyMap<string, Redacted.Redacted>): Vault => ({
  unlocked: true,
  names: Array.from(secrets.keys()).toSorted(),
  get: (name) => secrets.get(name)
})

export const Vault = Context.Reference<Vault>("troupe/vault/Vault", { defaultValue: () => none })

/** Asks a person for the password, where there is one at a terminal; absent elsewhere. */
export const AskPassword = Context.Reference<
  ((question: string) => Effect.Effect<Redacted.Redacted, VaultError>) | undefined
>("troupe/vault/AskPassword", { defaultValue: () => undefined })
