import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inspect } from "node:util"
import * as Client from "../../layers/model/Client.ts"
import * as OpenAiChat from "../../layers/model/OpenAiChat.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import { streamStep } from "../../src/model/ToolSchema.ts"
import type { StepPart } from "../../src/model/ToolSchema.ts"
import * as Fake from "./FakeOpenAi.ts"

const secret = "sk-secret-0123456789abcdef"

const connect = Effect.fnUntraced(function* (
  baseUrl: string,
  overrides: Partial<OpenAiChat.Options> = {},
  over?: Transport.Transport
) {
  const transport = over ?? (yield* Transport.make({ connectTimeout: Duration.seconds(5) }))
  const options: OpenAiChat.Options = {
    provider: "fake",
    model: "fake-1",
    info: ModelTable.infoOf("fake-1"),
    baseUrl,
    apiKey: Redacted.make(secret),
    requestTimeout: Duration.seconds(20),
    idleTimeout: Duration.seconds(10),
    retry: { attempts: 0, delay: Duration.millis(1) },
    ...overrides
  }
  return yield* OpenAiChat.make(options, Client.make(options, transport))
})

const tools = [
  {
    name: "add",
    description: "Adds.",
    parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
  }
]

const collect = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput = "go") =>
  Stream.runCollect(streamStep(model, { prompt, tools }))

const textOf = (parts: ReadonlyArray<StepPart>) =>
  parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join("")

const reasoningOf = (parts: ReadonlyArray<StepPart>) =>
  parts.flatMap((part) => (part.type === "reasoning-delta" ? [part.delta] : [])).join("")

const callsOf = (parts: ReadonlyArray<StepPart>) =>
  parts.flatMap((part) => (part.type === "tool-call" ? [{ id: part.id, name: part.name, params: part.params }] : []))

const finishOf = (parts: ReadonlyArray<StepPart>) => parts.find((part) => part.type === "finish")

/** The parts of one reply. */
const partsOf = Effect.fnUntraced(function* (reply: Fake.Reply, prompt: Prompt.RawInput = "go") {
  const server = yield* Fake.make([reply])
  return yield* collect(yield* connect(server.baseUrl), prompt)
})

/** The error of one reply, also checked for secrets. */
const errorOf = Effect.fnUntraced(function* (reply: Fake.Reply, overrides: Partial<OpenAiChat.Options> = {}) {
  const server = yield* Fake.make([reply])
  const error = yield* Effect.flip(collect(yield* connect(server.baseUrl, overrides)))
  assertNoSecret(error)
  return error
})

const assertNoSecret = (error: AiError.AiError) => {
  const printed = [error.message, String(error), JSON.stringify(error), Cause.pretty(Cause.fail(error))].join("\n")
  assert.notInclude(printed, secret)
  assert.isBelow(ModelError.describe(error).message.length, 600)
}

const call = (index: number | undefined, fields: { id?: string; name?: string; args?: unknown }) => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(fields.id === undefined ? {} : { id: fields.id }),
      type: "function",
      function: {
        ...(fields.name === undefined ? {} : { name: fields.name }),
        ...(fields.args === undefined ? {} : { arguments: fields.args })
      }
    }
  ]
})

