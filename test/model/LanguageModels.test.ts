/** The laws of language models, held up to each of ours. */
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Client from "../../layers/model/Client.ts"
import * as OpenAiChat from "../../layers/model/OpenAiChat.ts"
import * as OpenAiResponses from "../../layers/model/OpenAiResponses.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Laws from "../laws/LanguageModels.ts"
import * as Fake from "./FakeOpenAi.ts"
import * as Responses from "./FakeResponses.ts"

const id = { provider: "fake", model: "fake-1" }

const settings = (baseUrl: string, retries: number) => ({
  ...id,
  info: ModelTable.infoOf(id.model, { reasoning: true }),
  baseUrl,
  requestTimeout: Duration.seconds(20),
  idleTimeout: Duration.seconds(10),
  retry: { attempts: retries, delay: Duration.millis(1) }
})

const refusal = ({ refused, retryAfterSeconds }: Extract<Laws.Answer, { readonly refused: number }>): Fake.Reply =>
  Fake.json(
    { error: { message: "No.", type: "some_error" } },
    refused,
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }
  )

const model = (
  server: Fake.FakeOpenAi,
  languageModel: Laws.Model["languageModel"],
  read: (body: unknown) => Laws.Asked
) => ({
  languageModel,
  abandoned: server.abandoned,
  asked: Effect.sync(() => server.received.map(({ body }) => read(body)))
})

const parsed = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))

// ---------------------------------------------------------------------------------------------------------------------
// Chat completions

const chatReply = (answer: Laws.Answer): Fake.Reply => {
  if ("refused" in answer) return refusal(answer)
  let calls = 0
  const moves = answer.moves.flatMap((move): ReadonlyArray<Fake.Step> => {
    if ("think" in move) return move.think.map((reasoning_content) => Fake.delta({ reasoning_content }))
    if ("say" in move) return move.say.map((content) => Fake.delta({ content }))
    const index = calls++
    const piece = (fields: object) => Fake.delta({ tool_calls: [{ index, ...fields }] })
    return [
      piece({ id: `call_${index}`, type: "function", function: { name: move.call, arguments: "" } }),
      ...move.args.map((text) => piece({ function: { arguments: text } }))
    ]
  })
  const reason = { complete: calls > 0 ? "tool_calls" : "stop", length: "length", filtered: "content_filter" }
  if (answer.ending === "cut") return Fake.stream(...moves, Fake.pause(20), Fake.cut)
  if (answer.ending === "hang") return Fake.stream(...moves, Fake.hang)
  return Fake.stream(
    ...moves,
    Fake.delta({}, reason[answer.ending]),
    Fake.usage({ prompt_tokens: 10, completion_tokens: 5 }),
    Fake.done
  )
}

const ChatBody = Schema.Struct({
  messages: Schema.Array(
    Schema.Struct({
      role: Schema.String,
      content: Schema.optionalKey(Schema.Unknown),
      tool_call_id: Schema.optionalKey(Schema.String),
      reasoning_content: Schema.optionalKey(Schema.String),
      tool_calls: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            id: Schema.String,
            function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
          })
        )
      )
    })
  )
})
const decodeChat = Schema.decodeUnknownSync(ChatBody)

const chatAsked = (body: unknown): Laws.Asked => {
  const { messages } = decodeChat(body)
  return {
    calls: messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map((call) => ({ id: call.id, name: call.function.name, args: parsed(call.function.arguments) }))
    ),
    results: messages.flatMap(({ content, tool_call_id }) =>
      tool_call_id === undefined ? [] : [{ id: tool_call_id, text: String(content) }]
    ),
    reasoning: messages.some(({ reasoning_content }) => reasoning_content === "Let me see.")
  }
}

Laws.suite("chat completions", {
  ...id,
  retries: true,
  make: Effect.fnUntraced(function* (answers, { retries }) {
    const server = yield* Fake.make(answers.map(chatReply))
    const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5) })
    const options = settings(server.baseUrl, retries)
    return model(server, yield* OpenAiChat.make(options, Client.make(options, transport)), chatAsked)
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// Responses

const responsesReply = (answer: Laws.Answer, index: number): Fake.Reply => {
  if ("refused" in answer) return refusal(answer)
  const items = answer.moves.map((move, place): Responses.Item => {
    if ("think" in move) return { type: "reasoning", pieces: move.think, encrypted: "c2VjcmV0" }
    if ("say" in move) return { type: "message", pieces: move.say }
    return { type: "call", pieces: move.args, name: move.call, callId: `call_${place}` }
  })
  const cutOff = [Responses.created(), ...items.flatMap((item, place) => Responses.opened(item, place))]
  if (answer.ending === "cut") return Fake.stream(...cutOff, Fake.pause(20), Fake.cut)
  if (answer.ending === "hang") return Fake.stream(...cutOff, Fake.hang)
  const reasons = { length: "max_output_tokens", filtered: "content_filter" }
  return Responses.stream(items, {
    id: `resp_${index}`,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...(answer.ending === "complete"
      ? {}
      : { status: "incomplete", incomplete_details: { reason: reasons[answer.ending] } })
  })
}

const ResponsesBody = Schema.Struct({
  previous_response_id: Schema.optionalKey(Schema.String),
  input: Schema.Array(
    Schema.Struct({
      type: Schema.optionalKey(Schema.String),
      call_id: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String),
      arguments: Schema.optionalKey(Schema.String),
      output: Schema.optionalKey(Schema.String),
      encrypted_content: Schema.optionalKey(Schema.String)
    })
  )
})
const decodeResponses = Schema.decodeUnknownSync(ResponsesBody)

