/**
 * The body of `POST /rpc`, looked at as a whole before anything of it runs: a body with one bad line is refused, so that
 * nobody has to find out which of its calls were made.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Schema from "effect/Schema"
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
  let messages = 0
  for (const [index, line] of body.split(/\r?\n/).entries()) {
    if (line === "") continue
    messages++
    if (!isJson(line)) return `Line ${index + 1} of the body is no JSON. Nothing of it was run.`
    if (!isMessage(line)) {
      return `Line ${index + 1} of the body is no message. Nothing of it was run. A call is ${shape}.`
    }
  }
  return messages === 0 ? `The body holds no message. A call is ${shape}.` : undefined
}

const shape = `{"_tag":"Request","id":"1","tag":"Status","payload":null,"headers":[]}, on a line of its own`

/** The payload is judged later, by the call it is for. */
const Message = Schema.Union([
  Schema.Struct({
    _tag: Schema.Literal("Request"),
    id: Schema.Union([Schema.String, Schema.Int]),
    tag: Schema.String,
    headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
  }),
  Schema.Struct({
    _tag: Schema.Literals(["Ack", "Interrupt"]),
    requestId: Schema.Union([Schema.String, Schema.Int])
  }),
  Schema.Struct({ _tag: Schema.Literals(["Ping", "Eof"]) })
])

const isJson = (line: string) => Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))(line)._tag === "Some"
const isMessage = (line: string) => Schema.decodeUnknownOption(Schema.fromJsonString(Message))(line)._tag === "Some"

const refuse = (reason: string) => HttpServerResponse.jsonUnsafe({ error: "invalid", reason }, { status: 400 })