describe("a streamed answer", () => {
  it.live("becomes text parts with metadata, finish reason and token counts", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(
          Fake.delta({ role: "assistant", content: "" }),
          Fake.delta({ content: "Hel" }),
          Fake.delta({ content: "lo" }),
          Fake.delta({}, "stop"),
          Fake.usage({
            prompt_tokens: 100,
            completion_tokens: 20,
            prompt_tokens_details: { cached_tokens: 64 },
            completion_tokens_details: { reasoning_tokens: 5 }
          }),
          Fake.done
        )
      )
      assert.deepStrictEqual(
        parts.map((part) => part.type),
        ["response-metadata", "text-start", "text-delta", "text-delta", "text-end", "finish"]
      )
      assert.strictEqual(textOf(parts), "Hello")
      const finish = finishOf(parts)
      assert.strictEqual(finish?.reason, "stop")
      assert.deepStrictEqual(
        { ...finish?.usage.inputTokens },
        {
          total: 100,
          uncached: 36,
          cacheRead: 64,
          cacheWrite: undefined
        }
      )
      assert.deepStrictEqual({ ...finish?.usage.outputTokens }, { total: 20, text: 15, reasoning: 5 })
    })
  )

  const sse = [
    ": keep-alive\n\n",
    'event: message\nid: 7\nretry: 10\ndata: {"choices":[{"index":0,"delta":{"content":"Grüße 👋🏽 "}}]}\r\n\r\n',
    ":\n",
    'data: {"choices":[{"index":0,\ndata: "delta":{"content":"\\u2028日本"}}]}\n\n',
    'data:{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n"
  ].join("")

  for (const size of [1, 2, 3, 7, 4096]) {
    it.live(`survives odd framing cut into pieces of ${size} bytes`, () =>
      Effect.gen(function* () {
        const bytes = new TextEncoder().encode(sse)
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          Fake.send(bytes.slice(index * size, (index + 1) * size))
        )
        const parts = yield* partsOf(Fake.stream(...pieces))
        assert.strictEqual(textOf(parts), "Grüße 👋🏽 \u2028日本")
      })
    )
  }

  it.live("puts reasoning before text, whichever field it comes in", () =>
    Effect.gen(function* () {
      for (const fields of [
        { reasoning: "hmm" },
        { reasoning_content: "hmm" },
        { reasoning_details: [{ type: "reasoning.text", index: 0, text: "hmm" }] },
        { reasoning: "hmm", reasoning_details: [{ type: "reasoning.text", index: 0, text: "hmm" }] }
      ]) {
        const parts = yield* partsOf(Fake.stream(Fake.delta(fields), Fake.delta({ content: "ok" }, "stop"), Fake.done))
        assert.strictEqual(reasoningOf(parts), "hmm")
        assert.strictEqual(textOf(parts), "ok")
        const types = parts.map((part) => part.type)
        assert.isBelow(types.indexOf("reasoning-end"), types.indexOf("text-start"))
      }
    })
  )

  it.live("turns a refusal into text and says so in the finish reason", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(Fake.delta({ refusal: "I will not." }), Fake.delta({}, "stop"), Fake.done)
      )
      assert.strictEqual(textOf(parts), "I will not.")
      assert.strictEqual(finishOf(parts)?.reason, "content-filter")
    })
  )

  it.live("may come in one piece from a server that does not stream", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.json({
          id: "x",
          choices: [
            {
              message: { content: "Hi", tool_calls: [{ id: "c1", function: { name: "add", arguments: '{"a":1}' } }] },
              finish_reason: "tool_calls"
            }
          ],
          usage: { prompt_tokens: 3, completion_tokens: 4 }
        })
      )
      assert.strictEqual(textOf(parts), "Hi")
      assert.deepStrictEqual(callsOf(parts), [{ id: "c1", name: "add", params: '{"a":1}' }])
      assert.strictEqual(finishOf(parts)?.usage.inputTokens.total, 3)
    })
  )

  it.live("an empty completion is visible as such", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(Fake.stream(Fake.delta({ content: null }, "stop"), Fake.done))
      assert.deepStrictEqual(
        parts.map((part) => part.type),
        ["finish"]
      )
    })
  )
})

