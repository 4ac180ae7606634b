/**
 * Patterns of hosts, as settings have them: `example.org` (that name alone), `*.example.org` (every name below it), `*` (every
 * name and address), `192.0.2.7` or `2001:db8::7` (an address), `10.0.0.0/8` (a network). Except for networks, a port may
 * follow: `localhost:8080`, `[2001:db8::7]:8080`.
 */
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as AddressKind from "./AddressKind.ts"

interface Name {
  readonly _tag: "Name"
  readonly name: string
  /** Whether the names below it are meant, and not it. */
  readonly below: boolean
  readonly port: number | undefined
}

interface Network {
  readonly _tag: "Network"
  readonly network: IpNetwork.IpNetwork
  readonly port: number | undefined
}

export type HostPattern = Name | Network | { readonly _tag: "All" }

/** Where a request goes. The name is as `hostOf` gives it. */
export interface Destination {
  readonly host: string
  readonly port: number
}

/** Undefined for what is no pattern. */
export const parse = (written: string): HostPattern | undefined => {
  const pattern = written.trim()
  if (pattern === "*") return { _tag: "All" }
  const network = networkOf(pattern)
  if (network !== undefined) return { _tag: "Network", network, port: undefined }
  const [, wildcard, host = "", port] = /^(\*\.)?(\[[^\]]*\]|[^:[\]/@?#\\\s%*]+)(?::(\d{1,5}))?$/.exec(pattern) ?? []
  const url = host === "" ? undefined : URL.parse(`http://${host}/`)
  if (url === undefined || url === null || Number(port ?? 0) > 65_535) return undefined
  const name = hostOf(url)
  const address = addressOf(name)
  const at = port === undefined ? undefined : Number(port)
  if (address === undefined) return { _tag: "Name", name, below: wildcard !== undefined, port: at }
  return wildcard === undefined ? { _tag: "Network", network: only(address), port: at } : undefined
}

/** The patterns of a list; what is none is left out. */
export const parseAll = (written: ReadonlyArray<string>): ReadonlyArray<HostPattern> =>
  written.flatMap((one) => parse(one) ?? [])

/** Whether a pattern names this destination by its name. */
export const matchesName = (patterns: ReadonlyArray<HostPattern>, { host, port }: Destination): boolean =>
  patterns.some(
    (pattern) =>
      pattern._tag === "All" ||
      (pattern._tag === "Name" &&
        (pattern.port ?? port) === port &&
        (pattern.below ? host.endsWith(`.${pattern.name}`) : host === pattern.name))
  )

/** Whether a pattern names this address of it. */
export const matchesAddress = (
  patterns: ReadonlyArray<HostPattern>,
  { port }: Destination,
  address: NetAddress.IpAddress
): boolean =>
  patterns.some(
    (pattern) =>
      pattern._tag === "Network" &&
      (pattern.port ?? port) === port &&
      IpNetwork.contains(pattern.network, AddressKind.carried(address))
  )

/**
 * The host of an address in its one spelling: lower case, in ASCII, without the brackets and the dot at the end. `URL` has
 * already made one of the many spellings of numbers.
 */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")

/** The address that a host already is. */
export const addressOf = (host: string): NetAddress.IpAddress | undefined =>
  Result.getOrUndefined(NetAddress.ipFromString(host))

const networkOf = (pattern: string): IpNetwork.IpNetwork | undefined =>
  pattern.includes("/")
    ? Result.getOrUndefined(IpNetwork.fromString(pattern))
    : /:.*:/.test(pattern) && !pattern.startsWith("[")
      ? Result.getOrUndefined(Result.map(NetAddress.ipFromString(pattern), only))
      : undefined

/** The network of this one address. */
const only = (address: NetAddress.IpAddress): IpNetwork.IpNetwork =>
  IpNetwork.makeUnsafe(address, NetAddress.width(address))
