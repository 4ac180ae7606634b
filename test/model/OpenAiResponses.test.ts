import { assert, describe, it } from "@effect/vitest"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Client from "../../layers/model/Client.ts"
import * as OpenAiResponses from "../../layers/model/OpenAiResponses.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import { streamStep, type StepPart } from "../../src/model/ToolSchema.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as History from "../../src/turn/History.ts"
import * as ResponseParts from "../../src/turn/ResponseParts.ts"
import * as Entries from "../turn/Entries.ts"
import * as Fake from "./FakeOpenAi.ts"
import * as Responses from "./FakeResponses.ts"

const reader = { provider: "fake", model: "gpt-5-fake" }

const connect = Effect.fnUntraced(function* (
  baseUrl: string,
  overrides: Partial<OpenAiResponses.Options> = {},
  limits?: Transport.Limits
) {
  const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5), limits })
  const options: OpenAiResponses.Options = {
    ...reader,
    info: ModelTable.infoOf(reader.model),
    baseUrl,
    apiKey: Redacted.make("sk-secret-0123456789abcdef"),
    requestTimeout: Duration.seconds(20),
    idleTimeout: Duration.seconds(10),
    retry: { attempts: 0, delay: Duration.millis(1) },
    stateMode: "full_messages",
    ...overrides
  }
  return yield* OpenAiResponses.make(options, Client.make(options, transport))
})

const tools = [
  {
    name: "look",
    description: "Looks.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", minLength: 1 }, deep: { type: "boolean" } },
      required: ["text"],
      additionalProperties: false
    }
  }
]

const ask = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput = "go") =>
  Stream.runCollect(streamStep(model, { prompt, tools }))

const partsOf = Effect.fnUntraced(function* (reply: Fake.Reply) {
  const server = yield* Fake.make([reply])
  return yield* ask(yield* connect(server.baseUrl))
})

const errorOf = Effect.fnUntraced(function* (reply: Fake.Reply, limits?: Transport.Limits) {
  const server = yield* Fake.make([reply])
  return ModelError.describe(yield* Effect.flip(ask(yield* connect(server.baseUrl, {}, limits))))
})

const textOf = (parts: ReadonlyArray<StepPart>) =>
  parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("")
const callsOf = (parts: ReadonlyArray<StepPart>) =>
  parts.flatMap((part) => (part.type === "tool-call" ? [[part.id, part.name, part.params] as const] : []))
const finishOf = (parts: ReadonlyArray<StepPart>) => parts.find((part) => part.type === "finish")

/** The response as the journal keeps it. */
const journaled = (step: number, parts: ReadonlyArray<StepPart>, by = reader) => {
  const gatherer = ResponseParts.gather()
  const calls: Array<Entry.ToolCallRequest> = []
  for (const part of parts) {
    if (part.type === "text-delta" || part.type === "text-end") {
      gatherer.add("text", part.id, part.type === "text-delta" ? part.delta : "", part.metadata)
    }
    if (part.type === "reasoning-delta" || part.type === "reasoning-end") {
      gatherer.add("reasoning", part.id, part.type === "reasoning-delta" ? part.delta : "", part.metadata)
    }
    if (part.type === "tool-call") {
      gatherer.call(part.metadata)
      calls.push(
        Entries.request(step * 10 + calls.length, {
          name: part.name,
          arguments: typeof part.params === "string" ? part.params : JSON.stringify(part.params)
        })
      )
    }
    if (part.type === "finish") gatherer.whole(part.metadata)
  }
  return Entries.response(step, calls, { ...gatherer.kept(), ...by })
}

const render = (entries: ReadonlyArray<Entry.Entry>, system = "Be brief.") =>
  History.render(Entries.stored([Entries.user(1), Entries.started([1]), ...entries]), {
    system,
    turnId: Entries.turn(1),
    reader
  })

const resultsOf = (answer: ReturnType<typeof journaled>) =>
  answer.calls.map((call) =>
    Entries.result(Number(call.callId.slice(-2)), {
      name: call.name,
      callId: call.callId,
      text: `saw ${call.arguments}`
    })
  )

