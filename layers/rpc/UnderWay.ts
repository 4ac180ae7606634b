/** The calls of each connection that have no answer yet: how many there may be, and that each has an id of its own. */
import * as Limits from "./Limits.ts"

/** What one server knows of its connections. */
export interface UnderWay {
  /** Takes a call in, or says why it cannot be. */
  readonly begin: (connection: number, call: string) => string | undefined
  readonly has: (connection: number, call: string) => boolean
  readonly end: (connection: number, call: string) => void
  /** The connection is gone, and its calls with it. */
  readonly forget: (connection: number) => void
}

export const make = (): UnderWay => {
  const connections = new Map<number, Set<string>>()
  return {
    begin: (connection, call) => {
      const calls = connections.get(connection) ?? new Set()
      if (calls.has(call)) return taken
      if (calls.size >= Limits.callsAtOnce) return tooMany
      connections.set(connection, calls.add(call))
      return undefined
    },
    has: (connection, call) => connections.get(connection)?.has(call) ?? false,
    end: (connection, call) => {
      connections.get(connection)?.delete(call)
    },
    forget: (connection) => {
      connections.delete(connection)
    }
  }
}

const taken = "id: Expected the id of no call that is under way on this connection. Give each its own."

const tooMany =
  `Expected at most ${Limits.callsAtOnce} calls under way on one connection. ` +
  "Wait for the answer of one, interrupt one, or use another connection."
