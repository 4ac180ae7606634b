/** Images and files that come with messages: who is shown them, and that none of them gets in the way of what comes later. */
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Images from "../attachment/Images.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime
const { fail, finish, text } = Scripted

const image = { name: "cat.png", content: Images.png(800, 600) }
const note = `[file cat.png (image/png, ${image.content.length} bytes, 800 × 600 pixels), not shown here]`

/** What each part of the messages to a model is. */
const partsOf = (message: Prompt.Message): ReadonlyArray<string> =>
  message.role === "system"
    ? []
    : message.content.map((part) => {
        if (part.type === "text") return part.text
        return part.type === "file" ? `${part.mediaType} ${part.fileName}` : part.type
      })

const asked = Effect.map(
  Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests),
  (all) => all.map(({ model, prompt }) => ({ model, said: prompt.content.slice(1).map(partsOf) }))
)
const saidLast = Effect.map(asked, (all) => all.at(-1)?.said)

const layer = (
  scripts: Scripted.Scripts,
  model: Scripted.Options = { images: true },
  more: Partial<TestRuntime.Options> = {}
) => TestRuntime.layer({ scripts, tools: Fixtures.echo, model, ...more })

const fine: Scripted.Scripts = () => [text("fine")]

describe("a message with files", () => {
  it.effect("shows them to a model that takes images, in every later request as well", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const notes = { name: "notes.txt", content: new TextEncoder().encode("Buy milk.") }
      const first = yield* troupe.say("look", {
        attachments: [image, { name: "paper.pdf", content: Images.pdf }, notes]
      })
      const shown = [
        "look",
        "image/png cat.png",
        "application/pdf paper.pdf",
        "[file notes.txt]\nBuy milk.\n[end of file notes.txt]"
      ]
      assert.deepStrictEqual(yield* saidLast, [shown])
      yield* troupe.say("and?")
      assert.deepStrictEqual(yield* saidLast, [shown, ["fine"], ["and?"]])
      // The thread tells of them, and does not hold them.
      const written = JSON.stringify(first.entries)
      assert.include(written, '"width":800')
      assert.notInclude(written, "iVBOR")
      assert.notInclude(written, "Buy milk")
    }).pipe(Effect.provide(layer(fine)))
  )

  it.effect("is told of them in words where the model is not known to take images", () =>
    Effect.gen(function* () {
      yield* (yield* Troupe).say("look", { attachments: [image] })
      assert.deepStrictEqual(yield* saidLast, [["look", note]])
    }).pipe(Effect.provide(layer(fine, {})))
  )

  it.effect("is told of those whose content has come to the end of its time", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say("look", { attachments: [image] })
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM attachments`
      yield* troupe.say("and?")
      assert.deepStrictEqual(yield* saidLast, [["look", note], ["fine"], ["and?"]])
    }).pipe(Effect.provide(layer(fine)))
  )

  it.effect("shows the latest that one request may hold", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      // 4 MB each as base64, and 16 MB in one request.
      const large = (n: number) => ({ name: `${n}.png`, content: Images.png(8, 6, 3_000_000 + n) })
      for (let n = 1; n <= 5; n++) yield* troupe.say(`${n}`, { attachments: [large(n)] })
      const said = (yield* saidLast)?.flat().filter((part) => part.includes("png"))
      assert.include(said?.[0], "[file 1.png")
      assert.deepStrictEqual(said?.slice(2), ["image/png 3.png", "image/png 4.png", "image/png 5.png"])
    }).pipe(Effect.provide(layer(fine)))
  )

  it.effect("F138: that the provider refuses is not sent again: the next plain message works", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say("look", { attachments: [image] })
      assert.strictEqual((yield* troupe.say("and this", { attachments: [image] })).state, "failed")
      assert.strictEqual((yield* troupe.say("never mind")).answer, "fine")
      assert.deepStrictEqual(
        (yield* saidLast)?.flat().filter((part) => part.includes("cat.png")),
        [note, note]
      )
      assert.strictEqual((yield* troupe.say("this?", { attachments: [image] })).answer, "fine")
      assert.isTrue((yield* saidLast)?.flat().includes("image/png cat.png"))
    }).pipe(
      Effect.provide(
        layer(({ index }) =>
          index === 1
            ? [fail(new AiError.InvalidRequestError({ description: "The image cannot be processed" }))]
            : [text("fine")]
        )
      )
    )
  )

  it.effect("counts what it shows when nobody counts the tokens", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say("look", { attachments: [image] })
      const second = yield* troupe.say("and?")
      assert.isTrue(second.entries.some(({ _tag }) => _tag === "Compacted"))
    }).pipe(
      Effect.provide(
        layer(
          () => [text("fine"), finish("stop", { input: 0 })],
          { images: true },
          {
            settings: { memory: { max_history_tokens: 1700 } }
          }
        )
      )
    )
  )
})