describe("tool calls", () => {
  it.live("parallel calls are put together by index", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(
          Fake.delta(call(0, { id: "a", name: "add", args: "" })),
          Fake.delta(call(1, { id: "b", name: "mul", args: '{"x"' })),
          Fake.delta(call(0, { args: '{"a":' })),
          Fake.delta(call(1, { args: ":2}" })),
          Fake.delta(call(0, { args: "1}" })),
          Fake.delta({}, "tool_calls"),
          Fake.done
        )
      )
      assert.deepStrictEqual(callsOf(parts), [
        { id: "a", name: "add", params: '{"a":1}' },
        { id: "b", name: "mul", params: '{"x":2}' }
      ])
      assert.strictEqual(finishOf(parts)?.reason, "tool-calls")
    })
  )

  const shapes: ReadonlyArray<readonly [string, ReadonlyArray<object>]> = [
    ["ids are missing", [call(0, { name: "add", args: '{"a":1}' }), call(1, { name: "add", args: '{"a":2}' })]],
    [
      "ids are empty",
      [call(0, { id: "", name: "add", args: '{"a":1}' }), call(1, { id: "", name: "add", args: '{"a":2}' })]
    ],
    [
      "ids are equal",
      [call(0, { id: "add", name: "add", args: '{"a":1}' }), call(1, { id: "add", name: "add", args: '{"a":2}' })]
    ],
    [
      "ids are too long",
      [
        call(0, { id: "x".repeat(500), name: "add", args: '{"a":1}' }),
        call(1, { id: "y".repeat(500), name: "add", args: '{"a":2}' })
      ]
    ],
    [
      "ids have odd characters",
      [call(0, { id: "a b:c", name: "add", args: '{"a":1}' }), call(1, { id: "ä", name: "add", args: '{"a":2}' })]
    ],
    [
      "an id is already in the history",
      [call(0, { id: "old", name: "add", args: '{"a":1}' }), call(1, { id: "new", name: "add", args: '{"a":2}' })]
    ],
    [
      "all have index 0",
      [call(0, { id: "p", name: "add", args: '{"a":1}' }), call(0, { id: "q", name: "add", args: '{"a":2}' })]
    ],
    [
      "the index is missing",
      [
        call(undefined, { id: "p", name: "add", args: '{"a":1}' }),
        call(undefined, { id: "q", name: "add", args: '{"a":2}' })
      ]
    ],
    [
      "index and id are missing",
      [call(undefined, { name: "add", args: '{"a":1}' }), call(undefined, { name: "add", args: '{"a":2}' })]
    ],
    [
      "id and name are repeated in every piece",
      [
        call(0, { id: "p", name: "add", args: '{"a"' }),
        call(0, { id: "p", name: "add", args: ":1}" }),
        call(1, { id: "q", name: "add", args: '{"a"' }),
        call(1, { id: "q", name: "add", args: ":2}" })
      ]
    ],
    [
      "arguments come as objects",
      [call(0, { id: "p", name: "add", args: { a: 1 } }), call(1, { id: "q", name: "add", args: { a: 2 } })]
    ]
  ]

  const history: Prompt.RawInput = [
    { role: "user", content: "go" },
    { role: "assistant", content: [{ type: "tool-call", id: "old", name: "add", params: { a: 0 } }] },
    { role: "tool", content: [{ type: "tool-result", id: "old", name: "add", isFailure: false, result: "0" }] }
  ]

  for (const [name, deltas] of shapes) {
    it.live(`are two calls with ids of their own when ${name}`, () =>
      Effect.gen(function* () {
        const parts = yield* partsOf(
          Fake.stream(...deltas.map((fields) => Fake.delta(fields)), Fake.delta({}, "tool_calls"), Fake.done),
          history
        )
        const calls = callsOf(parts)
        assert.deepStrictEqual(
          calls.map(({ params }) => params),
          name === "arguments come as objects" ? [{ a: 1 }, { a: 2 }] : ['{"a":1}', '{"a":2}']
        )
        assert.strictEqual(new Set(calls.map(({ id }) => id)).size, 2)
        for (const { id } of calls) {
          assert.match(id, /^[A-Za-z0-9_-]{1,64}$/)
          assert.notStrictEqual(id, "old")
        }
      })
    )
  }

  it.live("arguments reach the caller as the model wrote them", () =>
    Effect.gen(function* () {
      const args = '{ "a": 1, "a": 2.0, "b": 12345678901234567890 }'
      const parts = yield* partsOf(
        Fake.stream(Fake.delta(call(0, { id: "a", name: "add", args })), Fake.delta({}, "tool_calls"), Fake.done)
      )
      assert.strictEqual(callsOf(parts)[0]?.params, args)
    })
  )

  it.live("arguments that are not JSON reach the caller as text", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(
          Fake.delta(call(0, { id: "a", name: "add", args: "```json\n{a: 1}```" })),
          Fake.delta({}, "tool_calls"),
          Fake.done
        )
      )
      assert.deepStrictEqual(callsOf(parts)[0]?.params, "```json\n{a: 1}```")
    })
  )

  it.live("a call cut by the output limit is marked by the finish reason", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(
          Fake.delta(call(0, { id: "a", name: "add", args: '{"path":"a","content":"line1' })),
          Fake.delta({}, "length"),
          Fake.done
        )
      )
      assert.strictEqual(finishOf(parts)?.reason, "length")
      assert.deepStrictEqual(callsOf(parts)[0]?.params, '{"path":"a","content":"line1')
    })
  )

  it.live("a server that says stop after a call is understood", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(Fake.delta(call(0, { id: "a", name: "add", args: "{}" })), Fake.delta({}, "stop"), Fake.done)
      )
      assert.strictEqual(finishOf(parts)?.reason, "tool-calls")
    })
  )

  for (const [name, ending] of [
    ["reset", [Fake.cut]],
    ["closed", []],
    ["closed after [DONE] without finish reason", [Fake.done]],
    ["cut inside an event", [Fake.send('data: {"choices":[{"ind')]]
  ] as const) {
    it.live(`a half-received call never becomes a call when the connection is ${name}`, () =>
      Effect.gen(function* () {
        const server = yield* Fake.make([
          Fake.stream(Fake.delta(call(0, { id: "a", name: "add", args: '{"a":1' })), Fake.pause(20), ...ending)
        ])
        const seen: Array<StepPart> = []
        const error = yield* streamStep(yield* connect(server.baseUrl), { prompt: "go", tools }).pipe(
          Stream.runForEach((part) => Effect.sync(() => seen.push(part))),
          Effect.flip
        )
        assert.strictEqual(ModelError.describe(error).code, "model:stream-cut")
        assert.isTrue(error.isRetryable)
        assert.deepStrictEqual(callsOf(seen), [])
        assert.isUndefined(finishOf(seen))
        assertNoSecret(error)
      })
    )
  }

  it.live(
    "a connection kept open after the finish reason does not lose the answer, nor the token counts",
    () =>
      Effect.gen(function* () {
        const pings = Array.from({ length: 1000 }, () => [Fake.pause(20), Fake.send(": ping\n\n")]).flat()
        for (const rest of [[Fake.hang], pings]) {
          const server = yield* Fake.make([
            Fake.stream(Fake.delta({ content: "whole" }, "stop"), Fake.usage({ prompt_tokens: 3 }), ...rest)
          ])
          const parts = yield* collect(yield* connect(server.baseUrl))
          assert.strictEqual(textOf(parts), "whole")
          assert.strictEqual(finishOf(parts)?.usage.inputTokens.total, 3)
          yield* server.abandoned(0)
        }
      }),
    15_000
  )

  it.live("a connection lost after the finish reason costs only the token counts", () =>
    Effect.gen(function* () {
      const parts = yield* partsOf(
        Fake.stream(Fake.delta({ content: "whole" }), Fake.delta({}, "stop"), Fake.pause(20), Fake.cut)
      )
      assert.strictEqual(textOf(parts), "whole")
      assert.strictEqual(finishOf(parts)?.usage.inputTokens.total, undefined)
    })
  )
})

