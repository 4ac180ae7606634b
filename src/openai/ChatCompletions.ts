/** `POST /v1/chat/completions`: what is read of a request, and the objects that answer it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Asked } from "./Asked.ts"
import * as Fields from "./Fields.ts"
import * as Problem from "./Problem.ts"
import type { Reply } from "../conversation/Reply.ts"
import type * as Transcript from "./Transcript.ts"

const { maybe } = Fields

const Call = Schema.Struct({
  function: maybe(Schema.Struct({ name: maybe(Schema.String), arguments: maybe(Schema.String) }))
})

const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool", "function"]),
  content: maybe(Fields.Content),
  refusal: maybe(Schema.String),
  tool_calls: maybe(Schema.Array(Call))
})
type Message = typeof Message.Type

const fields = {
  model: Fields.short(200),
  messages: Schema.Array(Message).check(Schema.isMinLength(1, { expected: "at least one message" })),
  stream: maybe(Schema.Boolean),
  stream_options: maybe(Schema.Struct({ include_usage: maybe(Schema.Boolean) })),
  n: maybe(Schema.Int),
  user: Fields.User,
  metadata: Fields.Metadata,
  modalities: maybe(Schema.Array(Schema.String)),
  response_format: maybe(Schema.Struct({ type: Schema.String })),
  tool_choice: maybe(Schema.Json)
}
const decode = Fields.decode(Schema.Struct(fields))
const readFields: ReadonlySet<string> = new Set(Object.keys(fields))

/** Reads a request. */
export const read = Effect.fnUntraced(function* (input: unknown): Effect.fn.Return<Asked, Problem.Problem> {
  const request = yield* decode(input)
  if ((request.n ?? 1) !== 1) return yield* Problem.invalid("n", "n: Expected 1. An agent gives one answer.")
  if (request.modalities?.some((kind) => kind !== "text") === true) {
    return yield* Problem.invalid("modalities", 'modalities: Expected ["text"].')
  }
  if ((request.response_format?.type ?? "text") !== "text") {
    return yield* Problem.invalid("response_format", 'response_format: Expected {"type": "text"}. ' + onlyText)
  }
  if (![undefined, null, "auto", "none"].some((choice) => choice === request.tool_choice)) {
    return yield* Problem.invalid("tool_choice", 'tool_choice: Expected "auto" or "none". ' + ownTools)
  }
  const { instructions, messages } = yield* conversation(request.messages)
  const metadata = request.metadata ?? {}
  const name = Fields.threadName(metadata)
  return {
    model: request.model,
    instructions,
    messages,
    place: name === undefined ? { _tag: "Untold" } : { _tag: "Named", name, param: "metadata.troupe_thread" },
    user: request.user ?? "",
    stream: request.stream ?? false,
    includeUsage: request.stream_options?.include_usage ?? false,
    ignored: Fields.unread(input, readFields),
    metadata,
    said: "messages"
  }
})

const onlyText = "An agent answers in text of its own form."
const ownTools = "An agent runs its own tools; calls of a client's tools are never made."

const conversation = Effect.fnUntraced(function* (all: ReadonlyArray<Message>) {
  const instructions: Array<string> = []
  const messages: Array<Transcript.Message> = []
  const answered = all.findLastIndex(({ role }) => role === "assistant")
  for (const [index, message] of all.entries()) {
    const { role } = message
    const { files, text } = yield* Fields.saidIn(message.content ?? "", `messages[${index}].content`, {
      asMark: index < answered,
      role
    })
    switch (role) {
      case "system":
      case "developer":
        instructions.push(text)
        break
      case "user":
        messages.push({ role, text, files })
        break
      case "assistant":
        messages.push({
          role: "assistant",
          text: [text || (message.refusal ?? ""), ...calls(message)].filter(Boolean).join("\n")
        })
        break
      default:
        messages.push({ role: "tool", text })
    }
  }
  if (messages.at(-1) === undefined || messages.at(-1)?.role === "assistant") {
    return yield* Problem.invalid("messages", "messages: Expected a message of the user or of a tool at the end.")
  }
  return { instructions: instructions.filter((text) => text.trim() !== "").join("\n\n"), messages }
})

/** Calls that another model made for this client, in words. */
const calls = (message: Message): ReadonlyArray<string> =>
  (message.tool_calls ?? []).map(
    (call) => `[called ${call.function?.name ?? "a tool"} ${call.function?.arguments ?? ""}]`
  )

/** What every object of one answer says. `created` is in seconds since 1970. */
export interface About {
  readonly id: string
  readonly created: number
  readonly model: string
}

export const completion = (about: About, reply: Reply) => ({
  id: about.id,
  object: "chat.completion",
  created: about.created,
  model: about.model,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: reply.text, refusal: null },
      logprobs: null,
      finish_reason: finishReason(reply)
    }
  ],
  usage: usage(reply)
})

/** A piece of a stream. Where the client asked for the tokens, all but the last say that they have none. */
export const chunk = (
  about: About,
  delta: { readonly role?: "assistant"; readonly content?: string },
  finish: string | null,
  includeUsage: boolean
) => ({
  ...chunkOf(about),
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...(includeUsage ? { usage: null } : {})
})

export const usageChunk = (about: About, reply: Reply) => ({ ...chunkOf(about), choices: [], usage: usage(reply) })

const chunkOf = ({ created, id, model }: About) => ({ id, object: "chat.completion.chunk", created, model })

export const finishReason = ({ finishReason }: Reply): "stop" | "length" | "content_filter" =>
  finishReason === "length" ? "length" : finishReason === "content-filter" ? "content_filter" : "stop"

const usage = ({ usage }: Reply) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens }
})
