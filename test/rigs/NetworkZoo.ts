/**
 * Servers that do what servers should not: each is a listener on loopback that reads the head of a request and then does with the
 * connection whatever the test says. Nothing here is reachable by the way out unless the settings of the test say so.
 */
import * as Net from "node:net"
import type { AddressInfo } from "node:net"
import * as Tls from "node:tls"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Visit {
  readonly socket: Net.Socket
  /** The head of the request, as it came. */
  readonly head: string
  /** What came with it of the body. */
  readonly rest: string
  /** The path of its first line. */
  readonly path: string
}

export interface Animal {
  readonly port: number
  readonly url: (path?: string) => string
  /** The requests so far. */
  readonly visits: ReadonlyArray<Visit>
  /** Resolves when the first request is there. */
  readonly visited: Effect.Effect<void>
  /** Resolves when no connection is open any more. */
  readonly deserted: Effect.Effect<void>
}

/** A server that answers each request with `behave`, for as long as the scope is open. */
export const keep = (
  behave: (visit: Visit) => void,
  options: { readonly tls?: Tls.TlsOptions; readonly host?: string } = {}
): Effect.Effect<Animal, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Net.Socket>()
    const visits: Array<Visit> = []
    let waiting: Array<() => void> = []
    let expecting: Array<() => void> = []
    const greet = (socket: Net.Socket) => {
      sockets.add(socket)
      let received = ""
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        if (sockets.size > 0) return
        for (const tell of waiting) tell()
        waiting = []
      })
      const listen = (piece: Buffer) => {
        received += piece.toString("latin1")
        const end = received.indexOf("\r\n\r\n")
        if (end === -1) return
        socket.off("data", listen)
        const head = received.slice(0, end)
        const visit = { socket, head, rest: received.slice(end + 4), path: head.split(" ")[1] ?? "" }
        visits.push(visit)
        for (const tell of expecting) tell()
        expecting = []
        behave(visit)
      }
      socket.on("data", listen)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<Net.Server>((resume) => {
        const made = options.tls === undefined ? Net.createServer(greet) : Tls.createServer(options.tls, greet)
        made.on("tlsClientError", () => {})
        made.listen(0, options.host ?? "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          made.close()
        })
    )
    const { port } = addressOf(server)
    return {
      port,
      url: (path = "/") => `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}${path}`,
      visits,
      visited: Effect.callback<void>((resume) => {
        if (visits.length > 0) resume(Effect.void)
        else expecting.push(() => resume(Effect.void))
      }),
      deserted: Effect.callback<void>((resume) => {
        if (sockets.size === 0) resume(Effect.void)
        else waiting.push(() => resume(Effect.void))
      })
    }
  })

/** A whole response. */
export const response = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = ""
): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status} Zoo\r\n${Object.entries({ "content-length": String(Buffer.byteLength(body)), ...headers })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("")}\r\n`,
      "latin1"
    ),
    Buffer.from(body)
  ])

/** A server that sends this to everybody. */
export const says = (bytes: string | Uint8Array) => keep(({ socket }) => socket.end(bytes))

/** Writes for as long as somebody takes it. */
export const pour = (socket: Net.Socket, piece: string | Uint8Array): void => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on("drain", more)
  more()
}

/** One piece after another, with a pause between them that the scheduler of the machine makes longer. */
export const drip = (socket: Net.Socket, piece: string, millis: number): void => {
  const timer = setInterval(() => socket.write(piece), millis)
  socket.on("close", () => clearInterval(timer))
}

/** A proxy that lets everybody through to wherever they say; `names` are the hosts that it knows. */
export const proxy = (names: Readonly<Record<string, number>>) =>
  keep(({ head, rest, socket }) => {
    const [method = "", target = ""] = head.split(" ")
    const tunnel = method === "CONNECT"
    const { hostname, port } = new URL(tunnel ? `http://${target}` : target)
    const there = names[hostname] ?? (hostname === "127.0.0.1" ? Number(port) : undefined)
    if (there === undefined) return void socket.end(response(502))
    const onward = Net.connect(there, "127.0.0.1", () => {
      if (tunnel) socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      else onward.write(`${head}\r\n\r\n${rest}`, "latin1")
      socket.pipe(onward)
      onward.pipe(socket)
    })
    onward.on("error", () => socket.destroy())
    socket.on("close", () => onward.destroy())
  })

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const addressOf = (server: Net.Server): AddressInfo => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server listens nowhere")
  return address
}