const Body = Schema.Struct({
  input: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  previous_response_id: Schema.optionalKey(Schema.String)
})
const inputOf = (received: Fake.Received | undefined) => Schema.decodeUnknownSync(Body)(received?.body)

const reasoned: ReadonlyArray<Responses.Item> = [
  { type: "reasoning", pieces: ["I must ", "look."], id: "rs_a", encrypted: "Zmlyc3Q=" },
  { type: "call", pieces: ['{"text":', '"a"}'], name: "look", callId: "call_a", id: "fc_a" },
  { type: "reasoning", pieces: [], id: "rs_b", encrypted: "c2Vjb25k" },
  { type: "call", pieces: ['{"text":"b"}'], name: "look", callId: "call_b", id: "fc_b" }
]

describe("a response", () => {
  it.live("has its counts, with what was cached and what was thought", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Responses.stream([{ type: "message", pieces: ["Hello"] }], {
          usage: {
            input_tokens: 100,
            output_tokens: 20,
            input_tokens_details: { cached_tokens: 64 },
            output_tokens_details: { reasoning_tokens: 5 }
          }
        })
      )
      const usage = finishOf(parts)?.usage
      assert.deepInclude({ ...usage?.inputTokens }, { total: 100, uncached: 36, cacheRead: 64 })
      assert.deepStrictEqual({ ...usage?.outputTokens }, { total: 20, text: 15, reasoning: 5 })
      assert.deepInclude(parts[0], { type: "response-metadata", id: "resp_1", modelId: "fake-1" })
    })
  )

  it.live("may come in one piece from a server that does not stream", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.json({
          id: "resp_1",
          object: "response",
          status: "completed",
          output: reasoned.map((item, index) => Responses.finished(item, index))
        })
      )
      assert.deepStrictEqual(
        callsOf(parts).map(([, , params]) => params),
        ['{"text":"a"}', '{"text":"b"}']
      )
    })
  )

  it.live("is read from its finished items where the pieces are left out", () =>
    Effect.gen(function* () {
      const items: ReadonlyArray<Responses.Item> = [
        { type: "message", pieces: ["Hello"] },
        { type: "call", pieces: ["{}"], name: "look" }
      ]
      const parts = yield* partsOf(Fake.stream(Responses.created(), Responses.over(items)))
      assert.strictEqual(textOf(parts), "Hello")
      assert.strictEqual(callsOf(parts).length, 1)
    })
  )

  it.live("is not read twice where the last event repeats it, under other ids", () =>
    Effect.gen(function* () {
      const streamed: ReadonlyArray<Responses.Item> = [{ type: "message", pieces: ["Hel", "lo"], id: "msg_a" }]
      const repeated: ReadonlyArray<Responses.Item> = [{ type: "message", pieces: ["Hello"], id: "msg_b" }]
      const parts = yield* partsOf(
        Fake.stream(
          Responses.created(),
          ...streamed.flatMap((item) => Responses.opened(item)),
          Responses.event("response.something.new", { delta: { of: "another kind" } }),
          Responses.over(repeated)
        )
      )
      assert.strictEqual(textOf(parts), "Hello")
    })
  )

  it.live("that is a refusal is text, and says so in the finish reason", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(Responses.stream([{ type: "refusal", pieces: ["I will ", "not."] }]))
      assert.strictEqual(textOf(parts), "I will not.")
      assert.strictEqual(finishOf(parts)?.reason, "content-filter")
    })
  )

  it.live("keeps several messages apart, with their phases", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Responses.stream([
          { type: "message", pieces: ["I look."], phase: "commentary" },
          { type: "message", pieces: ["Done."], phase: "final_answer" }
        ])
      )
      const kept = journaled(1, parts)
      assert.strictEqual(kept.text, "I look.Done.")
      assert.strictEqual(kept.parts?.length, 2)
    })
  )

  for (const [name, ids] of [
    ["equal", ["call_1", "call_1"]],
    ["missing", [undefined, undefined]],
    ["far too long", ["x".repeat(500), "y".repeat(500)]],
    ["of strange characters", ["a b", "ü"]]
  ] as const) {
    it.live(`F078 has calls with ids of their own when those of the provider are ${name}`, () =>
      Effect.gen(function* () {
        const items = ids.map((id, index): Record<string, unknown> => {
          const item = Responses.finished({ type: "call", pieces: [`{"text":"${index}"}`], name: "look" }, index)
          const { call_id: _, ...rest } = item
          return id === undefined ? rest : { ...rest, call_id: id }
        })
        const done = items.map((item, index) =>
          Responses.event("response.output_item.done", { output_index: index, item })
        )
        const parts = yield* partsOf(
          Fake.stream(
            Responses.created(),
            ...done,
            Responses.event("response.completed", { response: { id: "resp_1", status: "completed", output: items } })
          )
        )
        const calls = callsOf(parts)
        assert.deepStrictEqual(
          calls.map(([, , params]) => params),
          ['{"text":"0"}', '{"text":"1"}']
        )
        assert.strictEqual(new Set(calls.map(([id]) => id)).size, 2)
        for (const [id] of calls) assert.match(id, /^[A-Za-z0-9_-]{1,64}$/)
      })
    )
  }
})

