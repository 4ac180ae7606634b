/** Histories that their provider compacts itself, over the wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Client from "../../layers/model/Client.ts"
import * as OpenAiResponses from "../../layers/model/OpenAiResponses.ts"
import * as ResponsesCompact from "../../layers/model/ResponsesCompact.ts"
import * as Transport from "../../layers/model/Transport.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as ModelTable from "../../src/model/ModelTable.ts"
import * as PromptCache from "../../src/model/PromptCache.ts"
import * as History from "../../src/turn/History.ts"
import * as Entries from "../turn/Entries.ts"
import * as Fake from "./FakeOpenAi.ts"
import * as Responses from "./FakeResponses.ts"

const origin = { provider: "fake", model: "gpt-5-fake" }

/** A model of a server that gives these replies. */
const connect = Effect.fnUntraced(function* (replies: ReadonlyArray<Fake.Answering>, retries = 0) {
  const server = yield* Fake.make(replies)
  const options: OpenAiResponses.Options = {
    ...origin,
    info: ModelTable.infoOf(origin.model),
    baseUrl: server.baseUrl,
    promptCache: {},
    requestTimeout: Duration.seconds(20),
    idleTimeout: Duration.seconds(10),
    retry: { attempts: retries, delay: Duration.millis(1) },
    stateMode: "full_messages"
  }
  const client = Client.make(options, yield* Transport.make({ connectTimeout: Duration.seconds(5) }))
  const handle = {
    ...origin,
    languageModel: yield* OpenAiResponses.make(options, client),
    compact: ResponsesCompact.make(options, client)
  }
  return { server, handle }
})

const long = "a long story, ".repeat(50)
const said = Entries.stored([
  Entries.user(1, { text: "tell me" }),
  Entries.started([1]),
  Entries.response(1, [Entries.request(1)], origin),
  Entries.result(1, { text: long }),
  Entries.response(2, [], { ...origin, text: long }),
  Entries.ended(),
  Entries.user(2, { text: "and now?" }),
  Entries.started([2], { turnId: Entries.turn(2) })
])

const everything = (handle: History.Reader) => History.promptBefore(said, 8, handle)
const Body = Schema.Struct({ input: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
const inputOf = (received: Fake.Received | undefined): ReadonlyArray<unknown> =>
  Schema.decodeUnknownSync(Body)(received?.body).input

describe("a history compacted by its provider", () => {
  it.live("goes back as the items that were given, to the same model, and to no other", () =>
    Effect.gen(function* () {
      const { handle, server } = yield* connect([
        Responses.compact("c2hvcnQ="),
        Responses.stream([{ type: "message", pieces: ["Yes."] }])
      ])
      const found = yield* handle.compact(everything(handle)).pipe(Effect.provideService(PromptCache.Key, "thread"))
      assert.deepStrictEqual(found, {
        items: [
          { type: "message", role: "user", content: [{ type: "input_text", text: "tell me" }] },
          Responses.compaction("c2hvcnQ=")
        ],
        inputTokens: 900,
        outputTokens: 30
      })
      assert.deepInclude(server.received[0]?.body, { model: origin.model, prompt_cache_key: "thread" })
      const log = [
        ...said,
        ...Entries.stored(
          [
            Entries.compacted(8, { ...origin, turnId: Entries.turn(2), how: "native", summary: "", items: found.items })
          ],
          9
        )
      ]
      const render = (reader: History.Reader) =>
        History.render(log, { system: "Be brief.", turnId: Entries.turn(2), reader })
      yield* handle.languageModel.generateText({ prompt: render(handle) })
      assert.deepStrictEqual(inputOf(server.received[1]), [
        ...found.items,
        { role: "user", content: [{ type: "input_text", text: "and now?" }] }
      ])
      const whole = JSON.stringify(History.render(said, { system: "Be brief.", turnId: Entries.turn(2) }).content)
      for (const other of [
        { ...handle, model: "gpt-5" },
        { ...handle, provider: "other" },
        { ...handle, compact: undefined }
      ]) {
        const shown = JSON.stringify(render(other).content)
        assert.notInclude(shown, "c2hvcnQ=")
        assert.include(shown, long)
        if (other.model !== origin.model) assert.strictEqual(shown, whole)
      }
    })
  )

  it.live("may be compacted again, with what came after it", () =>
    Effect.gen(function* () {
      const { handle, server } = yield* connect([Responses.compact("YWdhaW4=")])
      const items = [Responses.compaction("c2hvcnQ=".repeat(40))]
      const log = [
        ...said,
        ...Entries.stored(
          [
            Entries.compacted(8, { ...origin, turnId: Entries.turn(2), how: "native", summary: "", items }),
            Entries.response(1, [], { ...origin, turnId: Entries.turn(2), text: "now this" })
          ],
          9
        )
      ]
      yield* handle.compact(History.promptBefore(log, 11, handle))
      assert.deepStrictEqual(inputOf(server.received[0]), [
        ...items,
        { role: "user", content: [{ type: "input_text", text: "and now?" }] },
        { role: "assistant", content: "now this" }
      ])
    })
  )

  it.live("is compacted without reasoning that the provider can read no longer", () =>
    Effect.gen(function* () {
      const unreadable = Fake.json({ error: { code: "invalid_encrypted_content", message: "No." } }, 400)
      const { handle, server } = yield* connect([unreadable, Responses.compact("c2hvcnQ=")])
      yield* handle.compact(everything(handle))
      assert.strictEqual(server.received.length, 2)
    })
  )

  for (const [name, reply, code] of [
    ["has no such endpoint", Fake.json({ error: { message: "no" } }, 404), "model:invalid-request"],
    ["refuses", Fake.json({ error: { message: "not for you" } }, 403), "model:authentication"],
    ["says in a success that it failed", Fake.json({ error: { message: "oh" } }), "model:provider-failed"],
    ["gives no compaction", Fake.json({ output: [{ role: "user", content: "tell me" }] }), "model:invalid-response"],
    ["gives an empty one", Fake.json({ output: [Responses.compaction("")] }), "model:invalid-response"],
    [
      "gives more than there was",
      Fake.json({ output: [Responses.compaction("x".repeat(9000))] }),
      "model:invalid-response"
    ],
    ["answers with something else", Fake.json({ choices: [] }), "model:invalid-response"]
  ] as const) {
    it.live(`fails when the provider ${name}`, () =>
      Effect.gen(function* () {
        const { handle } = yield* connect([reply])
        const error = ModelError.describe(yield* Effect.flip(handle.compact(everything(handle))))
        assert.strictEqual(error.code, code)
      })
    )
  }

  it.live("is asked for again when the provider is busy", () =>
    Effect.gen(function* () {
      const { handle, server } = yield* connect([Fake.json({ error: {} }, 503), Responses.compact("c2hvcnQ=")], 1)
      assert.strictEqual((yield* handle.compact(everything(handle))).items.length, 2)
      assert.strictEqual(server.received.length, 2)
    })
  )

  it.live("that the provider can read no longer is a failure of its own", () =>
    Effect.gen(function* () {
      const unreadable = Fake.json({ error: { code: "invalid_encrypted_content", message: "No." } }, 400)
      const { handle } = yield* connect([unreadable, unreadable])
      const error = yield* Effect.flip(handle.languageModel.generateText({ prompt: everything(handle) }))
      assert.isTrue(ModelError.isUnreadable(error))
    })
  )
})
