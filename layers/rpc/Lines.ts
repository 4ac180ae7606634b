/**
 * Reads messages line by line. A line that is none of them becomes a `Malformed`, which is answered like a call: the lines
 * around it and the calls that are under way go on.
 */
import type * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Message from "../../src/rpc/Message.ts"

type Serialization = RpcSerialization.RpcSerialization["Service"]

/** The same serialization, for a server. `longest`: characters of one line. */
export const tolerant = (serialization: Serialization, longest: number): Serialization => ({
  ...serialization,
  makeUnsafe: () => {
    const parser = serialization.makeUnsafe()
    const decoder = new TextDecoder()
    let begun = ""
    // The rest of a line that is too long is left out, up to its end.
    let skipping = false
    return {
      ...parser,
      decode: (bytes) => {
        const [first = "", ...more] = textOf(decoder, bytes).split("\n")
        const messages: Array<unknown> = []
        begun += first
        for (const next of more) {
          const line = begun.endsWith("\r") ? begun.slice(0, -1) : begun
          if (line.length > longest && !skipping) messages.push(tooLong(longest))
          else if (line !== "" && !skipping) messages.push(Message.read(line))
          skipping = false
          begun = next
        }
        if (begun.length > longest || skipping) {
          if (!skipping) messages.push(tooLong(longest))
          skipping = true
          begun = ""
        }
        return messages
      }
    }
  }
})

const tooLong = (longest: number) => Message.malformed(`has more than ${longest} characters.`)

const textOf = (decoder: TextDecoder, bytes: Uint8Array | string): string =>
  typeof bytes === "string" ? bytes : decoder.decode(bytes, { stream: true })
