/** Connections: to an address that was judged, through a proxy, and with TLS over either. */
import * as Net from "node:net"
import * as Tls from "node:tls"
import * as NetAddress from "effect/net/NetAddress"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** Why there is no connection: the code of the system, or of TLS. */
export class NoConnection extends Schema.TaggedError<NoConnection>()("NoConnection", { cause: Schema.String }) {}

/** The first of these addresses that answers, tried in turn and a little overlapping. No name is looked up. */
export const tcp = (
  addresses: ReadonlyArray<NetAddress.IpAddress>,
  port: number
): Effect.Effect<Net.Socket, NoConnection, Scope.Scope> => {
  const found = addresses.map((address) => ({
    address: NetAddress.formatIp(address),
    family: NetAddress.isIpv4Address(address) ? 4 : 6
  }))
  const lookup: Net.LookupFunction = (_host, { all }, callback) => {
    const [first] = found
    if (all === true) callback(null, found)
    else callback(null, first?.address ?? "", first?.family)
  }
  return connected("connect", () =>
    // A name that means nothing, since the answer of the lookup is already there.
    Net.connect({ host: "pinned.invalid", port, lookup, autoSelectFamily: true })
  )
}

/** TLS over a connection, with the certificate held to the name or address of the host. */
export const tls = (socket: Net.Socket, host: string): Effect.Effect<Net.Socket, NoConnection, Scope.Scope> =>
  connected("secureConnect", () =>
    Tls.connect({ socket, host, ALPNProtocols: ["http/1.1"], ...(Net.isIP(host) === 0 ? { servername: host } : {}) })
  )

/** The code that an error of a socket carries; "unknown" for one without. */
export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown"

/** Begins a connection, which closes with the scope, and waits for it; whoever stops waiting closes it. */
const connected = (event: "connect" | "secureConnect", begin: () => Net.Socket) =>
  Effect.gen(function* () {
    const socket = yield* Effect.acquireRelease(
      // Nobody may be listening when it breaks later, and an error that nobody hears ends the process.
      Effect.sync(() => begin().on("error", () => {})),
      (opened) => Effect.sync(() => opened.destroy())
    )
    return yield* Effect.callback<Net.Socket, NoConnection>((resume) => {
      socket.once(event, () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(Effect.fail(new NoConnection({ cause: codeOf(error) }))))
      socket.once("close", () => resume(Effect.fail(new NoConnection({ cause: "ECONNRESET" }))))
    })
  })
