/**
 * Whole turns against a model server that was not written for us: `@copilotkit/aimock`, a public mock of the chat
 * completions API. The daemon and the console are processes of their own, as people run them.
 */
import { LLMock, type JournalEntry } from "@copilotkit/aimock"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import * as Client from "../../layers/model/Client.ts"
import * as OpenAiChat from "../../layers/model/OpenAiChat.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as Event from "../../src/event/Event.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as Program from "../cli/Program.ts"

const apiKey = "a-key-of-the-mock"
const question = "what is 12*(3+4)?"

class World extends Context.Service<
  World,
  {
    readonly at: Program.Place
    readonly mock: LLMock
    /** The mock answers a question when it is open: a console that watches too late would miss the pieces of text. */
    readonly gate: Latch.Latch
  }
>()("test/model/PublicMock") {}

/** The mock and a daemon that uses it. */
const world = Layer.effect(
  World,
  Effect.gen(function* () {
    const gate = yield* Latch.make(true)
    const mock = yield* Effect.acquireRelease(start(gate), (started) => Effect.promise(() => started.stop()))
    const at = yield* Program.place
    yield* Program.daemon(at, settings(mock.url, apiKey))
    return { at, mock, gate }
  })
).pipe(Layer.provideMerge(NodeServices.layer))

/** Calls the calculator when asked something, and reads out the result that came back. Text and arguments in pieces. */
const start = (gate: Latch.Latch) =>
  Effect.promise(async () => {
    const mock = new LLMock({
      host: "127.0.0.1",
      port: 0,
      chunkSize: 6,
      latency: 30,
      strict: true,
      auth: { apiKeys: [apiKey] }
    })
    mock.on({ userMessage: question, hasToolResult: false }, async () => {
      await Effect.runPromise(gate.await)
      return {
        content: "Let me calculate that.",
        toolCalls: [{ name: "calculate_expression", arguments: '{"expression":"12*(3+4)"}' }]
      }
    })
    mock.on({ userMessage: question, hasToolResult: true }, ({ messages }) => ({
      content: `The tool says: ${String(messages.at(-1)?.content)}`
    }))
    mock.onMessage("hello", { content: "Hello, too." })
    await mock.start()
    return mock
  })

const settings = (url: string, key: string, more = "", model = "mock-1") => `
[llm]
provider = "mock"
model = "${model}"
retry_delay_seconds = 0.1
[providers.mock]
base_url = "${url}/v1"
api_key = "${key}"
${more}
`

const Line = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ type: Schema.Literal("entry"), entry: Entry.Entry }),
    Schema.Struct({ type: Schema.Literal("event"), event: Event.Event }),
    Schema.Struct({ type: Schema.Literal("result"), state: Schema.String, text: Schema.String })
  ])
)
const decodeLines = Schema.decodeUnknownEffect(Schema.Array(Line))

/** Asks the question in a thread of its own; also gives the requests that the mock has seen meanwhile. */
const ask = Effect.fnUntraced(function* (thread: string) {
  const { at, gate, mock } = yield* World
  mock.clearRequests()
  yield* gate.close
  const console = yield* Program.start(at, ["chat", "--thread", thread, "--once", question, "--json"])
  yield* console.says(`"_tag":"UserMessage"`)
  yield* gate.open
  const result = yield* console.ended
  assert.strictEqual(result.code, 0, result.stderr)
  const lines = yield* decodeLines(result.stdout.trimEnd().split("\n"))
  const deltas = lines.flatMap((line) =>
    line.type === "event" && line.event._tag === "ModelDelta" ? [line.event] : []
  )
  return {
    requests: mock.getRequests(),
    entries: lines.flatMap((line) => (line.type === "entry" ? [line.entry] : [])),
    result: lines.find((line) => line.type === "result"),
    /** The pieces of text that were shown in a step, counted from 1. */
    shown: (step: number) => deltas.filter((delta) => delta.step === step).map(({ text }) => text)
  }
})

const Body = Schema.Struct({
  model: Schema.String,
  stream: Schema.Boolean,
  messages: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  tools: Schema.Array(Schema.Struct({ function: Schema.Struct({ name: Schema.String }) }))
})
const bodyOf = (request: JournalEntry | undefined) => Schema.decodeUnknownEffect(Body)(request?.body)

const statuses = (requests: ReadonlyArray<JournalEntry>) => requests.map(({ response }) => response.status)