describe("words that every object knows", () => {
  for (const word of ["constructor", "__proto__", "toString"]) {
    it.live(`mean nothing: ${word}`, () =>
      Effect.gen(function* () {
        const parts = yield* partsOf(
          Fake.json({
            id: "r",
            object: "response",
            status: "incomplete",
            incomplete_details: { reason: word },
            output: [
              { type: word, id: "x", name: "look", arguments: "{}" },
              Responses.finished({ type: "call", pieces: ["{}"], name: word, callId: word })
            ]
          })
        )
        assert.deepStrictEqual(callsOf(parts), [[word, word, "{}"]])
        assert.strictEqual(finishOf(parts)?.reason, "error")
        const failed = { status: "failed", error: { code: word, type: word, message: "Broken." } }
        const failure = yield* errorOf(Fake.stream(Responses.over([], failed)))
        assert.deepStrictEqual(
          [failure.code, failure.message],
          ["model:provider-failed", 'Provider "fake" failed: Broken.']
        )
        const image = Prompt.filePart({ mediaType: word, fileName: "a", data: new Uint8Array([1]) })
        const server = yield* Fake.make([Responses.stream([{ type: "message", pieces: ["Yes."] }])])
        yield* ask(yield* connect(server.baseUrl), Prompt.fromMessages([Prompt.userMessage({ content: [image] })]))
        assert.include(JSON.stringify(server.received[0]?.body), `(${word}) cannot be shown`)
      })
    )
  }
})

