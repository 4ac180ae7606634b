/** Which hosts a request may go to. Pure: what the settings say, and what was found out about the host. */
import type * as NetAddress from "effect/net/NetAddress"
import * as AddressKind from "./AddressKind.ts"
import * as HostPattern from "./HostPattern.ts"

export interface Policy {
  /** Whether this machine and private networks may be reached. */
  readonly allowPrivate: boolean
  /** Those of them that may be reached all the same; an address or a network here is allowed whatever kind it is. */
  readonly privateHosts: ReadonlyArray<HostPattern.HostPattern>
  /** When not empty, nothing else may be reached. */
  readonly allowedHosts: ReadonlyArray<HostPattern.HostPattern>
  readonly deniedHosts: ReadonlyArray<HostPattern.HostPattern>
}

export interface Refusal {
  readonly reason: "denied_host" | "private_address"
  /** What is wrong with the host, and what a person can do about it. */
  readonly detail: string
}

/** What can be said before the name is looked up, which by itself tells its name server something. */
export const refusesName = (policy: Policy, destination: HostPattern.Destination): Refusal | undefined => {
  if (HostPattern.matchesName(policy.deniedHosts, destination)) return denied
  const byAddress = policy.allowedHosts.some(({ _tag }) => _tag === "Network")
  const unlisted = policy.allowedHosts.length > 0 && !HostPattern.matchesName(policy.allowedHosts, destination)
  return unlisted && !byAddress ? notAllowed : undefined
}

/** Whether a connection to this address of the host may be made. */
export const refusesAddress = (
  policy: Policy,
  destination: HostPattern.Destination,
  address: NetAddress.IpAddress
): Refusal | undefined => {
  const named = (patterns: ReadonlyArray<HostPattern.HostPattern>) =>
    HostPattern.matchesName(patterns, destination) || HostPattern.matchesAddress(patterns, destination, address)
  if (named(policy.deniedHosts)) return denied
  if (policy.allowedHosts.length > 0 && !named(policy.allowedHosts)) return notAllowed
  if (HostPattern.matchesAddress(policy.privateHosts, destination, address)) return undefined
  const { kind, name } = AddressKind.judge(address)
  if (kind === "public") return undefined
  const allowed = policy.allowPrivate || HostPattern.matchesName(policy.privateHosts, destination)
  return kind === "private" && allowed ? undefined : isPrivate(name)
}

/** The same for a name that a proxy will look up: there is no address to judge, so names of local networks are refused. */
export const refusesUnresolved = (policy: Policy, destination: HostPattern.Destination): Refusal | undefined => {
  const refused = refusesName(policy, destination)
  if (refused !== undefined) return refused
  if (policy.allowedHosts.length > 0 && !HostPattern.matchesName(policy.allowedHosts, destination)) return notAllowed
  const allowed = policy.allowPrivate || HostPattern.matchesName(policy.privateHosts, destination)
  return localName.test(destination.host) && !allowed ? isPrivate("a name of a local network") : undefined
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

/** A name of one part, or below a domain that no public name server knows. */
const localName = /^[^.]+$|\.(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/

const denied: Refusal = { reason: "denied_host", detail: "[outbound].denied_hosts names it" }
const notAllowed: Refusal = { reason: "denied_host", detail: "[outbound].allowed_hosts does not name it" }
const isPrivate = (name: string): Refusal => ({
  reason: "private_address",
  detail: `it is ${name}; a person can allow it with [outbound].private_hosts`
})