describe("failures", () => {
  const lines = (type: string): Fake.Reply => ({
    headers: { "content-type": type },
    steps: [Fake.send('{"model":"m","message":{"content":"Hi"},"done":false}\n{"model":"m","done":true}\n')]
  })
  const statuses: ReadonlyArray<readonly [string, Fake.Reply, code: string, retryable: boolean, says: RegExp]> = [
    [
      "400",
      Fake.json({ error: { message: "bad temperature", param: "temperature" } }, 400),
      "model:invalid-request",
      false,
      /bad temperature/
    ],
    [
      "400 for length",
      Fake.json({ error: { message: "x", code: "context_length_exceeded" } }, 400),
      "model:context-length",
      false,
      /longer than model/
    ],
    [
      "401",
      Fake.json({ error: { message: `Incorrect API key: ${secret}` } }, 401),
      "model:authentication",
      false,
      /providers\.fake.*api_key/
    ],
    ["403", Fake.json({ error: { message: secret } }, 403), "model:authentication", false, /does not allow/],
    [
      "404",
      Fake.json({ error: { message: "no such model" } }, 404),
      "model:invalid-request",
      false,
      /base_url is wrong/
    ],
    ["429", Fake.json({ error: { message: "slow down" } }, 429), "model:rate-limited", true, /rate|limit/i],
    [
      "429 for lack of money",
      Fake.json({ error: { message: "x", code: "insufficient_quota" } }, 429),
      "model:quota-exhausted",
      false,
      /billing/
    ],
    ["402", Fake.json({ error: { message: "x" } }, 402), "model:quota-exhausted", false, /billing/],
    ["500", Fake.json({ error: { message: "oops" } }, 500), "model:provider-failed", true, /500.*oops/],
    [
      "503 with a web page",
      { status: 503, headers: { "content-type": "text/html" }, steps: [Fake.send("<html>".repeat(1000))] },
      "model:provider-failed",
      true,
      /503/
    ],
    [
      "308",
      { status: 308, headers: { location: "http://127.0.0.1:1/" }, steps: [] },
      "model:invalid-request",
      false,
      /redirects/
    ],
    [
      "200 with a web page",
      { headers: { "content-type": "text/html" }, steps: [Fake.send("<html>")] },
      "model:invalid-response",
      false,
      /base_url/
    ],
    [
      "200 with lines of JSON as application/x-ndjson",
      lines("application/x-ndjson"),
      "model:invalid-response",
      false,
      /base_url/
    ],
    [
      "200 with lines of JSON as text/event-stream",
      lines("text/event-stream"),
      "model:invalid-response",
      false,
      /base_url/
    ],
    [
      "200 with lines of JSON as application/json",
      lines("application/json"),
      "model:invalid-response",
      false,
      /base_url/
    ],
    [
      "200 with one line of JSON",
      {
        headers: { "content-type": "application/x-ndjson" },
        steps: [Fake.send('{"model":"m","message":{"content":"Hi"},"done":true}\n')]
      },
      "model:invalid-response",
      false,
      /base_url/
    ],
    [
      "200 with an error",
      Fake.json({ error: { message: "upstream", code: 502 } }),
      "model:provider-failed",
      true,
      /upstream/
    ],
    [
      "an error event",
      Fake.stream(Fake.event({ error: { message: "overloaded", code: 529 } })),
      "model:provider-failed",
      true,
      /overloaded/
    ],
    [
      "an error event for a bad key",
      Fake.stream(Fake.event({ error: { message: `Bad key ${secret}`, type: "authentication_error" } })),
      "model:authentication",
      false,
      /api_key/
    ],
    [
      "an error event for too many requests",
      Fake.stream(Fake.event({ error: { message: "try again in 2s", code: "rate_limit_exceeded" } })),
      "model:rate-limited",
      true,
      /2s/
    ],
    [
      "an event that is not a chunk",
      Fake.stream(Fake.event({ choices: "none" })),
      "model:invalid-response",
      false,
      /base_url/
    ]
  ]

  for (const [name, reply, code, retryable, says] of statuses) {
    it.live(`${name} is ${code}`, () =>
      Effect.gen(function* () {
        const described = ModelError.describe(yield* errorOf(reply))
        assert.strictEqual(described.code, code)
        assert.strictEqual(described.retryable, retryable)
        assert.match(described.message, says)
      })
    )
  }

  const canary = 'hdr/canary+"0123456789"'
  const encoded = [secret, canary].flatMap((value) => [
    value,
    JSON.stringify(value),
    encodeURIComponent(value),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url")
  ])
  const echo = {
    // The last copy is where a clip would halve it.
    message: `${encoded.join(" ").slice(0, 150)} ${"x".repeat(20)}${secret} ${encoded.join(" ")}`,
    param: `${secret} ${canary} other-canary`
  }
  const hidden = Effect.fnUntraced(function* (reply: Fake.Reply) {
    const error = yield* errorOf(reply, {
      headers: { "x-team": Redacted.make(canary), authorization: Redacted.make(`Bearer ${secret}`) },
      secrets: [Redacted.make("other-canary")]
    })
    const printed = [
      error.message,
      JSON.stringify(error),
      error.stack,
      Cause.pretty(Cause.fail(error)),
      inspect(error, { depth: 20 }),
      JSON.stringify(ModelError.describe(error))
    ].join("\n")
    for (const form of [...encoded, "sk-secret", "canary"]) assert.notInclude(printed, form)
    return printed
  })

  for (const status of [400, 401, 403, 404, 409, 422, 429, 500, 503]) {
    it.live(`a provider that repeats the key and a header with ${status} is not repeated`, () =>
      Effect.gen(function* () {
        yield* hidden(Fake.json({ error: echo }, status))
        yield* hidden(Fake.json({ error: { ...echo, message: `${"x".repeat(185)} ${secret}` } }, status))
        yield* hidden(Fake.json({ error: { message: `${secret.slice(0, 12)}\0${secret.slice(12)}` } }, status))
        yield* hidden(Fake.stream(Fake.event({ error: { ...echo, code: status } })))
      })
    )
  }

  it.live("the rest of what such a provider says is kept", () =>
    Effect.gen(function* () {
      const printed = yield* hidden(Fake.json({ error: { message: `Incorrect key ${secret} given` } }, 500))
      assert.include(printed, "Incorrect key [redacted] given")
    })
  )

  it.live("a wait of nothing is not mentioned", () =>
    Effect.gen(function* () {
      const error = yield* errorOf(Fake.json({}, 429, { "retry-after": "0" }))
      assert.notInclude(ModelError.describe(error).message, "wait")
    })
  )

  it.live("a refused connection names provider and address", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(Fake.make([]))
      const error = yield* Effect.flip(collect(yield* connect(server.baseUrl)))
      const described = ModelError.describe(error)
      assert.strictEqual(described.code, "model:connect-failed")
      assert.isTrue(described.retryable)
      assert.include(described.message, new URL(server.baseUrl).host)
      assert.include(described.message, '"fake"')
      assertNoSecret(error)
    })
  )

  it.live("silence between parts is an idle timeout", () =>
    Effect.gen(function* () {
      const error = yield* errorOf(Fake.stream(Fake.delta({ content: "a" }), Fake.hang), {
        idleTimeout: Duration.millis(80)
      })
      assert.strictEqual(ModelError.describe(error).code, "model:idle-timeout")
      assert.isTrue(error.isRetryable)
    })
  )

  it.live("F137: keep-alive comments and a slow first part are not silence", () =>
    Effect.gen(function* () {
      const pings = Array.from({ length: 12 }, () => [Fake.pause(50), Fake.send(": ping\n\n")]).flat()
      const server = yield* Fake.make([
        Fake.stream(
          Fake.pause(400),
          Fake.delta({ content: "a" }),
          ...pings,
          Fake.delta({ content: "b" }, "stop"),
          Fake.done
        )
      ])
      const parts = yield* collect(yield* connect(server.baseUrl, { idleTimeout: Duration.millis(300) }))
      assert.strictEqual(textOf(parts), "ab")
    })
  )

  it.live("the whole request has a limit that is not retried", () =>
    Effect.gen(function* () {
      const pings = Array.from({ length: 100 }, () => [Fake.pause(20), Fake.send(": ping\n\n")]).flat()
      const error = yield* errorOf(Fake.stream(...pings), { requestTimeout: Duration.millis(150) })
      assert.strictEqual(ModelError.describe(error).code, "model:request-timeout")
      assert.isFalse(error.isRetryable)
    })
  )
})

