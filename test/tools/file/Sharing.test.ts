/** Files on their way to the model and to people, through whole turns. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../../layers/testing/TestRuntime.ts"
import * as Sharing from "../../../layers/tools/file/Sharing.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import type * as Outbox from "../../../src/channel/Outbox.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import * as Scripted from "../../../src/testing/ScriptedModel.ts"
import * as Images from "../../attachment/Images.ts"

const { TestRuntime: Troupe } = TestRuntime
const { text, toolCall } = Scripted

const partsOf = (message: Prompt.Message): ReadonlyArray<string> =>
  message.role === "system"
    ? []
    : message.content.map((part) => {
        if (part.type === "text") return part.text
        return part.type === "file" ? `${part.mediaType} ${part.fileName}` : part.type
      })

const saidLast = Effect.map(
  Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests),
  (all) => all.at(-1)?.prompt.content.slice(1).map(partsOf)
)

const layer = (scripts: Scripted.Scripts, fileStorage: NonNullable<SettingsInput["tools"]>["file_storage"] = {}) =>
  TestRuntime.layer({
    scripts,
    tools: Sharing.layer,
    model: { images: true },
    settings: { tools: { file_storage: { enabled: true, ...fileStorage } } }
  })

/** Puts a managed file in its place. */
const put = (name: string, content: string | Uint8Array) =>
  Effect.map(DataDirectory, (directory) => {
    const at = path.join(directory.file("files"), name)
    fs.mkdirSync(path.dirname(at), { recursive: true })
    fs.writeFileSync(at, content)
    return at
  })

const png = Images.png(800, 600)

describe("self_insert_artifact", () => {
  const insert = (parameters: Record<string, unknown>): Scripted.Scripts => [
    [toolCall("self_insert_artifact", parameters)],
    [text("a cat")]
  ]

  it.effect("shows the model a file with its next request, behind the results of its calls", () =>
    Effect.gen(function* () {
      yield* put("cat.png", png)
      const { answer, entries } = yield* (yield* Troupe).say("what is in cat.png?")
      assert.strictEqual(answer, "a cat")
      assert.deepStrictEqual(yield* saidLast, [
        ["what is in cat.png?"],
        ["tool-call"],
        ["tool-result"],
        ["Look:", "image/png cat.png"]
      ])
      const result = entries.find((entry) => entry._tag === "ToolResult")
      assert.deepInclude(result?.data, { status: "ok", path: "cat.png", mime: "image/png", size: png.length })
      // The thread tells of it, and does not hold it.
      assert.notInclude(JSON.stringify(entries), Buffer.from(png).toString("base64").slice(0, 40))
    }).pipe(Effect.provide(layer(insert({ path: "cat.png", as: "image", role: "system", text: "Look:" }))))
  )

  for (const [name, content, as, code] of [
    ["a.zip", Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0, 0xff), "file", "artifact:unsupported_mime"],
    ["a.png", "no image", "image", "artifact:unsupported_mime"],
    ["empty.txt", "", "file", "artifact:unsupported_mime"],
    ["../a.txt", "x", "file", "file:outside_root"]
  ] as const) {
    it.effect(`refuses ${name}: ${code}`, () =>
      Effect.gen(function* () {
        yield* put(path.basename(name), content)
        const { entries } = yield* (yield* Troupe).say("show it")
        const result = entries.find((entry) => entry._tag === "ToolResult")
        assert.strictEqual(result?.errorCode, code)
        assert.isFalse(entries.some((entry) => entry._tag === "FileInserted"))
      }).pipe(Effect.provide(layer(insert({ path: name, as }))))
    )
  }
})

