/**
 * What stands between the wire and the RPC server: calls are judged before it sees them, and nothing of its own words leaves.
 *
 * A line that is no message, a call that does not exist and a payload of the wrong shape are the caller's business and
 * become an `InvalidRequest` in the call's own `Exit`. Handlers' own defects are hidden by the authentication middleware;
 * what is left is a response that cannot be encoded, which is ours and becomes an `InternalError`.
 */
import * as Effect from "effect/Effect"
import type * as RpcMessage from "effect/rpc/RpcMessage"
import type * as RpcServer from "effect/rpc/RpcServer"
import * as Ids from "../../src/Ids.ts"
import * as Message from "../../src/rpc/Message.ts"
import * as Payload from "../../src/rpc/Payload.ts"
import type * as UnderWay from "./UnderWay.ts"

type Protocol = RpcServer.Protocol["Service"]
type Exit = RpcMessage.ResponseExitEncoded["exit"]

/** The same protocol, with typed errors in place of the server's own defects. It tells `underWay` of the calls. */
export const wrap = (protocol: Protocol, underWay: UnderWay.UnderWay): Protocol => ({
  ...protocol,
  run: (write) =>
    protocol.run((clientId, message) => {
      const refused = refusalOf(message) ?? begin(underWay, clientId, message)
      if (refused === undefined) return write(clientId, message)
      const exit = { _tag: "Failure", cause: [{ _tag: "Fail", error: invalid(refused.problem) }] } satisfies Exit
      // Under the id of a call that is under way, it would be taken for the answer of that one.
      const requestId = underWay.has(clientId, refused.requestId) ? "" : refused.requestId
      return protocol.send(clientId, { _tag: "Exit", requestId, exit })
    }),
  send: (clientId, response, transferables) => {
    if (response._tag === "Defect" && typeof response.defect !== "string") {
      return protocol.send(clientId, { ...response, defect: "The message cannot be understood." })
    }
    if (response._tag !== "Exit") return protocol.send(clientId, response, transferables)
    const sent =
      response.exit._tag === "Success"
        ? protocol.send(clientId, response, transferables)
        : Effect.flatMap(withoutDefects(response.exit), (exit) => protocol.send(clientId, { ...response, exit }))
    return Effect.ensuring(
      sent,
      Effect.sync(() => underWay.end(clientId, String(response.requestId)))
    )
  }
})

interface Refused {
  readonly requestId: string
  readonly problem: string
}

const refusalOf = (message: RpcMessage.FromClientEncoded): Refused | undefined => {
  const line: unknown = message
  if (Message.isMalformed(line)) {
    return { requestId: String(line.requestId), problem: `The line ${line.problem}` }
  }
  if (message._tag !== "Request") return undefined
  const problem = isSilent(message) ? silent : Payload.problemOf(message.tag, message.payload)
  return problem === undefined ? undefined : { requestId: String(message.id), problem }
}

/** Its end would not show, and so not how many of them are under way. */
const isSilent = (request: RpcMessage.RequestEncoded) => request.discard === true || request.isNotification === true
const silent = "Every call is answered: leave out discard or isNotification."

const begin = (
  underWay: UnderWay.UnderWay,
  clientId: number,
  message: RpcMessage.FromClientEncoded
): Refused | undefined => {
  if (message._tag !== "Request") return undefined
  const id = String(message.id)
  const problem = underWay.begin(clientId, id)
  return problem === undefined ? undefined : { requestId: id, problem }
}

const withoutDefects = Effect.fnUntraced(function* (exit: Extract<Exit, { readonly _tag: "Failure" }>) {
  if (!exit.cause.some((reason) => reason._tag === "Die")) return exit
  return { _tag: "Failure", cause: [{ _tag: "Fail", error: yield* internal }] } satisfies Exit
})

const invalid = (problem: string) => ({ _tag: "InvalidRequest", problem })

const internal = Effect.gen(function* () {
  const reference = (yield* Ids.makeMessageId).slice(-12)
  yield* Effect.annotateLogs(Effect.logError("A response could not be sent in the form the interface declares"), {
    reference
  })
  return { _tag: "InternalError", reference }
})