describe("words that every object knows", () => {
  for (const word of ["constructor", "__proto__", "toString"]) {
    it.live(`mean nothing: ${word}`, () =>
      Effect.gen(function* () {
        const audio = Prompt.filePart({ mediaType: word, fileName: "a", data: new Uint8Array([1]) })
        const server = yield* Fake.make([
          Fake.stream(Fake.delta({ tool_calls: [{ id: word, function: { name: word, arguments: "{}" } }] }, word)),
          Fake.json({ error: { code: word, type: word, message: "Broken." } })
        ])
        const model = yield* connect(server.baseUrl)
        const parts = yield* collect(model, Prompt.fromMessages([Prompt.userMessage({ content: [audio] })]))
        const finish = parts.find((part) => part.type === "finish")
        assert.strictEqual(finish?.reason, "other")
        assert.isTrue(parts.some((part) => part.type === "tool-call" && part.name === word && part.id === word))
        assert.include(JSON.stringify(server.received[0]?.body), `(${word}) cannot be shown`)
        const failure = ModelError.describe(yield* Effect.flip(collect(model)))
        assert.deepStrictEqual(
          [failure.code, failure.message],
          ["model:provider-failed", 'Provider "fake" failed: Broken.']
        )
      })
    )
  }
})

describe("a response without end", () => {
  const limits = { total: 1_000_000, line: 100_000, errorBody: 10_000 }
  const bounded = Effect.fnUntraced(function* (reply: Fake.Reply) {
    const server = yield* Fake.make([reply])
    const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5), limits })
    const model = yield* connect(server.baseUrl, { retry: { attempts: 2, delay: Duration.millis(1) } }, transport)
    const error = yield* Effect.flip(collect(model))
    yield* server.abandoned(0)
    return ModelError.describe(error)
  })
  const many = (step: Fake.Step) => [...Array.from({ length: 5000 }, () => step), Fake.hang]
  const filler = "x".repeat(10_000)

  for (const [name, reply] of [
    ["of small events", Fake.stream(...many(Fake.delta({ content: filler })))],
    ["of comments", Fake.stream(...many(Fake.send(`: ${filler}\n\n`)))],
    ["in one line", Fake.stream(Fake.send("data: "), ...many(Fake.send(filler)))],
    [
      "in one JSON text",
      { headers: { "content-type": "application/json" }, steps: [Fake.send('{"a":"'), ...many(Fake.send(filler))] }
    ]
  ] as const) {
    it.live(`${name} is refused and the connection closed`, () =>
      Effect.gen(function* () {
        const described = yield* bounded(reply)
        assert.strictEqual(described.code, "model:response_too_large")
        assert.isFalse(described.retryable)
        assert.include(described.message, '"fake"')
      })
    )
  }

  it.live("ends its own request, and not another over the same client", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([
        Fake.stream(
          Fake.delta({ content: "one" }),
          Fake.pause(200),
          Fake.delta({ content: " two" }, "stop"),
          Fake.done
        ),
        Fake.stream(...many(Fake.delta({ content: filler })))
      ])
      const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5), limits })
      const model = yield* connect(server.baseUrl, {}, transport)
      const fine = yield* Effect.forkChild(collect(model))
      yield* server.arrived(0)
      assert.strictEqual(ModelError.describe(yield* Effect.flip(collect(model))).code, "model:response_too_large")
      assert.strictEqual(textOf(yield* Fiber.join(fine)), "one two")
    })
  )

  it.live("in an error is cut, and the status still counts", () =>
    Effect.gen(function* () {
      const steps = [Fake.send('{"error":{"message":"'), ...many(Fake.send(filler))]
      const described = yield* bounded({ status: 400, headers: { "content-type": "application/json" }, steps })
      assert.strictEqual(described.code, "model:invalid-request")
      assert.notInclude(described.message, "xxx")
    })
  )

  const text = "x".repeat(500_000)
  for (const [name, step] of [
    ["text", Fake.delta({ content: text })],
    ["reasoning", Fake.delta({ reasoning: text })],
    ["arguments", Fake.delta(call(0, { id: "a", name: "add", args: text }))],
    ["calls", Fake.delta({ tool_calls: Array.from({ length: 500 }, () => ({ function: { name: "add" } })) })]
  ] as const) {
    it.live(`of ${name} is refused by its length`, () =>
      Effect.gen(function* () {
        const server = yield* Fake.make([Fake.stream(...Array.from({ length: 20 }, () => step), Fake.hang)])
        const error = yield* Effect.flip(collect(yield* connect(server.baseUrl)))
        assert.strictEqual(ModelError.describe(error).code, "model:response_too_large")
        yield* server.abandoned(0)
      })
    )
  }
})

