/**
 * What agents may use the secrets of the vault for. A model names a use; the value is put in where the request or the program
 * leaves, and only there: neither the model nor a tool ever has it.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Settings } from "../config/Settings.ts"
import type { SettingsValue } from "../config/Settings.ts"
import * as HostPattern from "../http/HostPattern.ts"
import type { Credential } from "../http/Outbound.ts"
import * as Forms from "../secret/Forms.ts"
import * as Contract from "./Vault.ts"

export interface SecretUse {
  /** Names of those that requests can be made with. */
  readonly forRequests: ReadonlyArray<string>
  /** Names of those that programs can be run with. */
  readonly forPrograms: ReadonlyArray<string>
  /** What a request with these names is sent with. */
  readonly credentials: (names: ReadonlyArray<string>) => ReadonlyArray<Credential>
  /** Variables of a program that is run with these names. */
  readonly variables: (names: ReadonlyArray<string>) => Readonly<Record<string, Redacted.Redacted>>
}

type Uses = SettingsValue["vault"]["use"]

const make = (uses: Uses, vault: Contract.Vault): SecretUse => {
  const known = new Map(
    Object.entries(uses).flatMap(([name, use]) => {
      const value = vault.get(nameOf(name, use.secret))
      return value === undefined ? [] : [[name, { ...use, value }] as const]
    })
  )
  const named = (names: ReadonlyArray<string>) => names.flatMap((name) => known.get(name) ?? [])
  const all = Array.from(known)
  return {
    forRequests: all.flatMap(([name, { hosts }]) => (hosts.length > 0 ? [name] : [])),
    forPrograms: all.flatMap(([name, { env }]) => (env === "" ? [] : [name])),
    credentials: (names) =>
      named(names).map(({ allow_http, format, header, hosts, value }) => ({
        header: header.toLowerCase(),
        value: Redacted.make(format.replace("{}", () => Redacted.value(value))),
        hosts: HostPattern.parseAll(hosts),
        allowHttp: allow_http
      })),
    variables: (names) => Object.fromEntries(named(names).map(({ env, value }) => [env, value]))
  }
}

/** Those of this process. */
export const current = Effect.gen(function* () {
  return make((yield* Settings).vault.use, yield* Contract.Vault)
})

const nameOf = (use: string, secret: string): string => (secret === "" ? use : secret)

/** Why a use that the settings name cannot be had, by its name. */
export const problems = (uses: Uses, vault: Contract.Vault): ReadonlyArray<readonly [name: string, found: string]> =>
  Object.entries(uses).flatMap(([name, use]) => {
    const value = vault.get(nameOf(name, use.secret))
    const found =
      value === undefined ? "a secret that is not in the vault" : whyUnusable(Redacted.value(value), use.hosts)
    return found === undefined ? [] : [[name, found] as const]
  })

const whyUnusable = (value: string, hosts: ReadonlyArray<string>): string | undefined => {
  if (!Forms.isFindable(value)) return `a secret of fewer than ${Forms.shortest} characters, which could not be masked`
  if (hosts.length > 0 && !/^[\x20-\x7e]*$/.test(value)) return "a secret that cannot be sent in a header"
  return value.includes("\0") ? "a secret with a NUL character" : undefined
}
