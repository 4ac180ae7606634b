/**
 * The body of `POST /rpc`, looked at as a whole before anything of it runs: a body with one bad line is refused, so that
 * nobody has to find out which of its calls were made.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Message from "../../src/rpc/Message.ts"
import * as Utf8 from "../Utf8.ts"
import * as Limits from "./Limits.ts"

/** Calls `next` with a body of calls only, and answers any other with status 400 and what is wrong with it. */
export const guard = <E, R>(next: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    // The request keeps its bytes: the protocol reads them again.
    const problem = yield* request.arrayBuffer.pipe(
      Effect.mapError(() => `The body cannot be read, or has more than ${Limits.requestBytes} bytes.`),
      Effect.flatMap((bytes) =>
        Effect.mapError(Utf8.decode(new Uint8Array(bytes)), () => "The body is not UTF-8. Nothing of it was run.")
      ),
      Effect.match({ onFailure: (words) => words, onSuccess: problemOf })
    )
    return problem === undefined ? yield* next : refuse(problem)
  })

/** What is wrong with a body, if something is. Nothing of the body is repeated. */
const problemOf = (body: string): string | undefined => {
  const calls = new Set<string>()
  for (const [index, line] of body.split(/\r?\n/).entries()) {
    if (line === "") continue
    const message = Message.read(line)
    if (Message.isMalformed(message)) return `Line ${index + 1} of the body ${message.problem} Nothing of it was run.`
    const call = Message.callOf(message)
    if (call === undefined) {
      return `Line ${index + 1} of the body is no call, which is ${Message.example}. Nothing of it was run.`
    }
    if (calls.has(call)) {
      return `Line ${index + 1} of the body has the id of a call before it. Give each its own. Nothing of it was run.`
    }
    calls.add(call)
    if (calls.size > Limits.callsAtOnce) {
      return `Line ${index + 1} of the body is one call too many: a body has at most ${Limits.callsAtOnce}. Nothing of it was run.`
    }
  }
  return calls.size === 0 ? `The body holds no message. A call is ${Message.example}.` : undefined
}

const refuse = (reason: string) => HttpServerResponse.jsonUnsafe({ error: "invalid", reason }, { status: 400 })