describe("retries", () => {
  const fine = Fake.stream(Fake.delta({ content: "fine" }, "stop"), Fake.done)
  const retry = { attempts: 2, delay: Duration.millis(5) }

  it.live("a failed request is tried again until it works", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.json({}, 500), Fake.json({}, 429), fine])
      assert.strictEqual(textOf(yield* collect(yield* connect(server.baseUrl, { retry }))), "fine")
      assert.strictEqual(server.received.length, 3)
    })
  )

  it.live("no more often than allowed", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make(Array.from({ length: 9 }, () => Fake.json({}, 500)))
      yield* Effect.flip(collect(yield* connect(server.baseUrl, { retry })))
      assert.strictEqual(server.received.length, 3)
    })
  )

  it.live("never after something was shown", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.stream(Fake.delta({ content: "half" }), Fake.pause(20), Fake.cut), fine])
      const error = yield* Effect.flip(collect(yield* connect(server.baseUrl, { retry })))
      assert.strictEqual(ModelError.describe(error).code, "model:stream-cut")
      assert.strictEqual(server.received.length, 1)
    })
  )

  it.live("a connection cut before anything was shown is tried again", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.stream(Fake.send(": hello\n\n"), Fake.pause(20), Fake.cut), fine])
      assert.strictEqual(textOf(yield* collect(yield* connect(server.baseUrl, { retry }))), "fine")
    })
  )

  it.live("never for errors that would come again", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.json({}, 400), fine])
      yield* Effect.flip(collect(yield* connect(server.baseUrl, { retry })))
      assert.strictEqual(server.received.length, 1)
    })
  )

  it.live("F083: a provider that asks for a long wait gets none here, and the caller learns the time", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.json({}, 429, { "retry-after": "3600" }), fine])
      const error = yield* Effect.flip(collect(yield* connect(server.baseUrl, { retry })))
      assert.deepStrictEqual(Option.fromUndefinedOr(error.retryAfter), Option.some(Duration.hours(1)))
      assert.strictEqual(server.received.length, 1)
    })
  )

  it.live("also without streaming", () =>
    Effect.gen(function* () {
      const answer = Fake.json({ choices: [{ message: { content: "fine" }, finish_reason: "stop" }] })
      const server = yield* Fake.make([Fake.json({}, 500), answer])
      const response = yield* (yield* connect(server.baseUrl, { retry })).generateText({ prompt: "go" })
      assert.strictEqual(response.text, "fine")
      assert.isUndefined(server.received[1]?.body["stream"])
    })
  )
})