layer(world, { excludeTestServices: true, timeout: 60_000 })("a public mock server", (it) => {
  it.effect(
    "a whole turn: text in pieces, a streamed tool call, its result sent back, the answer in pieces",
    () =>
      Effect.gen(function* () {
        const { entries, requests, result, shown } = yield* ask("whole")
        assert.deepStrictEqual(statuses(requests), [200, 200])

        const first = yield* bodyOf(requests[0])
        assert.strictEqual(first.model, "mock-1")
        assert.isTrue(first.stream)
        assert.include(
          first.tools.map((tool) => tool.function.name),
          "calculate_expression"
        )
        assert.strictEqual(shown(1).join(""), "Let me calculate that.")
        assert.isAbove(shown(1).length, 1)

        const second = yield* bodyOf(requests[1])
        assert.isTrue(second.stream)
        const made = entries.find((entry) => entry._tag === "ToolResult")
        assert.include(made?.text, `"result":"84"`)
        assert.deepStrictEqual(second.messages, [
          ...first.messages,
          {
            role: "assistant",
            content: "Let me calculate that.",
            tool_calls: [
              {
                id: made?.callId,
                type: "function",
                function: { name: "calculate_expression", arguments: '{"expression":"12*(3+4)"}' }
              }
            ]
          },
          { role: "tool", tool_call_id: made?.callId, content: made?.text }
        ])

        const answer = `The tool says: ${made?.text}`
        assert.strictEqual(shown(2).join(""), answer)
        assert.isAbove(shown(2).length, 1)
        assert.deepStrictEqual(result, { type: "result", state: "answered", text: answer })
        assert.deepStrictEqual(
          entries.map(({ _tag }) => _tag),
          ["UserMessage", "TurnStarted", "AssistantMessage", "ToolResult", "AssistantMessage", "TurnEnded"]
        )
      }),
    120_000
  )

  it.effect(
    "a request that is refused for the moment is tried again, and the turn goes on",
    () =>
      Effect.gen(function* () {
        const { mock } = yield* World
        mock.nextRequestError(429, { message: "Slow down.", type: "rate_limit_error", code: "rate_limit_exceeded" })
        const { requests, result } = yield* ask("slow")
        assert.deepStrictEqual(statuses(requests), [429, 200, 200])
        assert.deepStrictEqual(requests[1]?.body, requests[0]?.body)
        assert.include(result?.text, `"result":"84"`)
      }),
    120_000
  )

  it.effect(
    "a wrong key fails the turn with a message that says so",
    () =>
      Effect.gen(function* () {
        const { mock } = yield* World
        const at = yield* Program.place
        const path = join(at.home, "config.toml")
        yield* (yield* FileSystem.FileSystem).writeFileString(path, settings(mock.url, "some-other-key"))
        const result = yield* Program.run(at, ["chat", "--once", question])
        assert.strictEqual(result.code, 1, result.stderr)
        assert.match(result.stderr, /The turn failed: .*mock.*key/)
        assert.notInclude(result.stderr, "some-other-key")
      }),
    120_000
  )

  it.effect(
    "a whole turn over the responses API, with reasoning that was encrypted for the way back",
    () =>
      Effect.gen(function* () {
        const { mock } = yield* World
        const at = yield* Program.place
        const path = join(at.home, "config.toml")
        const written = settings(mock.url, apiKey, 'api = "responses"', "gpt-5-mock")
        yield* (yield* FileSystem.FileSystem).writeFileString(path, written)
        mock.clearRequests()
        const result = yield* Program.run(at, ["chat", "--once", question, "--json"])
        assert.strictEqual(result.code, 0, result.stderr)
        const lines = yield* decodeLines(result.stdout.trimEnd().split("\n"))
        const entries = lines.flatMap((line) => (line.type === "entry" ? [line.entry] : []))
        const made = entries.find((entry) => entry._tag === "ToolResult")
        assert.include(made?.text, `"result":"84"`)
        const answer = entries.findLast((entry) => entry._tag === "AssistantMessage")
        assert.strictEqual(answer?.text, `The tool says: ${made?.text}`)

        const requests = mock.getRequests()
        assert.deepStrictEqual(
          requests.map(({ path: asked, response }) => [asked, response.status]),
          [
            ["/v1/responses", 200],
            ["/v1/responses", 200]
          ]
        )
        const thoughts = entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? entry.reasoning : []))
        assert.match(JSON.stringify(thoughts), /"encrypted":"[^"]+"/)
        const second = yield* bodyOf(requests[1])
        const [call, output] = second.messages.slice(-2)
        assert.include(JSON.stringify(call), `"id":"${String(output?.["tool_call_id"])}"`)
        assert.deepInclude(output, { role: "tool", content: made?.text })
      }),
    120_000
  )

  it.effect("a whole answer, for a caller that does not stream", () =>
    Effect.gen(function* () {
      const { mock } = yield* World
      mock.clearRequests()
      const options: OpenAiChat.Options = {
        provider: "mock",
        model: "mock-1",
        info: ModelTable.infoOf("mock-1"),
        baseUrl: `${mock.url}/v1`,
        apiKey: Redacted.make(apiKey),
        requestTimeout: Duration.seconds(30),
        idleTimeout: Duration.seconds(10),
        retry: { attempts: 0, delay: Duration.seconds(1) }
      }
      const transport = yield* Transport.make({ connectTimeout: Duration.seconds(5) })
      const model = yield* OpenAiChat.make(options, Client.make(options, transport))
      const response = yield* model.generateText({ prompt: "hello" })
      assert.strictEqual(response.text, "Hello, too.")
      assert.notProperty(mock.getLastRequest()?.body, "stream")
    })
  )
})
