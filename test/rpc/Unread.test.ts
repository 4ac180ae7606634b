/** A client that does not read: what waits for it is bounded, in bytes and in time. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Socket from "effect/socket/Socket"
import { EventEmitter } from "node:events"
import * as Limits from "../../layers/rpc/Limits.ts"
import * as Unread from "../../layers/rpc/Unread.ts"

/** A socket whose other side reads when the test says so, and what has been written to it. */
const make = () => {
  const written: Array<string> = []
  const outlet = Object.assign(new EventEmitter(), { writableLength: 0, destroyed: false })
  const note = (chunk: Uint8Array | string | Socket.CloseEvent) =>
    Effect.sync(() => {
      written.push(Socket.isCloseEvent(chunk) ? `close ${chunk.code}: ${chunk.reason}` : String(chunk))
      outlet.writableLength += Limits.unreadBytes
    })
  const inner = Socket.make({
    reader: Effect.never,
    writer: Effect.succeed({ write: note, writeAll: (chunks) => Effect.forEach(chunks, note, { discard: true }) })
  })
  const read = () => {
    outlet.writableLength = 0
    outlet.emit("drain")
  }
  return { outlet, read, socket: Unread.boundedSocket(inner, outlet), written }
}

it.effect("pieces wait in order until the client has read", () =>
  Effect.gen(function* () {
    const { outlet, read, socket, written } = make()
    const { write } = yield* socket.writer
    const writing = yield* Effect.forkChild(
      Effect.forEach(["a", "b", "c", "d", "e"], (piece) => write(piece), { concurrency: "unbounded" })
    )
    yield* TestClock.adjust(0)
    assert.deepStrictEqual(written, ["a", "b"])
    assert.strictEqual(outlet.listenerCount("drain"), 1)
    read()
    yield* TestClock.adjust(0)
    assert.deepStrictEqual(written, ["a", "b", "c", "d"])
    read()
    yield* Fiber.join(writing)
    assert.deepStrictEqual(written, ["a", "b", "c", "d", "e"])
    assert.strictEqual(outlet.listenerCount("drain") + outlet.listenerCount("close"), 0)
  }).pipe(Effect.scoped)
)

it.effect("a client that never reads is sent away with a reason", () =>
  Effect.gen(function* () {
    const { outlet, socket, written } = make()
    const { write } = yield* socket.writer
    yield* Effect.forEach(["a", "b"], (piece) => write(piece))
    const waiting = yield* Effect.forkChild(write("c"))
    yield* TestClock.adjust(Limits.unreadFor)
    yield* Fiber.join(waiting)
    assert.strictEqual(written[2], "close 1008: More than 8388608 bytes of answers have not been read for too long.")
    assert.strictEqual(outlet.listenerCount("drain") + outlet.listenerCount("close"), 0)
  }).pipe(Effect.scoped)
)

it.effect("nobody waits for a connection that is gone", () =>
  Effect.gen(function* () {
    const { outlet, socket } = make()
    const { write } = yield* socket.writer
    yield* Effect.forEach(["a", "b"], (piece) => write(piece))
    const waiting = yield* Effect.forkChild(write("c"))
    yield* TestClock.adjust(0)
    outlet.destroyed = true
    outlet.emit("close")
    yield* Fiber.join(waiting)
    yield* write("d")
  }).pipe(Effect.scoped)
)