const responsesAsked = (body: unknown): Laws.Asked => {
  const { input } = decodeResponses(body)
  const calls = input.filter(({ type }) => type === "function_call")
  return {
    calls: calls.map((call) => ({ id: call.call_id ?? "", name: call.name ?? "", args: parsed(call.arguments) })),
    results: input.flatMap(({ call_id, output, type }) =>
      type === "function_call_output" ? [{ id: call_id ?? "", text: output ?? "" }] : []
    ),
    reasoning: input.some(({ encrypted_content }) => encrypted_content === "c2VjcmV0")
  }
}

Laws.suite("responses", {
  ...id,
  retries: true,
  make: Effect.fnUntraced(function* (answers, { retries }) {
    const server = yield* Fake.make(answers.map(responsesReply))
    const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5) })
    const options: OpenAiResponses.Options = { ...settings(server.baseUrl, retries), stateMode: "full_messages" }
    const languageModel = yield* OpenAiResponses.make(options, Client.make(options, transport))
    return model(server, languageModel, responsesAsked)
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// The scripted model

const refusals = {
  400: () => new AiError.InvalidRequestError({ description: "No." }),
  401: () => new AiError.AuthenticationError({ kind: "InvalidKey" }),
  429: (retryAfter: number | undefined) =>
    new AiError.RateLimitError(retryAfter === undefined ? {} : { retryAfter: Duration.seconds(retryAfter) }),
  500: () => new AiError.InternalProviderError({ description: "No." })
}

const signed = { vendor: { signature: "c2ln" } }

const script = (answer: Laws.Answer, hang: Effect.Effect<void>): Scripted.Script => {
  if ("refused" in answer) return [Scripted.fail(refusals[answer.refused](answer.retryAfterSeconds))]
  const moves = answer.moves.flatMap((move, place): Scripted.Script => {
    if ("think" in move) {
      const part = { id: `r${place}` }
      return [
        Scripted.part({ type: "reasoning-start", ...part }),
        ...move.think.map((delta) => Scripted.part({ type: "reasoning-delta", ...part, delta })),
        Scripted.part({ type: "reasoning-end", ...part, metadata: signed })
      ]
    }
    if ("say" in move) return [Scripted.text(...move.say)]
    // A call is there when it is whole; what is cut before was never there.
    return answer.ending === "cut" ? [] : [Scripted.toolCall(move.call, move.args.join(""))]
  })
  switch (answer.ending) {
    case "complete":
      return moves
    case "length":
      return [...moves, Scripted.finish("length")]
    case "filtered":
      return [...moves, Scripted.finish("content-filter")]
    case "cut":
      return [...moves, Scripted.cut]
    case "hang":
      return [...moves, Scripted.run(hang)]
  }
}

const scriptedAsked = (prompt: Prompt.Prompt): Laws.Asked => {
  const parts = prompt.content.flatMap((message) => (message.role === "system" ? [] : [...message.content]))
  return {
    calls: parts.flatMap((part) =>
      part.type === "tool-call" ? [{ id: part.id, name: part.name, args: part.params }] : []
    ),
    results: parts.flatMap((part) => (part.type === "tool-result" ? [{ id: part.id, text: String(part.result) }] : [])),
    reasoning: parts.some((part) => part.type === "reasoning" && "vendor" in part.options)
  }
}

Laws.suite("the scripted model", {
  provider: "scripted",
  model: "scripted",
  retries: false,
  make: Effect.fnUntraced(function* (answers) {
    const gone = yield* Deferred.make<void>()
    const hang = Effect.never.pipe(Effect.onInterrupt(() => Deferred.succeed(gone, undefined)))
    const scripted = yield* Scripted.make(answers.map((answer) => script(answer, hang)))
    return {
      languageModel: scripted.languageModel,
      abandoned: () => Deferred.await(gone),
      asked: Effect.map(scripted.received, (prompts) => prompts.map(scriptedAsked))
    }
  })
})
