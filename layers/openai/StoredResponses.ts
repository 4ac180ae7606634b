/** Responses by their id, after the request that made them: read from their threads, as long as their messages are kept. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Problem from "../../src/openai/Problem.ts"
import * as Requests from "../../src/openai/Requests.ts"
import * as ResponseId from "../../src/openai/ResponseId.ts"
import * as Responses from "../../src/openai/Responses.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as ThreadReading from "./ThreadReading.ts"

export interface StoredResponse {
  /** The response as it is now: still at work, answered, failed or cancelled. */
  readonly read: Effect.Effect<object, Problem.Problem>
  /** Takes the response away from the endpoint. What was said stays in its thread. */
  readonly remove: Effect.Effect<object, Problem.Problem>
}

export const make = Effect.gen(function* () {
  const threads = yield* Threads.Threads
  const requests = yield* Requests.Requests

  const read = Effect.fnUntraced(function* (id: string, request: Requests.Place) {
    const { acceptedAt, failure, state } = yield* Effect.mapError(threads.receipt(request.messageId), () => unknown)
    const { agent } = yield* Effect.mapError(threads.get(request.threadId), () => unknown)
    const about: Responses.About = {
      id,
      itemId: ResponseId.ofMessage("item_", request.messageId),
      created: Math.floor(acceptedAt / 1000),
      // What else the request said is kept as fingerprints alone.
      asked: { model: agent, instructions: "", metadata: {}, place: { _tag: "Untold" } }
    }
    if (state === "accepted" || state === "running") return Responses.unanswered(about)
    if (state === "answered") return Responses.answered(about, yield* ThreadReading.reply(threads, request))
    return Responses.unanswered(about, Problem.ofTurn(state === "stopped" ? "stopped" : "failed", failure ?? undefined))
  })

  const remove = Effect.fnUntraced(function* (id: string, request: Requests.Place) {
    const { state } = yield* Effect.mapError(threads.receipt(request.messageId), () => unknown)
    if (state === "accepted" || state === "running") {
      return yield* Problem.conflict(
        "response_id",
        "response_id: Expected a response that has ended. This one is still at work; delete it afterwards.",
        "response_in_progress"
      )
    }
    yield* requests.remove(request.messageId)
    return Responses.deleted(id)
  })

  return Effect.fnUntraced(function* (id: string): Effect.fn.Return<StoredResponse, Problem.Problem> {
    const messageId = id.startsWith("resp_") ? ResponseId.messageOf(id) : Option.none()
    const request = messageId._tag === "None" ? Option.none() : yield* requests.byMessage(messageId.value)
    if (request._tag === "None") return yield* unknown
    return { read: read(id, request.value), remove: remove(id, request.value) }
  })
})

const unknown = Problem.notFound(
  "response_id",
  "response_id: There is no response with this id. Ids begin with resp_ and stay valid for as long as their messages are kept.",
  "response_not_found"
)