describe("reasoning", () => {
  it.live("F080 goes back item by item, in its place among the calls it led to", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([
        Responses.stream(reasoned),
        Responses.stream([{ type: "message", pieces: ["Done."], phase: "final_answer", id: "msg_c" }], {
          id: "resp_2"
        }),
        Responses.stream([{ type: "message", pieces: ["Yes."] }], { id: "resp_3" })
      ])
      const model = yield* connect(server.baseUrl)
      const first = journaled(1, yield* ask(model, render([])))
      const second = journaled(2, yield* ask(model, render([first, ...resultsOf(first)])))
      yield* ask(model, render([first, ...resultsOf(first), second, Entries.user(2), Entries.folded([2])]))
      const { input } = inputOf(server.received[2])
      assert.deepStrictEqual(input.slice(1), [
        {
          type: "reasoning",
          id: "rs_a",
          summary: [{ type: "summary_text", text: "I must look." }],
          encrypted_content: "Zmlyc3Q="
        },
        { type: "function_call", id: "fc_a", call_id: "call_a", name: "look", arguments: '{"text":"a"}' },
        { type: "reasoning", id: "rs_b", summary: [], encrypted_content: "c2Vjb25k" },
        { type: "function_call", id: "fc_b", call_id: "call_b", name: "look", arguments: '{"text":"b"}' },
        { type: "function_call_output", call_id: "call_a", output: 'saw {"text":"a"}' },
        { type: "function_call_output", call_id: "call_b", output: 'saw {"text":"b"}' },
        {
          type: "message",
          role: "assistant",
          id: "msg_c",
          status: "completed",
          phase: "final_answer",
          content: [{ type: "output_text", text: "Done.", annotations: [] }]
        },
        { role: "user", content: [{ type: "input_text", text: "message 2" }] }
      ])
    })
  )

  it.live(
    "F080 of another account is left out when the provider cannot read it, and the request made again at once",
    () =>
      Effect.gen(function* () {
        const server = yield* Fake.make([
          Responses.stream(reasoned),
          Fake.json(
            { error: { code: "invalid_encrypted_content", message: "The encrypted content could not be verified." } },
            400
          ),
          Responses.stream([{ type: "message", pieces: ["Done."] }])
        ])
        const model = yield* connect(server.baseUrl)
        const first = journaled(1, yield* ask(model, render([])))
        assert.strictEqual(textOf(yield* ask(model, render([first, ...resultsOf(first)]))), "Done.")
        const kinds = (index: number) => inputOf(server.received[index]).input.map(({ type }) => type)
        assert.include(kinds(1), "reasoning")
        assert.deepStrictEqual(kinds(2), [
          undefined,
          "function_call",
          "function_call",
          "function_call_output",
          "function_call_output"
        ])
      })
  )

  it.live("that is left out takes the ids of its response along: an item alone is refused", () =>
    Effect.gen(function* () {
      const spoken: ReadonlyArray<Responses.Item> = [
        ...reasoned.slice(0, 1),
        { type: "message", pieces: ["I look."], id: "msg_a", phase: "commentary" },
        ...reasoned.slice(1, 2)
      ]
      const refusal = Fake.json({ error: { code: "invalid_encrypted_content", message: "No." } }, 400)
      const open: ReadonlyArray<Responses.Item> = spoken.map((item) =>
        item.type === "reasoning" ? { type: "reasoning", pieces: item.pieces, id: "rs_a" } : item
      )
      const last = Responses.stream([{ type: "message", pieces: ["Done."] }])
      for (const replies of [
        [Responses.stream(spoken), refusal, last],
        [Responses.stream(open), last]
      ]) {
        const server = yield* Fake.make(replies)
        const model = yield* connect(server.baseUrl)
        const first = journaled(1, yield* ask(model, render([])))
        yield* ask(model, render([first, ...resultsOf(first)]))
        assert.deepStrictEqual(inputOf(server.received.at(-1)).input.slice(1), [
          { role: "assistant", content: "I look.", phase: "commentary" },
          { type: "function_call", call_id: "call_a", name: "look", arguments: '{"text":"a"}' },
          { type: "function_call_output", call_id: "call_a", output: 'saw {"text":"a"}' }
        ])
      }
    })
  )
})

