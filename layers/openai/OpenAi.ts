/**
 * The OpenAI-compatible endpoint: agents, spoken to as if they were models. docs/openai.md says what it does.
 *
 * A request becomes a message of a thread of the `openai` channel, and the turn that answers it becomes the response. The
 * routes stand behind the gate of the server.
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Agents } from "../../src/agent/Agents.ts"
import type { Asked } from "../../src/openai/Asked.ts"
import * as ChatCompletions from "../../src/openai/ChatCompletions.ts"
import * as HeaderText from "../../src/openai/HeaderText.ts"
import * as Problem from "../../src/openai/Problem.ts"
import type { Reply } from "../../src/conversation/Reply.ts"
import * as ResponseId from "../../src/openai/ResponseId.ts"
import * as Responses from "../../src/openai/Responses.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Asking from "./Asking.ts"
import * as Departure from "./Departure.ts"
import * as Following from "./Following.ts"
import * as Http from "./Http.ts"
import * as StoredResponses from "./StoredResponses.ts"

const make = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const agents = yield* Agents
  const ask = yield* Asking.make
  const follow = yield* Following.make
  const { admit } = yield* Departure.Departure

  /** Reads a request, accepts it, and answers with what `respond` makes of its turn. */
  const route = (read: (body: unknown) => Effect.Effect<Asked, Problem.Problem>, respond: Respond) =>
    Http.answering(
      Effect.gen(function* () {
        const asked = yield* placed(yield* read(yield* Http.body))
        yield* admit
        const accepted = yield* ask(asked, {
          idempotencyKey: yield* Http.header("idempotency-key"),
          sentBefore: Number(yield* Http.header("x-stainless-retry-count")) > 0
        })
        const created = Math.floor(accepted.acceptedAt / 1000)
        const stopWhenLeft = (yield* Http.header("x-troupe-stop-on-disconnect"))?.toLowerCase() === "true"
        const response = yield* respond({
          asked,
          accepted,
          created,
          ...follow(accepted, { live: asked.stream, stopWhenLeft })
        })
        return HttpServerResponse.setHeaders(response, noted(asked, accepted))
      })
    )

  const find = yield* StoredResponses.make
  const stored = (use: (response: StoredResponses.StoredResponse) => Effect.Effect<object, Problem.Problem>) =>
    Http.answering(
      Effect.gen(function* () {
        const { id = "" } = yield* HttpRouter.params
        return HttpServerResponse.jsonUnsafe(yield* use(yield* find(id)))
      })
    )

  const model = (name: string) => ({ id: name, object: "model", created: 0, owned_by: "troupe" })

  yield* router.add("POST", "/v1/chat/completions", route(ChatCompletions.read, chat))
  yield* router.add("POST", "/v1/responses", route(Responses.read, responses))
  yield* router.add(
    "GET",
    "/v1/models",
    HttpServerResponse.jsonUnsafe({ object: "list", data: agents.all.map(({ name }) => model(name)) })
  )
  yield* router.add(
    "GET",
    "/v1/models/:id",
    Http.answering(
      Effect.gen(function* () {
        const { id = "" } = yield* HttpRouter.params
        const agent = yield* Effect.mapError(agents.get(id), ({ message }) =>
          Problem.notFound("model", message, "model_not_found")
        )
        return HttpServerResponse.jsonUnsafe(model(agent.name))
      })
    )
  )
  yield* router.add(
    "GET",
    "/v1/responses/:id",
    stored((response) => response.read)
  )
  yield* router.add(
    "DELETE",
    "/v1/responses/:id",
    stored((response) => response.remove)
  )
})

/** The routes, on the router of the server. */
export const layer = Layer.effectDiscard(make)

/** A request whose message is on disk. */
interface Turn {
  readonly asked: Asked
  readonly accepted: Asking.Accepted
  /** Seconds since 1970. */
  readonly created: number
  readonly replies: Following.Replies
  readonly left: Following.Left
}

type Respond = (turn: Turn) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem>