describe("send_file", () => {
  const send: Scripted.Scripts = [
    [toolCall("send_file", { path: "report.pdf", caption: "The report" })],
    [text("Sent.")]
  ]

  const post = (deliveries: Queue.Queue<Outbox.Delivery>, files: boolean) =>
    Effect.flatMap(Channels, (channels) =>
      Effect.orDie(
        channels.register({
          name: "post",
          capabilities: { approval: false, formatting: ["text"], files },
          deliver: (delivery) => Effect.asVoid(Queue.offer(deliveries, delivery))
        })
      )
    )

  it.effect("has the log say where the file is, for a client that reads it", () =>
    Effect.gen(function* () {
      const absolutePath = yield* put("report.pdf", Images.pdf)
      const { entries } = yield* (yield* Troupe).say("send it")
      const sent = entries.find((entry) => entry._tag === "FileSent")
      assert.deepInclude(sent, {
        file: {
          path: "report.pdf",
          absolutePath,
          name: "report.pdf",
          mediaType: "application/pdf",
          bytes: Images.pdf.length
        },
        caption: "The report"
      })
    }).pipe(Effect.provide(layer(send)))
  )

  it.effect("has a channel that takes files carry it once, before the answer", () =>
    Effect.gen(function* () {
      yield* put("report.pdf", Images.pdf)
      const deliveries = yield* Queue.unbounded<Outbox.Delivery>()
      yield* post(deliveries, true)
      yield* (yield* Troupe).say("send it", { channel: "post" })
      yield* TestClock.adjust("5 seconds")
      const carried = yield* Queue.takeAll(deliveries)
      assert.deepStrictEqual(
        carried.map(({ files, text }) => [text, files?.map(({ path }) => path)]),
        [
          ["The report", ["report.pdf"]],
          ["Sent.", undefined]
        ]
      )
    }).pipe(Effect.provide(layer(send)))
  )

  it.effect("is refused where the channel carries none, and where there is no file", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const deliveries = yield* Queue.unbounded<Outbox.Delivery>()
      yield* post(deliveries, false)
      const codes = (outcome: TestRuntime.Outcome) =>
        outcome.entries.flatMap((entry) => (entry._tag === "ToolResult" ? [entry.errorCode] : []))
      assert.deepStrictEqual(codes(yield* troupe.say("send it", { channel: "post" })), ["file:file_not_found"])
      yield* put("report.pdf", Images.pdf)
      assert.deepStrictEqual(codes(yield* troupe.say("send it", { channel: "post", chat: "other" })), [
        "channel:files_not_taken"
      ])
      assert.isTrue((yield* Queue.takeAll(deliveries)).every(({ files }) => files === undefined))
    }).pipe(Effect.provide(layer([...send, ...send])))
  )
})

describe("files that come with messages", () => {
  const attachments = [
    { name: "../../my c\u00e4t.png", content: png },
    { name: "notes.txt", content: new TextEncoder().encode("Buy milk.") }
  ]

  it.effect("are managed files, and the model is told where", () =>
    Effect.gen(function* () {
      const { entries } = yield* (yield* Troupe).say("look", { attachments })
      const saved = entries.find((entry) => entry._tag === "FilesSaved")
      assert.isDefined(saved)
      const [image = "", notes = ""] = saved?.paths ?? []
      assert.match(String(image), /^uploads\/temp\/my_c_t-[0-9a-z]{16}\.png$/)
      assert.match(String(notes), /^uploads\/temp\/notes-[0-9a-z]{16}-2\.txt$/)
      const at = (yield* DataDirectory).file("files")
      assert.deepStrictEqual(new Uint8Array(fs.readFileSync(path.join(at, String(image)))), png)
      const said = (yield* saidLast)?.flat().join("\n") ?? ""
      assert.include(said, `[file ../../my c\u00e4t.png is the managed file ${image}]`)
      assert.include(said, `[file notes.txt is the managed file ${notes}]`)
    }).pipe(Effect.provide(layer(() => [text("fine")])))
  )

  it.effect("are kept in the folder of the settings", () =>
    Effect.gen(function* () {
      const { entries } = yield* (yield* Troupe).say("look", { attachments })
      const saved = entries.flatMap((entry) => (entry._tag === "FilesSaved" ? entry.paths : []))
      assert.isTrue(saved.length === 2 && saved.every((path) => path?.startsWith("kept/") === true))
    }).pipe(Effect.provide(layer(() => [text("fine")], { save_incoming_uploads: true, uploads_subdir: "kept" })))
  )

  it.effect("stay with their message where managed files are off", () =>
    Effect.gen(function* () {
      const { entries } = yield* (yield* Troupe).say("look", { attachments })
      assert.isFalse(entries.some((entry) => entry._tag === "FilesSaved"))
      assert.isFalse(fs.existsSync((yield* DataDirectory).file("files")))
    }).pipe(Effect.provide(layer(() => [text("fine")], { enabled: false })))
  )
})
