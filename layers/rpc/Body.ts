/**
 * The body of `POST /rpc`, looked at as a whole before anything of it runs: a body with one bad line is refused, so that
 * nobody has to find out which of its calls were made.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Message from "../../src/rpc/Message.ts"
import * as Limits from "./Limits.ts"

/** Calls `next` with a body of messages only, and answers any other with status 400 and what is wrong with it. */
export const guard = <E, R>(next: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    // The request keeps its text: the protocol reads it again.
    const problem = yield* Effect.match(request.text, {
      onFailure: () => `The body cannot be read, or has more than ${Limits.requestBytes} bytes.`,
      onSuccess: problemOf
    })
    return problem === undefined ? yield* next : refuse(problem)
  })

/** One body is one piece, and its end is the end of its last line. */
export const endsLines = (
  serialization: RpcSerialization.RpcSerialization["Service"]
): RpcSerialization.RpcSerialization["Service"] => ({
  ...serialization,
  makeUnsafe: () => {
    const parser = serialization.makeUnsafe()
    return { ...parser, decode: (body) => parser.decode(typeof body === "string" ? `${body}\n` : body) }
  }
})

/** What is wrong with a body, if something is. Nothing of the body is repeated. */
const problemOf = (body: string): string | undefined => {
  const calls = new Set<string>()
  let messages = 0
  for (const [index, line] of body.split(/\r?\n/).entries()) {
    if (line === "") continue
    messages++
    const message = Message.read(line)
    if (Message.isMalformed(message)) return `Line ${index + 1} of the body ${message.problem} Nothing of it was run.`
    const call = Message.callOf(message)
    if (call !== undefined && calls.has(call)) {
      return `Line ${index + 1} of the body has the id of a call before it. Give each its own. Nothing of it was run.`
    }
    if (call !== undefined) calls.add(call)
  }
  return messages === 0 ? `The body holds no message. A call is ${Message.example}.` : undefined
}

const refuse = (reason: string) => HttpServerResponse.jsonUnsafe({ error: "invalid", reason }, { status: 400 })
