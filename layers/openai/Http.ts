/** Bodies, problems and streams of events, as HTTP has them. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Ids from "../../src/Ids.ts"
import * as JsonDepth from "../../src/JsonDepth.ts"
import * as Problem from "../../src/openai/Problem.ts"
import { unavailableIn } from "../../src/storage/StorageError.ts"
import * as Utf8 from "../Utf8.ts"

/** The body of the request, parsed. */
export const body = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const bytes = yield* Effect.mapError(request.arrayBuffer, (error) =>
    error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
      ? Problem.refusal(413, "The body is larger than a request may be.")
      : Problem.invalid(null, "The body cannot be read.")
  )
  const text = yield* Effect.mapError(Utf8.decode(new Uint8Array(bytes)), () =>
    Problem.invalid(null, "The body is not UTF-8. Expected JSON in UTF-8.", "invalid_json")
  )
  // Parsing would take its time and memory in one step.
  if (JsonDepth.exceeds(text)) {
    return yield* Problem.invalid(
      null,
      `The body is nested too deeply. Expected at most ${JsonDepth.deepest} levels of objects and lists.`,
      "invalid_json"
    )
  }
  return yield* Effect.mapError(parse(text), () =>
    Problem.invalid(null, "The body is not JSON. Expected one JSON object.", "invalid_json")
  )
})

const parse = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** A header of the request; an empty one counts as absent. */
export const header = (name: string) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const value = headers[name]?.trim()
    return value === "" ? undefined : value
  })

/** Answers with a problem in the protocol's form. What broke without being declared is in the log alone. */
export const answering = <R>(
  response: Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  response.pipe(
    Effect.catchCauseIf(Cause.hasDies, (cause) => hide(cause)),
    Effect.catchTag("OpenAiProblem", (problem) => Effect.succeed(refuse(problem)))
  )

export const refuse = (problem: Problem.Problem) =>
  HttpServerResponse.jsonUnsafe(Problem.body(problem), {
    status: problem.status,
    // Clients try some statuses again by themselves, unless they are told.
    headers: { "x-should-retry": String(problem.retry) }
  })

const hide = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>): Effect.fn.Return<never, Problem.Problem> {
  const unavailable = unavailableIn(cause)
  if (unavailable !== undefined) return yield* Problem.storage(unavailable)
  const reference = (yield* Ids.makeMessageId).slice(-12)
  yield* Effect.annotateLogs(Effect.logError("The OpenAI-compatible endpoint failed", cause), { reference })
  return yield* Problem.internal(reference)
})

/** One event of a stream. */
export interface Event {
  readonly name?: string
  /** Text as it is, or something to be written as JSON. */
  readonly data: unknown
}

/**
 * A response that streams. A problem on the way, expected or not, becomes the last events. Comments keep the connection
 * open while nothing is said.
 */
export const events = (
  stream: Stream.Stream<Event, Problem.Problem>,
  onProblem: (problem: Problem.Problem) => ReadonlyArray<Event>
) => {
  const told = stream.pipe(
    Stream.catchCause((cause) => (Cause.hasDies(cause) ? Stream.fromEffect(hide(cause)) : Stream.failCause(cause))),
    Stream.catchTag("OpenAiProblem", (problem) => Stream.fromIterable(onProblem(problem))),
    Stream.map(written)
  )
  const comments = Stream.map(Stream.fromSchedule(Schedule.spaced(keepAlive)), () => ": keep-alive\n\n")
  return Stream.merge(told, comments, { haltStrategy: "left" })
}

const keepAlive = "15 seconds"

export const eventStream = <E>(text: Stream.Stream<string, E>) =>
  HttpServerResponse.stream(Stream.encodeText(text), {
    contentType: "text/event-stream; charset=utf-8",
    headers: { "x-accel-buffering": "no" }
  })

const written = ({ data, name }: Event): string => {
  const text = typeof data === "string" ? data : JSON.stringify(data)
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`
}
