import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as GifSearch from "../../../layers/gif/GifSearch.ts"
import * as SendGifLive from "../../../layers/tools/gif/SendGif.ts"
import * as TestRuntime from "../../../layers/testing/TestRuntime.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import type * as Outbox from "../../../src/channel/Outbox.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import * as Scripted from "../../../src/testing/ScriptedModel.ts"
import * as Images from "../../attachment/Images.ts"
import * as Http from "../../http/Fixtures.ts"
import * as NetworkZoo from "../../rigs/NetworkZoo.ts"

const { TestRuntime: Troupe } = TestRuntime

type Tools = NonNullable<SettingsInput["tools"]>

const key = "gif-key-0123456789abcdef"

/** The tool over the live search, in whole turns, for a model that asks for these. */
const world = (send_gif: Tools["send_gif"], parameters: object = { query: "happy cat" }, more: Tools = {}) =>
  TestRuntime.layer({
    scripts: [[Scripted.toolCall("send_gif", { ...parameters })], [Scripted.text("Look at that.")]],
    tools: Layer.merge(SendGifLive.layer, GifSearch.grant.pipe(Layer.provide(GifSearch.layer), Layer.provide(wayOut))),
    settings: {
      tools: { file_storage: { enabled: true }, ...more, send_gif: { enabled: true, api_key: key, ...send_gif } }
    }
  })

const wayOut = Layer.orDie(Http.layer({ secrets: [Redacted.make(key)] }))

const gif = Images.gif(20, 10, 3)

/** A search of Giphy's protocol that has its pictures too: three, of which the first has a size that is too large. */
const giphy = (behave: (path: string) => Buffer | undefined = () => undefined) =>
  NetworkZoo.keep(({ path: asked, socket, head }) => {
    const host = /\r\nhost: (\S+)/i.exec(head)?.[1] ?? ""
    const own = behave(asked)
    if (own !== undefined) return void socket.end(own)
    if (!asked.startsWith("/v1/gifs/search"))
      return void socket.end(NetworkZoo.response(200, { "content-type": "image/gif" }, gif))
    const data = ["a", "b", "c"].map((id) => ({
      type: "gif",
      id,
      title: `Cat ${id}`,
      url: `https://giphy.com/gifs/${id}`,
      images: {
        original: { url: `http://${host}/media/${id}/large.gif`, size: "90000000", width: "480", height: "270" },
        downsized: { url: `http://${host}/media/${id}/small.gif`, size: "1200" },
        fixed_height: { url: `http://${host}/media/${id}/h.gif`, size: "900", mp4: "x" }
      }
    }))
    const body = JSON.stringify({
      data,
      pagination: { total_count: 3, count: 3, offset: 0 },
      meta: { status: 200, msg: "OK" }
    })
    socket.end(NetworkZoo.response(200, { "content-type": "application/json" }, body))
  })

const at = (server: NetworkZoo.Animal) => ({ provider: "giphy", base_url: server.url() }) as const

const resultOf = ({ entries }: TestRuntime.Outcome) => entries.find((entry) => entry._tag === "ToolResult")

/** The result of the call, on this channel. */
const sending = (channel?: string) =>
  Effect.map(
    Effect.flatMap(Troupe, (troupe) => troupe.say("cheer me up", channel === undefined ? {} : { channel })),
    resultOf
  )

