/** Headers with secrets in them: for whom they are, and how they are put in when a request leaves. Pure. */
import * as Redacted from "effect/Redacted"
import * as HostPattern from "../../src/http/HostPattern.ts"
import type * as Outbound from "../../src/http/Outbound.ts"

export type Credentials = ReadonlyArray<Outbound.Credential>

/** Why not all of them may be sent there. */
export const refusal = (credentials: Credentials, url: URL): Outbound.Reason | undefined => {
  if (credentials.some((one) => !isFor(one, url))) return "credential_not_for_host"
  return credentials.some((one) => !isSafe(one, url)) ? "credential_needs_https" : undefined
}

/** The headers of those that are for this address; a redirection to another host gets none. */
export const headers = (credentials: Credentials, url: URL): ReadonlyArray<readonly [name: string, value: string]> =>
  credentials
    .filter((one) => isFor(one, url) && isSafe(one, url))
    .map(({ header, value }) => [header, Redacted.value(value)] as const)

const isFor = ({ hosts }: Outbound.Credential, url: URL): boolean => {
  const destination = { host: HostPattern.hostOf(url), port: portOf(url) }
  const address = HostPattern.addressOf(destination.host)
  return address === undefined
    ? HostPattern.matchesName(hosts, destination)
    : HostPattern.matchesAddress(hosts, destination, address)
}

const isSafe = ({ allowHttp }: Outbound.Credential, { protocol }: URL): boolean => allowHttp || protocol === "https:"

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))
