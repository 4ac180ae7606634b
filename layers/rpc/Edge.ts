/**
 * The last thing before the wire: what leaves the server in place of a crash.
 *
 * Handlers' own defects are hidden by the authentication middleware. What is left are the words of the RPC server itself:
 * a payload that cannot be decoded, a call that does not exist, a response that cannot be encoded. The first two are the
 * caller's business and become an `InvalidRequest`; the last is ours and becomes an `InternalError`.
 */
import * as Effect from "effect/Effect"
import type * as RpcMessage from "effect/rpc/RpcMessage"
import type * as RpcServer from "effect/rpc/RpcServer"
import * as Ids from "../../src/Ids.ts"

type Protocol = RpcServer.Protocol["Service"]
type Exit = RpcMessage.ResponseExitEncoded["exit"]

/** The same protocol, with typed errors in place of the server's own defects. */
export const wrap = (protocol: Protocol): Protocol => ({
  ...protocol,
  send: (clientId, response, transferables) => {
    if (response._tag === "Defect" && typeof response.defect !== "string") {
      return protocol.send(clientId, { ...response, defect: "The message cannot be understood." })
    }
    if (response._tag !== "Exit" || response.exit._tag !== "Failure") {
      return protocol.send(clientId, response, transferables)
    }
    return Effect.flatMap(withoutDefects(response.exit), (exit) => protocol.send(clientId, { ...response, exit }))
  }
})

const withoutDefects = Effect.fnUntraced(function* (exit: Extract<Exit, { readonly _tag: "Failure" }>) {
  const defect = exit.cause.find((reason) => reason._tag === "Die")
  if (defect === undefined) return exit
  const error = typeof defect.defect === "string" && !isOurs(defect.defect) ? invalid(defect.defect) : yield* internal
  return { _tag: "Failure", cause: [{ _tag: "Fail", error }] } satisfies Exit
})

/** The first line says what is wrong; it may repeat what was sent, which may be long. */
const invalid = (problem: string) => ({
  _tag: "InvalidRequest",
  problem: problem.length > longest ? `${problem.slice(0, longest).toWellFormed()}…` : problem
})

const internal = Effect.gen(function* () {
  const reference = (yield* Ids.makeMessageId).slice(-12)
  yield* Effect.annotateLogs(Effect.logError("A response could not be sent in the form the interface declares"), {
    reference
  })
  return { _tag: "InternalError", reference }
})

const isOurs = (defect: string): boolean => defect.startsWith("Failed to encode response")

const longest = 500