describe("send_gif", () => {
  it.live("sends the best match as a file, in the largest size that may be", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      yield* Effect.gen(function* () {
        const { answer, entries } = yield* (yield* Troupe).say("cheer me up")
        assert.strictEqual(answer, "Look at that.")
        const [search = "", picture = ""] = server.visits.map((visit) => visit.path)
        const asked = new URL(search, server.url()).searchParams
        assert.deepStrictEqual(Object.fromEntries(asked), {
          q: "happy cat",
          limit: "25",
          offset: "0",
          rating: "g",
          api_key: key
        })
        // The key is for the search alone.
        assert.strictEqual(picture, "/media/a/small.gif")
        const sent = entries.find((entry) => entry._tag === "FileSent")
        assert.match(sent?.file.path ?? "", /^gifs\/tmp\/gif-[0-9a-f]{16}\.gif$/)
        assert.deepInclude(sent?.file, { mediaType: "image/gif", bytes: gif.length })
        const directory = yield* DataDirectory
        assert.deepStrictEqual(
          new Uint8Array(fs.readFileSync(path.join(directory.file("files"), sent?.file.path ?? ""))),
          gif
        )
        const result = entries.find((entry) => entry._tag === "ToolResult")
        assert.deepInclude(result?.data, {
          ok: true,
          sent_as: "file",
          title: "Cat a",
          index: 0,
          matches: 3,
          channel: "test"
        })
        assert.notInclude(JSON.stringify(entries), key)
      }).pipe(Effect.provide(world(at(server))))
    }).pipe(Effect.scoped)
  )

  it.live("sends another match, and says how many there are when there is none", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      const third = yield* Effect.provide(sending(), world(at(server), { query: "cat", index: 2 }))
      assert.deepInclude(third?.data, { title: "Cat c", index: 2 })
      const none = yield* Effect.provide(sending(), world(at(server), { query: "cat", index: 3 }))
      assert.strictEqual(none?.errorCode, "gif:no_result")
      assert.include(none?.text, "there are 3 matches, so index may be at most 2")
    }).pipe(Effect.scoped)
  )

  it.live("asks Tenor in its own words", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ path: asked, socket }) => {
        const body = JSON.stringify({
          results: [
            {
              id: "7",
              title: "",
              content_description: "A happy cat",
              itemurl: "https://tenor.com/view/7",
              media_formats: { gif: { url: "/elsewhere", size: 1 }, tinygif: { url: "", size: 2 } }
            }
          ],
          next: ""
        }).replace("/elsewhere", `http://127.0.0.1:${server.port}/7.gif`)
        socket.end(
          asked.startsWith("/v2/search") ? NetworkZoo.response(200, {}, body) : NetworkZoo.response(200, {}, gif)
        )
      })
      const settings = { provider: "tenor", base_url: server.url(), rating: "pg-13" } as const
      const result = yield* Effect.provide(sending(), world(settings))
      assert.deepInclude(result?.data, { sent_as: "file", title: "A happy cat", matches: 1 })
      const asked = new URL(server.visits[0]?.path ?? "", server.url()).searchParams
      assert.deepStrictEqual(Object.fromEntries(asked), {
        q: "happy cat",
        limit: "25",
        contentfilter: "low",
        media_filter: "gif,mediumgif,tinygif",
        key
      })
    }).pipe(Effect.scoped)
  )
})

describe("how it is sent", () => {
  const register = (deliveries: Queue.Queue<Outbox.Delivery>, files: boolean) =>
    Effect.flatMap(Channels, (channels) =>
      Effect.orDie(
        channels.register({
          name: "post",
          capabilities: { approval: false, formatting: ["text"], files },
          deliver: (delivery) => Effect.asVoid(Queue.offer(deliveries, delivery))
        })
      )
    )

  it.live("a channel that carries files has the picture before the answer", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      yield* Effect.gen(function* () {
        const deliveries = yield* Queue.unbounded<Outbox.Delivery>()
        yield* register(deliveries, true)
        assert.deepInclude((yield* sending("post"))?.data, { sent_as: "file", channel: "post" })
        const [first, second] = [yield* Queue.take(deliveries), yield* Queue.take(deliveries)]
        assert.match(first.files?.[0]?.path ?? "", /^gifs\/tmp\//)
        assert.deepInclude(second, { text: "Look at that." })
      }).pipe(Effect.scoped, Effect.provide(world(at(server))))
    }).pipe(Effect.scoped)
  )

  it.live("a channel that carries none has the address, and nothing is downloaded", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      yield* Effect.gen(function* () {
        const deliveries = yield* Queue.unbounded<Outbox.Delivery>()
        yield* register(deliveries, false)
        const url = server.url("/media/a/large.gif")
        assert.deepInclude((yield* sending("post"))?.data, { sent_as: "link", url, path: null })
        assert.deepInclude(yield* Queue.take(deliveries), { text: url })
        assert.lengthOf(server.visits, 1)
      }).pipe(Effect.scoped, Effect.provide(world(at(server))))
    }).pipe(Effect.scoped)
  )

  it.live("where there are no managed files and the client reads the thread, the answer is to hold the address", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      const result = yield* Effect.provide(
        sending(),
        world(at(server), undefined, { file_storage: { enabled: false } })
      )
      assert.deepInclude(result?.data, { sent_as: "none", url: server.url("/media/a/large.gif") })
      assert.include(result?.text, "put the address into your answer")
    }).pipe(Effect.scoped)
  )
})

