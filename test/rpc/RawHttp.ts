/** One HTTP exchange written by hand, for headers that no client lets one send. */
import * as Effect from "effect/Effect"
import * as Net from "node:net"

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

export const send = (
  url: string,
  request: {
    readonly method?: string
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
  }
): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    const { hostname, port, host } = new URL(url)
    const headers = { host, connection: "close", ...request.headers }
    if (request.body !== undefined && !("transfer-encoding" in headers) && !("content-length" in headers)) {
      Object.assign(headers, { "content-length": String(Buffer.byteLength(request.body)) })
    }
    const head = [
      `${request.method ?? "GET"} ${request.path} HTTP/1.1`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    ]
    let received = ""
    const finish = () => {
      const [first = "", ...rest] = received.split("\r\n\r\n")
      resume(
        Effect.succeed({
          status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 0),
          head: first,
          body: rest.join("\r\n\r\n")
        })
      )
    }
    const socket = Net.connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n`)
      socket.write(request.body ?? "")
    })
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      received += chunk
      // An upgraded connection stays open.
      if (received.startsWith("HTTP/1.1 101")) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", finish)
    return Effect.sync(() => socket.destroy())
  })

export const handshake = (headers: Readonly<Record<string, string>>, path = "/rpc/ws") => ({
  path,
  headers: {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers
  }
})