describe("responses that the provider keeps", () => {
  const keeping = { stateMode: "previous_response_id" } as const

  /** Two steps that were answered; gives the server and what the third request would build on. */
  const begun = Effect.fnUntraced(function* (...more: ReadonlyArray<Fake.Reply>) {
    const server = yield* Fake.make([
      Responses.stream(reasoned),
      Responses.stream([{ type: "message", pieces: ["Done."] }], { id: "resp_2" }),
      ...more
    ])
    const model = yield* connect(server.baseUrl, keeping)
    const first = journaled(1, yield* ask(model, render([])))
    const said = [first, ...resultsOf(first)]
    const second = journaled(2, yield* ask(model, render(said)))
    return { server, model, said: [...said, second] }
  })
  const fine = Responses.stream([{ type: "message", pieces: ["Yes."] }], { id: "resp_3" })
  const more = [Entries.user(2), Entries.folded([2])]

  it.live("are gone on from: only what is new is sent, results under the provider's own ids", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      yield* ask(model, render([...said, ...more]))
      assert.deepStrictEqual(inputOf(server.received[1]), {
        previous_response_id: "resp_1",
        input: [
          { type: "function_call_output", call_id: "call_a", output: 'saw {"text":"a"}' },
          { type: "function_call_output", call_id: "call_b", output: 'saw {"text":"b"}' }
        ]
      })
      assert.deepStrictEqual(inputOf(server.received[2]), {
        previous_response_id: "resp_2",
        input: [{ role: "user", content: [{ type: "input_text", text: "message 2" }] }]
      })
      assert.isTrue(server.received.every(({ body }) => body["store"] === true && body["instructions"] === "Be brief."))
    })
  )

  const whole = (received: Fake.Received | undefined) => {
    const { input, previous_response_id } = inputOf(received)
    assert.isUndefined(previous_response_id)
    assert.isAbove(input.length, 1)
  }

  it.live("are not built on when the history before them was trimmed", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      yield* ask(model, render([...said.slice(1), ...more]))
      whole(server.received[2])
    })
  )

  it.live("are not built on when something before them was changed", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      const changed = said.map((entry) => (entry._tag === "ToolResult" ? { ...entry, text: "something else" } : entry))
      yield* ask(model, render([...changed, ...more]))
      whole(server.received[2])
    })
  )

  it.live("are not built on when the response itself was changed", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      const changed = said.map((entry) =>
        entry._tag === "AssistantMessage" && entry.step === 2 ? { ...entry, text: "Not done." } : entry
      )
      yield* ask(model, render([...changed, ...more]))
      whole(server.received[2])
    })
  )

  it.live("are not built on when the system prompt was changed", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      yield* ask(model, render([...said, ...more], "Be long."))
      whole(server.received[2])
    })
  )

  it.live("are gone on from after another model has spoken, with what it said", () =>
    Effect.gen(function* () {
      const { model, said, server } = yield* begun(fine)
      const foreign = Entries.response(3, [], { text: "I am another.", provider: "other", model: "other" })
      yield* ask(model, render([...said, ...more, foreign, Entries.user(3), Entries.folded([3])]))
      assert.deepStrictEqual(inputOf(server.received[2]), {
        previous_response_id: "resp_2",
        input: [
          { role: "user", content: [{ type: "input_text", text: "message 2" }] },
          { role: "assistant", content: "I am another." },
          { role: "user", content: [{ type: "input_text", text: "message 3" }] }
        ]
      })
    })
  )

  it.live("are not built on by another model of the same provider", () =>
    Effect.gen(function* () {
      const { said, server } = yield* begun(fine)
      const other = yield* connect(server.baseUrl, { ...keeping, model: "gpt-5-other" })
      yield* ask(other, render([...said, ...more]))
      whole(server.received[2])
    })
  )

  for (const [name, refusal] of [
    ["with a code", Fake.json({ error: { code: "previous_response_not_found", message: "No such response." } }, 400)],
    ["with words", Fake.json({ error: { message: "Previous response with id 'resp_2' not found." } }, 404)],
    [
      "in the stream",
      Fake.stream(Responses.event("error", { code: "previous_response_not_found", message: "No such response." }))
    ]
  ] as const) {
    it.live(`are sent whole, at once, when the provider has forgotten them and says so ${name}`, () =>
      Effect.gen(function* () {
        const { model, said, server } = yield* begun(refusal, fine)
        assert.strictEqual(textOf(yield* ask(model, render([...said, ...more]))), "Yes.")
        assert.strictEqual(inputOf(server.received[2]).previous_response_id, "resp_2")
        whole(server.received[3])
      })
    )
  }

  it.live("are not built on when they were cut short, or their calls cannot be told apart", () =>
    Effect.gen(function* () {
      const twins = reasoned.map((item) => (item.type === "call" ? { ...item, callId: "call_same" } : item))
      const server = yield* Fake.make([
        Responses.stream(reasoned, { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
        Responses.stream(twins, { id: "resp_2" }),
        fine
      ])
      const model = yield* connect(server.baseUrl, keeping)
      const first = journaled(1, yield* ask(model, render([])))
      const second = journaled(2, yield* ask(model, render([first, ...resultsOf(first)])))
      yield* ask(model, render([first, ...resultsOf(first), second, ...resultsOf(second)]))
      whole(server.received[1])
      whole(server.received[2])
    })
  )
})

