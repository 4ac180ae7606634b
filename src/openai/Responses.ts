/** `POST /v1/responses`: what is read of a request, and the objects that answer it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Asked, Place } from "./Asked.ts"
import * as Fields from "./Fields.ts"
import * as Problem from "./Problem.ts"
import type { Reply } from "../conversation/Reply.ts"
import type * as Transcript from "./Transcript.ts"

const { maybe } = Fields

/** A message, or the trace of a call; a message may leave out its type. */
const Item = Schema.Struct({
  type: maybe(Schema.String),
  role: maybe(Schema.Literals(["system", "developer", "user", "assistant"])),
  content: maybe(Fields.Content),
  name: maybe(Schema.String),
  arguments: maybe(Schema.String),
  output: maybe(Schema.Union([Schema.String, Schema.Json]))
})
type Item = typeof Item.Type

const Conversation = Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })])

const fields = {
  model: Fields.short(200),
  input: Schema.Union([Schema.String, Schema.Array(Item)]),
  instructions: maybe(Schema.String),
  stream: maybe(Schema.Boolean),
  user: Fields.User,
  metadata: Fields.Metadata,
  previous_response_id: maybe(Fields.short(200)),
  conversation: maybe(Conversation),
  background: maybe(Schema.Boolean),
  text: maybe(Schema.Struct({ format: maybe(Schema.Struct({ type: Schema.String })) })),
  tool_choice: maybe(Schema.Json)
}
const decode = Fields.decode(Schema.Struct(fields))
const readFields: ReadonlySet<string> = new Set(Object.keys(fields))

/** Reads a request. */
export const read = Effect.fnUntraced(function* (input: unknown): Effect.fn.Return<Asked, Problem.Problem> {
  const request = yield* decode(input)
  if (request.background === true) return yield* Problem.invalid("background", "background: Expected false.")
  if ((request.text?.format?.type ?? "text") !== "text") {
    return yield* Problem.invalid(
      "text.format",
      'text.format: Expected {"type": "text"}. An agent answers in text of its own form.'
    )
  }
  if (![undefined, null, "auto", "none"].some((choice) => choice === request.tool_choice)) {
    return yield* Problem.invalid(
      "tool_choice",
      'tool_choice: Expected "auto" or "none". An agent runs its own tools; calls of a client\'s tools are never made.'
    )
  }
  const { instructions, messages } = yield* conversation(
    typeof request.input === "string" ? [{ role: "user", content: request.input }] : request.input
  )
  return {
    model: request.model,
    instructions: [request.instructions ?? "", ...instructions].filter((text) => text.trim() !== "").join("\n\n"),
    messages,
    place: yield* placeOf(request),
    user: request.user ?? "",
    stream: request.stream ?? false,
    includeUsage: true,
    ignored: Fields.unread(input, readFields),
    metadata: request.metadata ?? {},
    said: "input"
  }
})

const placeOf = (request: {
  readonly previous_response_id?: string | null | undefined
  readonly conversation?: typeof Conversation.Type | null | undefined
  readonly metadata?: { readonly [key: string]: string } | null | undefined
}): Effect.Effect<Place, Problem.Problem> => {
  const { conversation, previous_response_id: responseId } = request
  if (responseId && conversation) {
    return Effect.fail(
      Problem.invalid("previous_response_id", "previous_response_id: Expected it or conversation, not both.")
    )
  }
  if (responseId) return Effect.succeed({ _tag: "After", responseId })
  if (conversation) {
    const name = typeof conversation === "string" ? conversation : conversation.id
    return Effect.succeed({ _tag: "Named", name, param: "conversation" })
  }
  const name = Fields.threadName(request.metadata)
  return Effect.succeed(
    name === undefined ? { _tag: "Untold" } : { _tag: "Named", name, param: "metadata.troupe_thread" }
  )
}

