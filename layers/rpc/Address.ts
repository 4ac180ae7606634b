/** Addresses as people and clients read them. */
import type * as HttpServer from "effect/http/HttpServer"
import * as NetAddress from "effect/net/NetAddress"

/** The address to reach a server at from this machine. One that listens on all interfaces is reached by loopback. */
export const urlOf = (address: HttpServer.HttpServer["Service"]["address"]): string => {
  switch (address._tag) {
    case "InetAddressV4": {
      const ip = NetAddress.formatIp(address.address)
      return `http://${ip === "0.0.0.0" ? "127.0.0.1" : ip}:${address.port}`
    }
    case "InetAddressV6": {
      const ip = NetAddress.formatIp(address.address)
      return `http://[${ip === "::" ? "::1" : ip}]:${address.port}`
    }
    default:
      return String(address)
  }
}

/** The port that is listened on; 0 for a server without one. */
export const portOf = (address: HttpServer.HttpServer["Service"]["address"]): number =>
  address._tag === "InetAddressV4" || address._tag === "InetAddressV6" ? address.port : 0