describe("failures", () => {
  const rows: ReadonlyArray<readonly [string, Fake.Reply, code: string, says: RegExp]> = [
    [
      "a failed response",
      Fake.stream(Responses.over([], { status: "failed", error: { code: "server_error", message: "Sorry." } })),
      "model:provider-failed",
      /Sorry/
    ],
    [
      "a rate limit inside the stream",
      Fake.stream(
        Responses.created(),
        Responses.event("error", { code: "rate_limit_exceeded", message: "Slow down, try again in 2s." })
      ),
      "model:rate-limited",
      /wait/
    ],
    [
      "a success with an error in it",
      Fake.json({ error: { code: "insufficient_quota", message: "Pay." } }),
      "model:quota-exhausted",
      /./
    ],
    ["a page", Fake.stream(Fake.send("<html>hello</html>")), "model:stream-cut", /complete/],
    [
      "a page that says so",
      { headers: { "content-type": "text/html" }, steps: [Fake.send("<html>")] },
      "model:invalid-response",
      /\[providers\.fake\].*base_url.*api/
    ],
    [
      "a page for an error",
      { status: 502, headers: { "content-type": "text/html" }, steps: [Fake.send("<html>")] },
      "model:provider-failed",
      /502/
    ],
    ["another protocol", Fake.stream(Fake.delta({ content: "hi" }), Fake.done), "model:invalid-response", /protocol/],
    [
      "a response that goes on elsewhere",
      Fake.json({ id: "r", object: "response", status: "in_progress", output: [] }),
      "model:stream-cut",
      /complete/
    ],
    [
      "a history that is too long",
      Fake.json({ error: { code: "context_length_exceeded", message: "Too long." } }, 400),
      "model:context-length",
      /longer/
    ]
  ]
  for (const [name, reply, code, says] of rows) {
    it.live(`${name} is ${code}`, () =>
      Effect.gen(function* () {
        const described = yield* errorOf(reply)
        assert.strictEqual(described.code, code)
        assert.match(described.message, says)
      })
    )
  }

  it.live("F136 a whole response without end is refused, and so is a line without end", () =>
    Effect.gen(function* () {
      const limits = { total: 100_000, line: 20_000, errorBody: 1000 }
      const endless = Array.from({ length: 40 }, () => Fake.send(" ".repeat(10_000)))
      const json = {
        headers: { "content-type": "application/json" },
        steps: [Fake.send('{"object":"response"'), ...endless, Fake.hang]
      }
      assert.strictEqual((yield* errorOf(json, limits)).code, "model:response_too_large")
      const line = Fake.stream(Fake.send("data: "), ...endless, Fake.hang)
      assert.strictEqual((yield* errorOf(line, limits)).code, "model:response_too_large")
    })
  )
})

