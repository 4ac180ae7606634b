/**
 * Reads messages line by line. What a client sends in one piece (the body of a request, a message of a WebSocket) is whole, and
 * its end is the end of its last line. A line that is no message becomes a `Malformed`, which is answered like a call: the
 * lines around it and the calls that are under way go on.
 */
import type * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Message from "../../src/rpc/Message.ts"

type Serialization = RpcSerialization.RpcSerialization["Service"]

/** The same serialization, for a server. */
export const tolerant = (serialization: Serialization): Serialization => ({
  ...serialization,
  makeUnsafe: () => ({ ...serialization.makeUnsafe(), decode: (piece) => of(textOf(piece)).map(Message.read) })
})

/** The lines of a piece that hold something. */
const of = (text: string): ReadonlyArray<string> => text.split(/\r?\n/).filter((line) => line !== "")

const textOf = (piece: Uint8Array | string): string =>
  typeof piece === "string" ? piece : new TextDecoder().decode(piece)
