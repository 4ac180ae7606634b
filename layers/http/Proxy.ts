/** A proxy between here and the hosts: the one of `[outbound].proxy`. */
import type * as Net from "node:net"
import * as Effect from "effect/Effect"
import type * as Dns from "effect/net/Dns"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { SettingsValue } from "../../src/config/Settings.ts"
import * as HostPattern from "../../src/http/HostPattern.ts"
import * as Exchange from "./Exchange.ts"
import * as Sockets from "./Sockets.ts"

export interface Proxy {
  readonly url: URL
  /** What the proxy is told about who asks. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether a host is reached without it. */
  readonly passes: (destination: HostPattern.Destination) => boolean
}

export const fromSettings = ({
  no_proxy,
  proxy,
  proxy_authorization
}: SettingsValue["outbound"]): Proxy | undefined => {
  if (proxy === undefined) return undefined
  const direct = HostPattern.parseAll(no_proxy)
  const authorization = Redacted.value(proxy_authorization)
  return {
    url: new URL(proxy),
    headers: authorization === "" ? {} : { "proxy-authorization": authorization },
    passes: (destination) => {
      const address = HostPattern.addressOf(destination.host)
      return (
        HostPattern.matchesName(direct, destination) ||
        (address !== undefined && HostPattern.matchesAddress(direct, destination, address))
      )
    }
  }
}

/**
 * A connection to the proxy, and through it to a host where one is given (HTTP CONNECT). Whoever set the proxy said where it is,
 * so its own address is not judged. Fails with what is wrong.
 */
export const open = Effect.fnUntraced(function* (
  { headers, url }: Proxy,
  dns: Dns.Dns["Service"],
  through: HostPattern.Destination | undefined
): Effect.fn.Return<Net.Socket, string, Scope.Scope> {
  const host = HostPattern.hostOf(url)
  const secure = url.protocol === "https:"
  const literal = HostPattern.addressOf(host)
  const addresses =
    literal === undefined
      ? yield* Effect.mapError(dns.lookup(host), () => "its name could not be looked up")
      : [literal]
  const socket = yield* Sockets.tcp(addresses, Number(url.port === "" ? (secure ? 443 : 80) : url.port)).pipe(
    Effect.flatMap((plain) => (secure ? Sockets.tls(plain, host) : Effect.succeed(plain))),
    Effect.mapError(({ cause }) => cause)
  )
  if (through === undefined) return socket
  const name = through.host.includes(":") ? `[${through.host}]` : through.host
  return yield* Effect.mapError(Exchange.tunnel(socket, url, `${name}:${through.port}`, headers), (broken) =>
    typeof broken === "string" ? "it did not answer as a proxy does" : `it answered with status ${broken.refusedWith}`
  )
})