describe("the request", () => {
  const bodyFor = Effect.fnUntraced(function* (
    overrides: Partial<OpenAiResponses.Options>,
    prompt: Prompt.RawInput = "go"
  ) {
    const server = yield* Fake.make([Responses.stream([{ type: "message", pieces: ["ok"] }])])
    yield* ask(yield* connect(server.baseUrl, overrides), prompt)
    assert.strictEqual(server.received[0]?.path, "/v1/responses")
    return server.received[0]?.body ?? {}
  })

  it.live("asks a reasoning model of the GPT family strictly, for its reasoning in a form that can be sent back", () =>
    Effect.gen(function* () {
      const body = yield* bodyFor({
        reasoningEffort: "low",
        reasoningSummary: "auto",
        parallelToolCalls: false,
        maxNewTokens: 100,
        temperature: 0.5
      })
      assert.deepStrictEqual(body, {
        model: "gpt-5-fake",
        input: [{ role: "user", content: [{ type: "input_text", text: "go" }] }],
        tools: [
          {
            type: "function",
            name: "look",
            description: "Looks.",
            strict: true,
            parameters: {
              type: "object",
              properties: { text: { type: "string" }, deep: { type: ["boolean", "null"] } },
              required: ["text", "deep"],
              additionalProperties: false
            }
          }
        ],
        tool_choice: "auto",
        parallel_tool_calls: false,
        temperature: 0.5,
        max_output_tokens: 100,
        reasoning: { effort: "low", summary: "auto" },
        include: ["reasoning.encrypted_content"],
        store: false,
        stream: true
      })
    })
  )

  it.live("asks a model that does not reason nothing about reasoning, and an unknown one loosely", () =>
    Effect.gen(function* () {
      const body = yield* bodyFor({ info: ModelTable.infoOf("gpt-4o"), reasoningEffort: "low" })
      assert.notProperty(body, "reasoning")
      assert.notProperty(body, "include")
      const loose = yield* bodyFor({ info: ModelTable.infoOf("someone-1") })
      assert.include(JSON.stringify(loose["tools"]), '"strict":false')
      assert.notProperty(loose, "include")
    })
  )

  it.live("names the conversation to the provider's cache when that is wanted", () =>
    Effect.gen(function* () {
      const named = Effect.provideService(PromptCache.Key, "thr_1")
      const body = yield* named(bodyFor({ promptCache: { retention: "24h" } }))
      assert.strictEqual(body["prompt_cache_key"], "thr_1")
      assert.strictEqual(body["prompt_cache_retention"], "24h")
      assert.notProperty(yield* named(bodyFor({})), "prompt_cache_key")
      assert.notProperty(yield* bodyFor({ promptCache: {} }), "prompt_cache_key")
    })
  )

  it.live("F138 shows images and documents, and words in place of what the model cannot see", () =>
    Effect.gen(function* () {
      const file = (mediaType: string) => Prompt.filePart({ mediaType, fileName: "a", data: new Uint8Array([1, 2, 3]) })
      const prompt = Prompt.fromMessages([
        Prompt.userMessage({ content: [file("image/png"), file("application/pdf"), file("audio/wav")] })
      ])
      const contentOf = (body: Readonly<Record<string, unknown>>) =>
        Schema.decodeUnknownSync(
          Schema.Struct({
            input: Schema.Array(Schema.Struct({ content: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) }))
          })
        )(body).input[0]?.content
      assert.deepStrictEqual(contentOf(yield* bodyFor({}, prompt)), [
        { type: "input_image", image_url: "data:image/png;base64,AQID", detail: "auto" },
        { type: "input_file", filename: "a", file_data: "data:application/pdf;base64,AQID" },
        { type: "input_text", text: "[file a (audio/wav) cannot be shown to this model]" }
      ])
      const blind = { info: ModelTable.infoOf("gpt-5", { images: false }) }
      assert.deepInclude(contentOf(yield* bodyFor(blind, prompt))?.[0], {
        type: "input_text",
        text: "[file a (image/png) cannot be shown to this model]"
      })
    })
  )
})

describe("generateObject", () => {
  it.live("asks for the schema and decodes the answer", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([
        Fake.json({
          id: "r",
          object: "response",
          status: "completed",
          output: [Responses.finished({ type: "message", pieces: ['{"n":', "1}"] })]
        })
      ])
      const model = yield* connect(server.baseUrl)
      const response = yield* model.generateObject({
        prompt: "go",
        schema: Schema.Struct({ n: Schema.Number }),
        objectName: "thing"
      })
      assert.deepStrictEqual(response.value, { n: 1 })
      const text = server.received[0]?.body["text"]
      assert.include(JSON.stringify(text), '"type":"json_schema","name":"thing","strict":true')
      assert.notProperty(server.received[0]?.body, "stream")
    })
  )
})
