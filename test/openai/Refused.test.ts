/** What the endpoint refuses, in its protocol's own words, and what it bears. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Net from "node:net"
import * as Endpoint from "./Endpoint.ts"

const { message, send, chat, keys, user, assistant } = Endpoint
const counting = Endpoint.countingLayer

describe("what is refused", () => {
  const sound = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }]
  const cases: ReadonlyArray<readonly [string, string, unknown, number, string | null]> = [
    ["no JSON", "chat/completions", "{", 400, null],
    ["no object", "chat/completions", "[]", 400, null],
    ["no model", "chat/completions", { messages: [user("x")] }, 400, "model"],
    ["an unknown model", "chat/completions", { model: "gpt-5", messages: [user("x")] }, 404, "model"],
    ["no messages", "chat/completions", { model: "troupe" }, 400, "messages"],
    ["empty messages", "chat/completions", { model: "troupe", messages: [] }, 400, "messages"],
    ["blank messages", "chat/completions", { model: "troupe", messages: [user(" ")] }, 400, "messages"],
    [
      "an unknown role",
      "chat/completions",
      { model: "troupe", messages: [message("wizard", "x")] },
      400,
      "messages[0].role"
    ],
    ["a number as content", "chat/completions", { model: "troupe", messages: [user(12)] }, 400, "messages[0].content"],
    ["a sound", "chat/completions", { model: "troupe", messages: [user(sound)] }, 400, "messages[0].content[0]"],
    ["only instructions", "chat/completions", { model: "troupe", messages: [message("system", "x")] }, 400, "messages"],
    [
      "an answer at the end",
      "chat/completions",
      { model: "troupe", messages: [user("x"), assistant("y")] },
      400,
      "messages"
    ],
    ["two answers", "chat/completions", { model: "troupe", n: 2, messages: [user("x")] }, 400, "n"],
    ["sound", "chat/completions", { model: "troupe", modalities: ["audio"], messages: [user("x")] }, 400, "modalities"],
    [
      "a forced call",
      "chat/completions",
      { model: "troupe", tool_choice: "required", messages: [user("x")] },
      400,
      "tool_choice"
    ],
    [
      "a form of the answer",
      "chat/completions",
      { model: "troupe", response_format: { type: "json_object" }, messages: [user("x")] },
      400,
      "response_format"
    ],
    ["too many words", "chat/completions", { model: "troupe", messages: [user("x".repeat(1_000_001))] }, 413, null],
    ["no input", "responses", { model: "troupe" }, 400, "input"],
    ["empty input", "responses", { model: "troupe", input: [] }, 400, "input"],
    [
      "an item's id",
      "responses",
      { model: "troupe", input: [{ type: "item_reference", id: "item_1" }] },
      400,
      "input[0]"
    ],
    [
      "a picture in an item",
      "responses",
      { model: "troupe", input: [user([{ type: "input_image" }])] },
      400,
      "input[0].content[0]"
    ],
    ["the background", "responses", { model: "troupe", input: "x", background: true }, 400, "background"],
    [
      "a form of the text",
      "responses",
      { model: "troupe", input: "x", text: { format: { type: "json_schema" } } },
      400,
      "text.format"
    ]
  ]
  it.live("is refused with the name of the field, before anything is accepted", () =>
    Effect.gen(function* () {
      for (const [name, path, body, status, param] of cases) {
        const answer = yield* send(`/v1/${path}`, body)
        assert.strictEqual(answer.status, status, `${name}: ${answer.body}`)
        assert.strictEqual(answer.json.error.param, param, `${name}: ${answer.body}`)
        assert.strictEqual(answer.json.error.type, "invalid_request_error", name)
        assert.isBelow(answer.body.length, 600, name)
      }
      assert.deepStrictEqual(yield* keys, [])
    }).pipe(Effect.provide(counting))
  )

  it.live("has the protocol's form at the gate and beside the routes, too", () =>
    Effect.gen(function* () {
      const noToken = yield* send("/v1/models", undefined, { authorization: "" })
      assert.strictEqual(noToken.status, 401)
      assert.strictEqual(noToken.json.error.code, "invalid_api_key")
      const stranger = yield* send("/v1/models", undefined, { origin: "https://evil.example" })
      assert.strictEqual(stranger.status, 403)
      assert.strictEqual(stranger.json.error.type, "permission_error")
      const large = yield* send("/v1/responses", "x", { "content-length": "900000000" })
      assert.strictEqual(large.status, 413)
      assert.strictEqual(large.json.error.code, "request_too_large")
      for (const path of ["/v1/embeddings", "/v1/conversations", "/v1/chat"]) {
        const missing = yield* send(path, {})
        assert.strictEqual(missing.status, 404, path)
        assert.strictEqual(missing.json.error.code, "not_found", path)
      }
      // No spelling of any character.
      for (const path of ["/v1/models/%zz", "/v1/models/%ff", "/v1/models/%", "/v1/responses/%zz", "/v1/%zz"]) {
        const misspelt = yield* send(path)
        assert.strictEqual(misspelt.status, 404, path)
        assert.strictEqual(misspelt.json?.error.code, "not_found", path)
      }
      const model = yield* send("/v1/models/gpt-5")
      assert.strictEqual(model.status, 404)
      assert.strictEqual(model.json.error.code, "model_not_found")
    }).pipe(Effect.provide(counting))
  )

  it.live(
    "is refused in the protocol's form, whatever stands in any field",
    () =>
      Effect.gen(function* () {
        const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
        const strange = [
          null,
          true,
          -1,
          1e308,
          "x".repeat(3000),
          "\u0000\u202e",
          [],
          {},
          [[]],
          [{}],
          { type: 1 },
          nested(60)
        ]
        const bodies = {
          "chat/completions": {
            model: "troupe",
            messages: [{ role: "user", content: [{ type: "text", text: "x" }], tool_calls: [] }],
            stream: false,
            stream_options: { include_usage: false },
            n: 1,
            user: "ada",
            metadata: { a: "b" },
            modalities: ["text"],
            response_format: { type: "text" },
            tool_choice: "auto",
            tools: [],
            max_tokens: 1,
            stop: ["x"],
            temperature: 1
          },
          responses: {
            model: "troupe",
            input: [{ type: "message", role: "user", content: "x" }],
            instructions: "be brief",
            stream: false,
            user: "ada",
            metadata: { a: "b" },
            previous_response_id: null,
            conversation: "desk",
            background: false,
            text: { format: { type: "text" } },
            tool_choice: "auto",
            max_output_tokens: 1
          }
        }
        for (const [path, good] of Object.entries(bodies)) {
          for (const field of Object.keys(good)) {
            for (const value of strange) {
              const answer = yield* send(`/v1/${path}`, { ...good, [field]: value })
              const name = `${path} ${field} ${JSON.stringify(value).slice(0, 40)}: ${answer.body.slice(0, 300)}`
              if (answer.status === 200) continue
              assert.include([400, 404], answer.status, name)
              assert.strictEqual(answer.json.error.type, "invalid_request_error", name)
              assert.isTrue(answer.json.error.param === null || answer.json.error.param.startsWith(field), name)
              assert.match(answer.json.error.message, /Expected|There is no agent|There is no response/, name)
              assert.isBelow(answer.body.length, 700, name)
            }
          }
        }
        const deep = `{"model":"troupe","messages":[],"metadata":${"[".repeat(4_000_000)}${"]".repeat(4_000_000)}}`
        assert.include(
          (yield* send("/v1/chat/completions", deep)).json.error.message,
          "nested too deeply. Expected at most 64"
        )
      }).pipe(Effect.provide(counting)),
    120_000
  )

  it.live("is refused by its size and its users as the fields say", () =>
    Effect.gen(function* () {
      const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]))
      const bad: ReadonlyArray<readonly [object, string]> = [
        [{ user: "x".repeat(201) }, "user"],
        [{ user: "a\nb" }, "user"],
        [{ metadata: { a: "x".repeat(513) } }, "metadata.a"],
        [{ metadata: pairs }, "metadata"],
        [{ metadata: { troupe_thread: 5 } }, "metadata.troupe_thread"],
        [{ metadata: { troupe_thread: "a b" } }, "metadata.troupe_thread"],
        [{ messages: [user("\u200b\u3164 ")] }, "messages"]
      ]
      for (const [fields, param] of bad) {
        const answer = yield* send("/v1/chat/completions", { model: "troupe", messages: [user("x")], ...fields })
        assert.deepStrictEqual([answer.status, answer.json.error.param], [400, param], answer.body)
      }
      const blank = yield* send("/v1/responses", { model: "troupe", input: " " })
      assert.deepStrictEqual([blank.status, blank.json.error.param], [400, "input"], blank.body)
      assert.deepStrictEqual(yield* keys, [])
    }).pipe(Effect.provide(counting))
  )

  it.live("is half a body, a body in nonsense pieces, a header twice: the next request is served", () =>
    Effect.gen(function* () {
      const url = new URL(yield* Endpoint.url)
      const head = (more: string) =>
        `POST /v1/chat/completions HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${Endpoint.token}\r\n${more}\r\n\r\n`
      const body = JSON.stringify({ model: "troupe", messages: [user("x")] })
      const raw = [
        `${head("content-length: 500")}${body.slice(0, 20)}`,
        `${head("transfer-encoding: chunked")}5\r\n{"mod\r\nzz\r\nnonsense`,
        `${head("content-length: 5\r\ncontent-length: 6")}{"a":1`,
        `${head("content-length: 5\r\ntransfer-encoding: chunked")}0\r\n\r\n`,
        `${head(`content-length: ${body.length}\r\nauthorization: Bearer wrong\r\nx-troupe-thread: a\r\nx-troupe-thread: b`)}${body}`,
        `${head("content-length: 3\r\ncontent-encoding: gzip")}abc`
      ]
      // Half of it would be another text than was said.
      const latin = Buffer.from(JSON.stringify({ model: "troupe", messages: [user("h\u00e4")] }), "latin1")
      const refused = yield* halfSent(
        url,
        Buffer.concat([Buffer.from(head(`connection: close\r\ncontent-length: ${latin.length}`)), latin])
      )
      assert.include(refused, "HTTP/1.1 400")
      assert.include(refused, "The body is not UTF-8")
      for (const [index, text] of raw.entries()) {
        const answer = yield* halfSent(url, text)
        assert.notInclude(answer, "HTTP/1.1 200", `${index}`)
        assert.notInclude(answer, "    at ", `${index}`)
        assert.notInclude(answer, Endpoint.token, `${index}`)
      }
      assert.deepStrictEqual(yield* keys, [])
      assert.strictEqual((yield* chat([user("hello")])).status, 200)
    }).pipe(Effect.provide(counting))
  )
})

/** Sends a text as it is, says that there is no more, and gives what comes back. */
const halfSent = (url: URL, text: string | Uint8Array): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let received = ""
    const socket = Net.connect(Number(url.port), url.hostname, () => socket.end(text))
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      received += chunk
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(received)))
    return Effect.sync(() => socket.destroy())
  })