const conversation = Effect.fnUntraced(function* (items: ReadonlyArray<Item>) {
  const instructions: Array<string> = []
  const messages: Array<Transcript.Message> = []
  const answered = items.findLastIndex((item) => item.role === "assistant" || item.type === "function_call")
  for (const [index, item] of items.entries()) {
    const type = item.type ?? "message"
    if (type === "message") {
      if (!item.role) {
        return yield* Problem.invalid(`input[${index}].role`, `input[${index}].role: Expected the role of the message.`)
      }
      const { role } = item
      const { files, text } = yield* Fields.saidIn(item.content ?? "", `input[${index}].content`, {
        asMark: index < answered,
        role
      })
      if (role === "system" || role === "developer") instructions.push(text)
      else messages.push({ role, text, files })
    } else if (type === "function_call") {
      messages.push({ role: "assistant", text: `[called ${item.name ?? "a tool"} ${item.arguments ?? ""}]` })
    } else if (type === "function_call_output") {
      messages.push({
        role: "tool",
        text: typeof item.output === "string" ? item.output : JSON.stringify(item.output ?? "")
      })
    } else if (type === "item_reference") {
      return yield* Problem.invalid(
        `input[${index}]`,
        `input[${index}]: Expected the item itself. Single items are not kept under their ids; previous_response_id goes on with a whole conversation.`
      )
    }
    // Reasoning and the traces of hosted tools of another service say nothing here.
  }
  if (messages.at(-1) === undefined || messages.at(-1)?.role === "assistant") {
    return yield* Problem.invalid("input", "input: Expected a message of the user or the output of a call at the end.")
  }
  return { instructions, messages }
})

/** What every object of one answer says. `created` is in seconds since 1970. */
export interface About {
  readonly id: string
  readonly itemId: string
  readonly created: number
  readonly asked: Pick<Asked, "instructions" | "metadata" | "model" | "place">
}

type Status = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"

/** The response before there is an answer, and as one that will have none. */
export const unanswered = (about: About, problem?: Problem.Problem) =>
  response(
    about,
    problem === undefined ? "in_progress" : problem.code === "turn_stopped" ? "cancelled" : "failed",
    [],
    {
      error: problem === undefined ? null : { code: problem.code ?? "server_error", message: problem.detail }
    }
  )

/** What is left of a response that was deleted. */
export const deleted = (id: string) => ({ id, object: "response", deleted: true })

export const answered = (about: About, reply: Reply) => {
  const cut = reply.finishReason === "length" || reply.finishReason === "content-filter"
  return response(
    about,
    cut ? "incomplete" : "completed",
    [message(about, reply.text, cut ? "incomplete" : "completed")],
    {
      incomplete_details: cut
        ? { reason: reply.finishReason === "length" ? "max_output_tokens" : "content_filter" }
        : null,
      usage: {
        input_tokens: reply.usage.inputTokens,
        input_tokens_details: { cached_tokens: reply.usage.cachedInputTokens },
        output_tokens: reply.usage.outputTokens,
        output_tokens_details: { reasoning_tokens: reply.usage.reasoningTokens },
        total_tokens: reply.usage.inputTokens + reply.usage.outputTokens
      }
    }
  )
}

const response = (about: About, status: Status, output: ReadonlyArray<unknown>, more: object) => ({
  id: about.id,
  object: "response",
  created_at: about.created,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: about.asked.instructions === "" ? null : about.asked.instructions,
  max_output_tokens: null,
  model: about.asked.model,
  output,
  parallel_tool_calls: true,
  previous_response_id: about.asked.place._tag === "After" ? about.asked.place.responseId : null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: null,
  truncation: "disabled",
  usage: null,
  metadata: about.asked.metadata,
  ...more
})

const message = (about: About, text: string, status: Status) => ({
  id: about.itemId,
  type: "message",
  status,
  role: "assistant",
  content: [textPart(text)]
})

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })

/** The events of a stream, in their order. Each is told its number by whoever sends it. */
export const opening = (about: About) => [
  { type: "response.created", response: unanswered(about) },
  { type: "response.in_progress", response: unanswered(about) },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { id: about.itemId, type: "message", status: "in_progress", role: "assistant", content: [] }
  },
  { type: "response.content_part.added", ...place(about), part: textPart("") }
]

export const delta = (about: About, text: string) => ({
  type: "response.output_text.delta",
  ...place(about),
  delta: text,
  logprobs: []
})

export const closing = (about: About, reply: Reply) => {
  const whole = answered(about, reply)
  return [
    { type: "response.output_text.done", ...place(about), text: reply.text, logprobs: [] },
    { type: "response.content_part.done", ...place(about), part: textPart(reply.text) },
    { type: "response.output_item.done", output_index: 0, item: message(about, reply.text, whole.status) },
    { type: `response.${whole.status}`, response: whole }
  ]
}

export const failing = (about: About, problem: Problem.Problem) => ({
  type: "response.failed",
  response: unanswered(about, problem)
})

const place = (about: About) => ({ item_id: about.itemId, output_index: 0, content_index: 0 })