/** The thread that a header names goes before one that the metadata name. */
const placed = Effect.fnUntraced(function* (asked: Asked) {
  const name = yield* Http.header("x-troupe-thread")
  if (name === undefined) return asked
  if (asked.place._tag === "After") {
    return yield* Problem.invalid("X-Troupe-Thread", "X-Troupe-Thread: Expected it or previous_response_id, not both.")
  }
  const spelt = HeaderText.toName(name)
  if (spelt._tag === "None") {
    return yield* Problem.invalid(
      "X-Troupe-Thread",
      "X-Troupe-Thread: Expected the name of a thread in ASCII, with percent-encoding for % and for everything else, such as gr%C3%B6%C3%9Fe."
    )
  }
  const named: Asked = { ...asked, place: { _tag: "Named", name: spelt.value, param: "X-Troupe-Thread" } }
  return named
})

/** What the client may want to know and the protocol has no place for. */
const noted = ({ ignored }: Asked, { key, threadId }: Asking.Accepted) => ({
  "x-troupe-thread-id": threadId,
  "x-troupe-thread": HeaderText.ofName(Threads.partsOfKey(key).chat),
  ...(ignored.length === 0 ? {} : { "x-troupe-ignored": HeaderText.ofList(ignored) })
})

const chat: Respond = (turn) => {
  const { accepted, asked, created } = turn
  const about = { id: ResponseId.ofMessage("chatcmpl-", accepted.messageId), created, model: asked.model }
  if (!asked.stream) return whole(turn, (reply) => ChatCompletions.completion(about, reply))
  const chunk = (delta: Parameters<typeof ChatCompletions.chunk>[1], finish: string | null = null) => ({
    data: ChatCompletions.chunk(about, delta, finish, asked.includeUsage)
  })
  return Effect.succeed(
    streamed(turn, {
      opening: [chunk({ role: "assistant", content: "" })],
      delta: (text) => chunk({ content: text }),
      closing: (reply) => [
        chunk({}, ChatCompletions.finishReason(reply)),
        ...(asked.includeUsage ? [{ data: ChatCompletions.usageChunk(about, reply) }] : []),
        { data: "[DONE]" }
      ],
      failing: (problem) => [{ data: Problem.body(problem) }]
    })
  )
}

const responses: Respond = (turn) => {
  const { accepted, asked, created } = turn
  const about: Responses.About = {
    id: ResponseId.ofMessage("resp_", accepted.messageId),
    itemId: ResponseId.ofMessage("item_", accepted.messageId),
    created,
    asked
  }
  if (!asked.stream) return whole(turn, (reply) => Responses.answered(about, reply))
  let number = 0
  const numbered = (event: { readonly type: string }): Http.Event => ({
    name: event.type,
    data: { ...event, sequence_number: number++ }
  })
  return Effect.succeed(
    streamed(turn, {
      opening: Responses.opening(about).map(numbered),
      delta: (text) => numbered(Responses.delta(about, text)),
      closing: (reply) => Responses.closing(about, reply).map(numbered),
      failing: (problem) => [numbered(Responses.failing(about, problem))]
    })
  )
}

/** The answer in one piece. */
const whole = ({ left, replies }: Turn, object: (reply: Reply) => unknown) =>
  Stream.runLast(replies).pipe(
    Effect.flatMap((last) =>
      last._tag === "None"
        ? Effect.fail(Problem.unavailable)
        : Effect.succeed(HttpServerResponse.jsonUnsafe(object(last.value)))
    ),
    Effect.onExit((exit) => left(exit))
  )

interface Script {
  readonly opening: ReadonlyArray<Http.Event>
  readonly delta: (text: string) => Http.Event
  readonly closing: (reply: Reply) => ReadonlyArray<Http.Event>
  readonly failing: (problem: Problem.Problem) => ReadonlyArray<Http.Event>
}

/** The answer as it comes. */
const streamed = ({ left, replies }: Turn, script: Script) => {
  const spoken = Stream.mapAccum(
    replies,
    () => 0,
    (sent, reply) => [
      reply.text.length,
      [
        ...(reply.text.length > sent ? [script.delta(reply.text.slice(sent))] : []),
        ...(reply.ended === undefined ? [] : script.closing(reply))
      ]
    ]
  )
  const events = Http.events(Stream.concat(Stream.fromIterable(script.opening), spoken), script.failing)
  return Http.eventStream(Stream.onExit(events, left))
}
