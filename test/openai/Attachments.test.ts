/** Images and files through the interfaces: the OpenAI-compatible endpoint, the typed calls, and the client of promises. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { createTroupe, TroupeError } from "../../src/client/Troupe.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Images from "../attachment/Images.ts"
import * as Endpoint from "./Endpoint.ts"

const { assistant, chat, heard, message, user } = Endpoint
const layer = Endpoint.layer({ scripts: Endpoint.counting, model: { images: true } })

const url = Images.dataUrl(Images.png(800, 600))
const image = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url, detail: "low" } }
]
const items = [
  { type: "input_text", text: "What is this?" },
  { type: "input_image", image_url: url },
  { type: "input_file", filename: "paper.pdf", file_data: Images.dataUrl(Images.pdf, "application/pdf") }
]
const respond = (input: unknown) => Endpoint.respond({ input })

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )

describe("the OpenAI-compatible endpoint", () => {
  it.live("takes images of a chat completion, and finds the conversation again with them in it", () =>
    Effect.gen(function* () {
      const first = yield* chat([user(image)])
      assert.strictEqual(first.status, 200, first.body)
      assert.deepStrictEqual((yield* heard)[0], ["user: What is this?(file)"])
      const second = yield* chat([user(image), assistant("answer 1"), user("And now?")])
      assert.strictEqual(second.header("x-troupe-thread-id"), first.header("x-troupe-thread-id"))
      assert.deepStrictEqual((yield* heard)[1], ["user: What is this?(file)", "assistant: answer 1", "user: And now?"])
      // The same words with another image are another conversation, which is told that there was one.
      const other = [image[0], { type: "image_url", image_url: { url: Images.dataUrl(Images.png(8, 6)) } }]
      const third = yield* chat([user(other), assistant("answer 1"), user("And now?")])
      assert.notStrictEqual(third.header("x-troupe-thread-id"), first.header("x-troupe-thread-id"))
      assert.include((yield* heard)[2]?.[0], '"files":["file (not shown here)"]')
      assert.strictEqual(yield* count("attachments"), 1)
    }).pipe(Effect.provide(layer))
  )

  it.live("takes images and files of a response, without words as well", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* respond([user(items)])).status, 200)
      assert.strictEqual((yield* respond([user(items.slice(1, 2))])).status, 200)
      assert.deepStrictEqual(yield* heard, [["user: What is this?(file)(file)"], ["user: (file)"]])
    }).pipe(Effect.provide(layer))
  )

  const part = (more: object) => [user([{ type: "text", text: "x" }, more])]
  const remote = "https://example.com/cat.png"
  for (const [name, path, body, param, code] of [
    [
      "a remote image",
      "chat",
      part({ type: "image_url", image_url: { url: remote } }),
      "messages[0].content[1]",
      "remote_content"
    ],
    [
      "a remote image",
      "responses",
      part({ type: "input_image", image_url: remote }),
      "input[0].content[1]",
      "remote_content"
    ],
    [
      "a file that is kept elsewhere",
      "responses",
      part({ type: "input_file", file_id: "file-1" }),
      "input[0].content[1]",
      "remote_content"
    ],
    ["sound", "chat", part({ type: "input_audio", input_audio: {} }), "messages[0].content[1]", "unsupported_content"],
    [
      "what is no image",
      "chat",
      part({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
      "messages",
      "attachment_refused"
    ],
    [
      "what is no base64",
      "chat",
      part({ type: "image_url", image_url: { url: "data:image/png;base64,*" } }),
      "messages",
      "attachment_refused"
    ],
    [
      "20000 pixels on a side",
      "responses",
      part({ type: "input_image", image_url: Images.dataUrl(Images.png(20_000, 2)) }),
      "input",
      "attachment_refused"
    ],
    [
      "an image of a tool",
      "chat",
      [user("x"), assistant("y"), message("tool", image)],
      "messages[2].content[1]",
      "unsupported_content"
    ]
  ] as const) {
    it.live(`F138: refuses ${name} (${path}), and nothing of it is accepted`, () =>
      Effect.gen(function* () {
        const answer = yield* path === "chat" ? chat(body) : respond(body)
        assert.strictEqual(answer.status, 400, answer.body)
        assert.deepInclude(answer.json.error, { param, code })
        assert.notInclude(answer.body, "example.com")
        assert.deepStrictEqual([yield* count("attachments"), yield* count("inbox")], [0, 0])
      }).pipe(Effect.provide(layer))
    )
  }

  it.live("keeps what it cannot look at in what was said before as a mark", () =>
    Effect.gen(function* () {
      const parts = [
        { type: "image_url", image_url: { url: remote } },
        { type: "input_audio", input_audio: {} }
      ]
      assert.strictEqual((yield* chat([user(parts), assistant("A cat."), user("and now?")])).status, 200)
      assert.include((yield* heard)[0]?.[0], '{"role":"user","text":"[image_url][input_audio]"}')
    }).pipe(Effect.provide(layer))
  )
})

describe("the client of promises", () => {
  const against = (run: (troupe: ReturnType<typeof createTroupe>) => Promise<void>) =>
    Effect.gen(function* () {
      const troupe = createTroupe({ url: yield* Endpoint.url, token: Endpoint.token, name: "tests" })
      yield* Effect.promise(() => run(troupe).finally(() => troupe.close()))
    })
  const thread = "rpc:images"

  it.live("sends files along; the history tells of them and does not hold them", () =>
    Effect.gen(function* () {
      yield* against(async (troupe) => {
        const content = Images.png(800, 600)
        const answer = await troupe.send("look", { thread, attachments: [{ name: "cat.png", content }] })
        assert.strictEqual(answer.text, "answer 1")
        const history = JSON.stringify(await troupe.history(thread))
        assert.include(history, '"name":"cat.png","mediaType":"image/png"')
        assert.notInclude(history, url.slice(-40))
      })
      assert.deepStrictEqual((yield* heard)[0], ["user: look(file)"])
    }).pipe(Effect.provide(layer))
  )

  it.live("is told why one cannot come, by a code", () =>
    Effect.gen(function* () {
      yield* against(async (troupe) => {
        const sending = troupe.send("look", { thread, attachments: [{ name: "cat.png", content: new Uint8Array() }] })
        const error = await sending.then(
          () => undefined,
          (refused: unknown) => refused
        )
        assert.instanceOf(error, TroupeError)
        assert.deepInclude(error, {
          code: "attachment_refused",
          message: "attachments[0]: Expected a file with something in it; found an empty one."
        })
      })
      assert.strictEqual(yield* count("inbox"), 0)
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [[ScriptedModel.text("no")]] })))
  )
})
