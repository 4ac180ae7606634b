/**
 * Answers that wait for the client of a WebSocket to read them. The library hands all it has to the system at once, whose
 * memory a client that does not read would fill, so each piece waits here until the client has read what went before.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Semaphore from "effect/Semaphore"
import * as Socket from "effect/socket/Socket"
import * as Limits from "./Limits.ts"

/** Where bytes wait for the other side: a socket of Node. */
export interface Outlet {
  readonly writableLength: number
  readonly destroyed: boolean
  readonly once: (event: "drain" | "close", listener: () => void) => unknown
  readonly off: (event: "drain" | "close", listener: () => void) => unknown
}

/** Serves an upgrade with a socket that is held to `Limits.unreadBytes`. */
export const bounded = <A, E, R>(upgrade: Effect.Effect<A, E, R>) =>
  Effect.updateService(upgrade, HttpServerRequest.HttpServerRequest, (request) => {
    const outlet = NodeHttpServerRequest.toIncomingMessage(request).socket
    return Object.defineProperty(request.modify({}), "upgrade", {
      value: Effect.map(request.upgrade, (socket) => boundedSocket(socket, outlet))
    })
  })

/** The same socket; what is written to it waits, in order, while too much is unread. */
export const boundedSocket = (socket: Socket.Socket, outlet: Outlet): Socket.Socket =>
  Socket.make({
    reader: socket.reader,
    writer: Effect.map(socket.writer, (writer) => {
      const turn = Semaphore.makeUnsafe(1)
      const inTurn = (write: Effect.Effect<void, Socket.SocketError>) =>
        turn.withPermit(Effect.andThen(room(writer, outlet), write))
      return {
        write: (chunk) => (Socket.isCloseEvent(chunk) ? writer.write(chunk) : inTurn(writer.write(chunk))),
        writeAll: (chunks) => inTurn(writer.writeAll(chunks))
      }
    })
  })

/** Waits for room. A client that leaves none is sent away: what is written after that goes nowhere. */
const room = (writer: Socket.Writer, outlet: Outlet): Effect.Effect<void, Socket.SocketError> =>
  Effect.suspend(() =>
    outlet.destroyed || outlet.writableLength <= Limits.unreadBytes
      ? Effect.void
      : Effect.timeoutOrElse(read(outlet), {
          duration: Limits.unreadFor,
          orElse: () => writer.write(new Socket.CloseEvent(policyViolation, notRead))
        })
  )

const policyViolation = 1008
const notRead = `More than ${Limits.unreadBytes} bytes of answers have not been read for too long.`

const read = (outlet: Outlet): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const leave = () => {
      outlet.off("drain", done)
      outlet.off("close", done)
    }
    const done = () => {
      leave()
      resume(Effect.void)
    }
    outlet.once("drain", done)
    outlet.once("close", done)
    return Effect.sync(leave)
  })
