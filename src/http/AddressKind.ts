/**
 * What kind of place an IP address is, as far as it matters for requests that a model asks for. The networks are those of IANA's
 * special-purpose address registries (RFC 6890 and its updates); the metadata services are those of the large hosts of machines.
 */
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"

/**
 * `public`: anybody may go there. `private`: this machine and the networks behind it, which a setting can allow. `metadata`: hands
 * credentials of the machine to whoever asks. `unusable`: nobody answers there who should, or it stands for another address.
 */
export type Kind = "public" | "private" | "metadata" | "unusable"

export interface Judged {
  readonly kind: Kind
  /** What it is, with its article, such as "a loopback address". */
  readonly name: string
}

export const judge = (address: NetAddress.IpAddress): Judged => {
  const meant = carried(address)
  return table.find(({ networks }) => networks.some((network) => IpNetwork.contains(network, meant))) ?? open
}

/** The IPv4 address that an IPv4-mapped or NAT64 address leads to; any other address as it is. */
export const carried = (address: NetAddress.IpAddress): NetAddress.IpAddress => {
  if (NetAddress.isIpv4Address(address)) return address
  return IpNetwork.contains(nat64, address)
    ? NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(address)).subarray(12))
    : Option.getOrElse(NetAddress.fromIpv4Mapped(address), () => address)
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const open: Judged = { kind: "public", name: "a public address" }

const networks = (...written: ReadonlyArray<string>): ReadonlyArray<IpNetwork.IpNetwork> =>
  written.map(IpNetwork.fromStringUnsafe)

interface Row extends Judged {
  readonly networks: ReadonlyArray<IpNetwork.IpNetwork>
}

/** The first row that holds the address counts. */
const table: ReadonlyArray<Row> = [
  {
    kind: "metadata",
    name: "the address of a metadata service",
    networks: networks(
      // Most hosts; tasks and pods of one of them; others.
      "169.254.169.254/32",
      "169.254.170.2/32",
      "169.254.170.23/32",
      "fd00:ec2::/64",
      "fd20:ce::254/128",
      "100.100.100.200/32",
      "192.0.0.192/32",
      "168.63.129.16/32"
    )
  },
  { kind: "private", name: "a loopback address", networks: networks("127.0.0.0/8", "::1/128") },
  // Systems take it for this machine.
  { kind: "private", name: "the unspecified address", networks: networks("0.0.0.0/8", "::/128") },
  {
    kind: "private",
    name: "a private address",
    networks: networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")
  },
  { kind: "private", name: "a link-local address", networks: networks("169.254.0.0/16", "fe80::/10") },
  { kind: "private", name: "an address of a carrier's own network", networks: networks("100.64.0.0/10") },
  { kind: "unusable", name: "a multicast address", networks: networks("224.0.0.0/4", "ff00::/8") },
  {
    kind: "unusable",
    name: "a reserved address",
    networks: networks(
      "192.0.0.0/24",
      "192.0.2.0/24",
      "192.88.99.0/24",
      "198.18.0.0/15",
      "198.51.100.0/24",
      "203.0.113.0/24",
      "240.0.0.0/4",
      "100::/64",
      "2001:2::/48",
      "2001:10::/28",
      "2001:20::/28",
      "2001:db8::/32",
      "3fff::/20",
      "5f00::/16"
    )
  },
  {
    kind: "unusable",
    name: "an IPv6 form of another address",
    networks: networks(
      // IPv4-compatible, translated, NAT64 of a local network, Teredo, 6to4.
      "::/96",
      "::ffff:0:0:0/96",
      "64:ff9b:1::/48",
      "2001::/32",
      "2002::/16"
    )
  }
]

/** What networks without IPv4 reach it by. */
const nat64 = IpNetwork.fromStringUnsafe("64:ff9b::/96")