describe("no picture", () => {
  const refused = (settings: Tools["send_gif"]) => Effect.provide(sending(), world(settings))

  it.live("without a search, and nobody is asked", () =>
    Effect.gen(function* () {
      const result = yield* refused({})
      assert.strictEqual(result?.errorCode, "gif:not_configured")
      assert.include(result?.text, "[tools.send_gif].provider")
    })
  )

  const isSearch = (asked: string) => asked.startsWith("/v1/gifs/search")
  const answers: ReadonlyArray<readonly [what: string, code: string, answer: Buffer]> = [
    ["when nothing is found", "gif:no_result", NetworkZoo.response(200, {}, `{"data":[]}`)],
    ["when the key is wrong", "gif:unauthorized", NetworkZoo.response(401, {}, `{"message":"bad key ${key}"}`)],
    ["when there were too many requests", "gif:rate_limited", NetworkZoo.response(429)],
    ["when the search fails", "gif:search_failed", NetworkZoo.response(500)],
    ["when the search sends its callers elsewhere", "gif:search_failed", NetworkZoo.response(302, { location: "/x" })],
    ["when it answers with a page", "gif:invalid_reply", NetworkZoo.response(200, {}, "<html></html>")],
    ["when it answers with half of the JSON", "gif:invalid_reply", NetworkZoo.response(200, {}, `{"data":[{"id":`)],
    ["when it says more than anybody reads", "gif:invalid_reply", NetworkZoo.response(200, {}, " ".repeat(3_000_000))],
    ["when it hangs up", "gif:unreachable", Buffer.alloc(0)]
  ]
  for (const [what, code, answer] of answers) {
    it.live(`${what}: ${code}`, () =>
      Effect.gen(function* () {
        const server = yield* giphy((asked) => (isSearch(asked) ? answer : undefined))
        const result = yield* refused(at(server))
        assert.strictEqual(result?.errorCode, code, result?.text)
        assert.notInclude(result?.text ?? "", key)
        assert.notInclude(result?.text ?? "", "happy cat")
      }).pipe(Effect.scoped)
    )
  }

  const pictures: ReadonlyArray<readonly [what: string, code: string, answer: Buffer]> = [
    ["that is a page", "gif:not_a_gif", NetworkZoo.response(200, { "content-type": "image/gif" }, "<html></html>")],
    ["that is another kind", "gif:not_a_gif", NetworkZoo.response(200, { "content-type": "image/gif" }, Images.png())],
    [
      "that is larger than was said",
      "gif:too_large",
      NetworkZoo.response(200, {}, Buffer.concat([gif, Buffer.alloc(9000)]))
    ],
    ["that is not there", "gif:unreachable", NetworkZoo.response(404)],
    ["that is cut off", "gif:unreachable", NetworkZoo.response(200, { "content-length": "4000" }, gif)]
  ]
  for (const [what, code, answer] of pictures) {
    it.live(`${what}: ${code}`, () =>
      Effect.gen(function* () {
        const server = yield* giphy((asked) => (isSearch(asked) ? undefined : answer))
        const result = yield* refused({ ...at(server), max_bytes: 8000 })
        assert.strictEqual(result?.errorCode, code, result?.text)
      }).pipe(Effect.scoped)
    )
  }

  it.live("whose every size is larger than taken, or that the search wants to have fetched from inside", () =>
    Effect.gen(function* () {
      const server = yield* giphy()
      assert.strictEqual((yield* refused({ ...at(server), max_bytes: 800 }))?.errorCode, "gif:too_large")
      const data = [{ id: "x", images: { original: { url: "http://127.0.0.1:9/latest/meta-data", size: "10" } } }]
      const inside = yield* giphy((asked) =>
        isSearch(asked) ? NetworkZoo.response(200, {}, JSON.stringify({ data })) : undefined
      )
      const result = yield* refused(at(inside))
      assert.strictEqual(result?.errorCode, "gif:unreachable")
      assert.include(result?.text, "not on the public internet")
    }).pipe(Effect.scoped)
  )

  it.live("that takes longer than it may", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(() => {})
      const result = yield* refused({ ...at(server), timeout_seconds: 0.3 })
      assert.strictEqual(result?.errorCode, "gif:timeout")
      yield* server.deserted
    }).pipe(Effect.scoped)
  )
})