describe("cancellation and back-pressure", () => {
  it.live("interrupting the stream closes the connection", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.stream(Fake.delta({ content: "a" }), Fake.hang)])
      const started = yield* Deferred.make<void>()
      const fiber = yield* streamStep(yield* connect(server.baseUrl), { prompt: "go", tools }).pipe(
        Stream.runForEach(() => Deferred.succeed(started, undefined)),
        Effect.forkChild
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* server.abandoned(0)
    })
  )

  it.live("interrupting before the first byte closes the connection", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.stream(Fake.hang)])
      const fiber = yield* Effect.forkChild(collect(yield* connect(server.baseUrl)))
      yield* server.arrived(0)
      yield* Fiber.interrupt(fiber)
      yield* server.abandoned(0)
    })
  )

  it.live("taking only the beginning closes the connection", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([Fake.stream(Fake.delta({ content: "a" }), Fake.hang)])
      yield* streamStep(yield* connect(server.baseUrl), { prompt: "go", tools }).pipe(Stream.take(1), Stream.runDrain)
      yield* server.abandoned(0)
    })
  )

  it.live("a reader that stops reading stops the server", () =>
    Effect.gen(function* () {
      // Comments cost the reader next to nothing, so an eager one would have them all at once.
      const filler = Fake.send(`: ${"x".repeat(64_000)}\n\n`)
      const big = Fake.stream(
        Fake.delta({ content: "a" }),
        ...Array.from({ length: 1000 }, () => filler),
        Fake.delta({ content: "b" }, "stop"),
        Fake.done
      )
      const small = Fake.stream(Fake.delta({ content: "ok" }, "stop"), Fake.done)
      const server = yield* Fake.make([big, ...Array.from({ length: 100 }, () => small)])
      const model = yield* connect(server.baseUrl)
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      const fiber = yield* streamStep(model, { prompt: "go", tools }).pipe(
        Stream.tap((part) =>
          part.type === "text-delta" && part.delta === "a"
            ? Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate))
            : Effect.void
        ),
        Stream.runCollect,
        Effect.forkChild
      )
      yield* Deferred.await(reached)
      // A hundred whole answers later, the big one has still only filled the buffers on the way (measured: 5 MB).
      // A reader that does not wait has read 19 MB by now.
      for (let n = 0; n < 100; n++) yield* collect(model)
      assert.isBelow(server.sent(), 12_000_000)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "ab")
    })
  )
})

describe("the request", () => {
  /** The request sent for a prompt. */
  const requestFor = Effect.fnUntraced(function* (
    prompt: Prompt.RawInput,
    overrides: Partial<OpenAiChat.Options> = {}
  ) {
    const server = yield* Fake.make([Fake.stream(Fake.delta({ content: "ok" }, "stop"), Fake.done)])
    yield* collect(yield* connect(server.baseUrl, overrides), prompt)
    const [received] = server.received
    return received ?? (yield* Effect.die(new Error("nothing was received")))
  })

  it.live("carries model, messages, tools and the settings, and no header but ours", () =>
    Effect.gen(function* () {
      const { body, headers, path } = yield* requestFor(
        [
          { role: "system", content: "one" },
          { role: "system", content: "two" },
          { role: "user", content: "hello" }
        ],
        {
          temperature: 0.5,
          maxNewTokens: 77,
          reasoningEffort: "low",
          parallelToolCalls: false,
          headers: { "X-Team": Redacted.make("blue") }
        }
      )
      assert.strictEqual(path, "/v1/chat/completions")
      assert.deepStrictEqual(body, {
        model: "fake-1",
        messages: [
          { role: "system", content: "one\n\ntwo" },
          { role: "user", content: "hello" }
        ],
        tools: [
          {
            type: "function",
            function: { name: "add", description: "Adds.", parameters: tools[0]?.parameters }
          }
        ],
        tool_choice: "auto",
        parallel_tool_calls: false,
        temperature: 0.5,
        max_tokens: 77,
        reasoning_effort: "low",
        stream: true,
        stream_options: { include_usage: true }
      })
      assert.strictEqual(headers.authorization, `Bearer ${secret}`)
      assert.strictEqual(headers["x-team"], "blue")
      assert.strictEqual(headers["user-agent"], "troupe")
      assert.deepStrictEqual(
        Object.keys(headers).filter((name) => name.startsWith("x-stainless")),
        []
      )
    })
  )

  it.live("describes tools as the family of the model takes them, and asks nothing that it cannot do", () =>
    Effect.gen(function* () {
      const bodyFor = (model: string) =>
        Effect.map(
          requestFor("go", { model, info: ModelTable.infoOf(model), reasoningEffort: "low" }),
          ({ body }) => body
        )
      const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
      const tool = (parameters: object) => ({
        type: "function",
        function: { name: "add", description: "Adds.", parameters }
      })
      const strict = tool({ ...schema, additionalProperties: false })
      assert.deepStrictEqual((yield* bodyFor("gpt-4o"))["tools"], [
        { ...strict, function: { ...strict.function, strict: true } }
      ])
      assert.deepStrictEqual((yield* bodyFor("deepseek-chat"))["tools"], [tool(schema)])
      assert.notProperty(yield* bodyFor("gpt-4o"), "reasoning_effort")
      assert.property(yield* bodyFor("gpt-5"), "reasoning_effort")
    })
  )

  it.live("sends no authorization without a key", () =>
    Effect.gen(function* () {
      const { headers } = yield* requestFor("go", { apiKey: undefined })
      assert.isUndefined(headers.authorization)
    })
  )

  it.live("keeps calls and results in order and every string clean", () =>
    Effect.gen(function* () {
      const { body } = yield* requestFor([
        { role: "user", content: "a\0b\ud83d" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "working" },
            { type: "tool-call", id: "1", name: "add", params: { "k\ud800": "v\0" } },
            { type: "tool-call", id: "2", name: "bad name!", params: "not { json" },
            { type: "tool-call", id: "3", name: "add", params: "" }
          ]
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", id: "1", name: "add", isFailure: false, result: { ok: true, text: "\udc00" } },
            { type: "tool-result", id: "2", name: "bad name!", isFailure: true, result: "no such tool" },
            { type: "tool-result", id: "3", name: "add", isFailure: false, result: null }
          ]
        },
        { role: "assistant", content: "  " },
        { role: "user", content: "next" }
      ])
      assert.deepStrictEqual(body["messages"], [
        { role: "user", content: "ab\ufffd" },
        {
          role: "assistant",
          content: "working",
          tool_calls: [
            { id: "1", type: "function", function: { name: "add", arguments: '{"k\ufffd":"v"}' } },
            {
              id: "2",
              type: "function",
              function: { name: "bad_name_", arguments: '{"unreadable_arguments":"not { json"}' }
            },
            { id: "3", type: "function", function: { name: "add", arguments: "{}" } }
          ]
        },
        { role: "tool", tool_call_id: "1", content: '{"ok":true,"text":"\ufffd"}' },
        { role: "tool", tool_call_id: "2", content: "no such tool" },
        { role: "tool", tool_call_id: "3", content: "(empty)" },
        { role: "user", content: "next" }
      ])
    })
  )

  it.live("sends images, audio and documents as parts", () =>
    Effect.gen(function* () {
      const { body } = yield* requestFor([
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
            { type: "file", mediaType: "image/png", data: new URL("https://example.com/a.png") },
            { type: "file", mediaType: "audio/wav", data: new Uint8Array([4]) },
            { type: "file", mediaType: "application/pdf", fileName: "a.pdf", data: new Uint8Array([5]) },
            { type: "file", mediaType: "application/zip", fileName: "a.zip", data: new Uint8Array([6]) }
          ]
        }
      ])
      const content = [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        { type: "input_audio", input_audio: { data: "BA==", format: "wav" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BQ==" } },
        { type: "text", text: "[file a.zip (application/zip) cannot be shown to this model]" }
      ]
      assert.deepStrictEqual(body["messages"], [{ role: "user", content }])
    })
  )

  it.live("returns reasoning to the model that wrote it, untouched, and to no other", () =>
    Effect.gen(function* () {
      const first = yield* Fake.make([
        Fake.stream(
          Fake.delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "hm" }] }),
          Fake.delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "m", signature: "s1" }] }),
          Fake.delta({ content: "hi" }, "stop"),
          Fake.done
        )
      ])
      const parts = yield* collect(yield* connect(first.baseUrl))
      const prompt = Prompt.concat(Prompt.make("go"), Prompt.fromResponseParts(parts)).pipe(Prompt.concat("more"))
      const same = yield* requestFor(prompt)
      assert.deepStrictEqual(same.body["messages"], [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "hi",
          reasoning_details: [{ type: "reasoning.text", index: 0, text: "hmm", signature: "s1" }]
        },
        { role: "user", content: "more" }
      ])
      const other = yield* requestFor(prompt, { model: "other" })
      assert.deepStrictEqual(other.body["messages"], [
        { role: "user", content: "go" },
        { role: "assistant", content: "hi" },
        { role: "user", content: "more" }
      ])
    })
  )
})

describe("generateObject", () => {
  it.live("asks for the schema and decodes the answer", () =>
    Effect.gen(function* () {
      const server = yield* Fake.make([
        Fake.json({ choices: [{ message: { content: '{"city":"Rome"}' }, finish_reason: "stop" }] })
      ])
      const response = yield* (yield* connect(server.baseUrl)).generateObject({
        prompt: "where?",
        objectName: "Place",
        schema: Schema.Struct({ city: Schema.String })
      })
      assert.deepStrictEqual(response.value, { city: "Rome" })
      assert.deepStrictEqual(server.received[0]?.body["response_format"], {
        type: "json_schema",
        json_schema: {
          name: "Place",
          strict: true,
          schema: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false
          }
        }
      })
    })
  )
})
