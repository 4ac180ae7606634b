import { assert, describe, it } from "@effect/vitest"
import * as Zlib from "node:zlib"
import * as NodeDns from "@effect/platform-node/NodeDns"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Outbound from "../../../layers/http/Outbound.ts"
import * as HttpRequestLive from "../../../layers/tools/http/HttpRequest.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { KnownSecrets } from "../../../src/secret/KnownSecrets.ts"
import { ToolCalls } from "../../../src/tool/ToolCalls.ts"
import * as NetworkZoo from "../../rigs/NetworkZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

type Tools = NonNullable<SettingsInput["tools"]>
type HttpClient = NonNullable<Tools["http_client"]>

const world = (http_client: HttpClient = {}, more: Partial<Tools> = {}, policy: SettingsInput["policy"] = {}) => {
  const settings = {
    policy,
    outbound: { allow_private: true },
    tools: { ...more, http_client: { enabled: true, timeout_seconds: 5, ...http_client } }
  }
  return HttpRequestLive.layer.pipe(
    Layer.provideMerge(Outbound.grant),
    Layer.provideMerge(Outbound.layer),
    Layer.provideMerge(Layer.merge(NodeDns.layer, KnownSecrets.layer())),
    Layer.provideMerge(Fixtures.pipeline(settings))
  )
}

const call = (parameters: object) =>
  Effect.flatMap(Fixtures.startTurn(), (turn) => Fixtures.callTool(turn, "http_request", parameters))

const page = `<html><head><title>T</title><script>x</script></head><body><p>See <a href="/b">b</a>.</p></body></html>`

/** A server that sends this body to everybody. */
const serving = (type: string, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  NetworkZoo.says(NetworkZoo.response(200, { "content-type": type, ...headers }, body))

describe("http_request", () => {
  it.live("gives status, headers and body, and an error status is a result too", () =>
    Effect.gen(function* () {
      const headers = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, String(at)]))
      const server = yield* NetworkZoo.says(
        NetworkZoo.response(
          404,
          { "Content-Type": "text/plain", "Set-Cookie": "a=1\r\nSet-Cookie: b=2", ...headers },
          "none"
        )
      )
      const result = yield* call({ url: server.url() })
      assert.strictEqual(result.status, "success")
      assert.deepInclude(result.data, {
        status: 404,
        body: "none",
        body_storage: "inline",
        body_file_path: null,
        body_notice: null,
        truncated: false,
        truncated_chars: false,
        processor_used: "whitespace",
        content_type: "text/plain"
      })
      assert.include(result.text, '"set-cookie":"a=1, b=2"')
      assert.include(result.text, '"x-6":"6"')
      assert.notInclude(result.text, '"x-7"')
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("sends every method, and a body or JSON, and not both", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200))
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]) {
        assert.strictEqual((yield* call({ url: server.url("/x"), method })).status, "success", method)
        assert.match(server.visits.at(-1)?.head ?? "", new RegExp(`^${method} /x `))
      }
      yield* call({ url: server.url(), method: "POST", json: '{"a": 1}' })
      assert.match(server.visits.at(-1)?.head ?? "", /content-type: application\/json/i)
      assert.match(server.visits.at(-1)?.head ?? "", /content-length: 8/i)
      yield* call({ url: server.url(), method: "POST", json: "[]", headers: { "Content-Type": "application/x+json" } })
      assert.match(server.visits.at(-1)?.head ?? "", /content-type: application\/x\+json/i)
      const sent = server.visits.length
      const both = yield* call({ url: server.url(), method: "POST", json: "[]", body: "x" })
      assert.strictEqual(both.errorCode, "http:body_and_json")
      assert.strictEqual((yield* call({ url: server.url(), json: "{a}" })).errorCode, "http:invalid_json")
      assert.strictEqual((yield* call({ url: server.url(), method: "TRACE" })).outcome, "invalid")
      assert.lengthOf(server.visits, sent)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("follows redirections only where the settings say so", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ path, socket }) =>
        socket.end(
          path === "/" ? NetworkZoo.response(302, { location: "/there" }) : NetworkZoo.response(200, {}, "there")
        )
      )
      const stayed = yield* Effect.provide(call({ url: server.url() }), world())
      assert.deepInclude(stayed.data, { status: 302 })
      const followed = yield* Effect.provide(call({ url: server.url() }), world({ follow_redirects: true }))
      assert.deepInclude(followed.data, { status: 200, body: "there" })
    }).pipe(Effect.scoped)
  )

  it.live("follows no redirection to where a rule would not let it go unasked", () =>
    Effect.gen(function* () {
      const landing = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "landed"))
      const away = landing.url("/landed").replace("127.0.0.1", "localhost")
      const server = yield* NetworkZoo.keep(({ path, socket }) =>
        socket.end(
          path === "/here"
            ? NetworkZoo.response(200, {}, "here")
            : NetworkZoo.response(307, { location: path === "/stay" ? "/here" : away })
        )
      )
      const redirected = (policy: SettingsInput["policy"], path: string, method = "GET") =>
        Effect.provide(call({ url: server.url(path), method }), world({ follow_redirects: true }, {}, policy))
      for (const decision of ["deny", "ask"] as const) {
        const rules = { away: { decision, hosts: ["localhost"] } }
        const refused = yield* redirected({ rules }, "/away")
        assert.strictEqual(refused.errorCode, "http:redirect_not_allowed")
        assert.deepInclude((yield* redirected({ rules }, "/stay")).data, { status: 200, body: "here" })
      }
      // Where it leads is what a server says: a request that changes something is not taken there unasked.
      assert.strictEqual((yield* redirected({}, "/away", "POST")).errorCode, "http:redirect_not_allowed")
      assert.lengthOf(landing.visits, 0)
      assert.deepInclude((yield* redirected({}, "/away")).data, { status: 200, body: "landed" })
      assert.deepInclude((yield* redirected({}, "/stay", "POST")).data, { status: 200, body: "here" })
    }).pipe(Effect.scoped)
  )

  it.live("F060 says why it failed, without what the request held, and shows no header to anybody who watches", () =>
    Effect.gen(function* () {
      const watched = yield* Fixtures.recordEvents
      const result = yield* call({
        url: "http://169.254.169.254/latest?token=abcdef",
        headers: { authorization: "Bearer hidden-word" }
      })
      assert.strictEqual(result.errorCode, "http:private_address")
      assert.include(result.text, "169.254.169.254")
      assert.include(result.text, "failure_signature")
      assert.notMatch(result.text, /latest|abcdef|hidden/)
      assert.notMatch(JSON.stringify(yield* watched.all), /abcdef|hidden-word/)
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("F060 sends nothing where a masked secret stands in the call, and names the parameter", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200))
      const post = { url: server.url(), method: "POST" }
      const asked: ReadonlyArray<readonly [string, object]> = [
        ["url", { url: server.url("/?key=[redacted]") }],
        ["url", { url: server.url("/?key=%5Bredacted%5D&more=1") }],
        ["url", { url: server.url("/?key=%5bredacted%5d") }],
        ["headers", { url: server.url(), headers: { authorization: "Bearer [redacted]" } }],
        ["headers", { url: server.url(), headers: { "[redacted]": "x" } }],
        ["body", { ...post, body: "key=[redacted]" }],
        ["json", { ...post, json: '{"key": "[redacted]"}' }],
        ["json", { ...post, json: '{"key": [redacted]}' }]
      ]
      for (const [field, parameters] of asked) {
        const result = yield* call(parameters)
        assert.strictEqual(result.errorCode, "http:masked_value", JSON.stringify(parameters))
        assert.include(result.text, `${field} holds [redacted]`)
      }
      assert.lengthOf(server.visits, 0)
      assert.strictEqual((yield* call({ ...post, body: "redacted, [REDACTED]" })).status, "success")
    }).pipe(Effect.scoped, Effect.provide(world()))
  )

  it.live("may run again after a restart where it only reads", () =>
    Effect.gen(function* () {
      const calls = yield* ToolCalls
      const replay = (parameters: object) =>
        calls.replay({ name: "http_request", arguments: JSON.stringify(parameters) })
      const url = "http://example.org/"
      assert.strictEqual(yield* replay({ url }), "safe")
      for (const method of ["GET", "HEAD", "OPTIONS"]) assert.strictEqual(yield* replay({ url, method }), "safe")
      for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
        assert.strictEqual(yield* replay({ url, method }), "unknown", method)
      }
      assert.strictEqual(yield* replay({}), "unknown")
    }).pipe(Effect.provide(world()))
  )
})

describe("what is made of a body", () => {
  const said = (type: string, body: string | Uint8Array, settings: HttpClient = {}) =>
    Effect.gen(function* () {
      const server = yield* serving(type, body)
      const { data } = yield* call({ url: server.url() }).pipe(Effect.provide(world(settings)))
      return data
    }).pipe(Effect.scoped)

  it.live("is for its type and the settings", () =>
    Effect.gen(function* () {
      const html = "text/html; charset=utf-8"
      const compact = 'title "T"\np\n "See"\n a "b" /b\n "."'
      assert.deepInclude(yield* said(html, page), { body: compact, processor_used: "compact" })
      assert.deepInclude(yield* said(html, page, { response_processing_mode: "compact" }), { body: compact })
      assert.deepInclude(yield* said(html, page, { response_processing_mode: "none" }), {
        body: page,
        processor_used: "none"
      })
      const text = yield* said(html, page, { response_processing_mode: "text" })
      assert.deepInclude(text, { body: "T\n\nSee b.", processor_used: "text" })
      const json = '{ "a":   1 }\n\n\n\n'
      assert.deepInclude(yield* said("application/json", json), { body: json, processor_used: "json" })
      const loose = "a   b \r\n\r\n\r\n\n c"
      assert.deepInclude(yield* said("text/plain", loose), { body: "a b\n\nc", processor_used: "whitespace" })
      const kept = yield* said("text/plain", loose, { normalize_whitespace: false })
      assert.deepInclude(kept, { body: loose, processor_used: "none" })
      assert.deepInclude(yield* said("image/png", Uint8Array.of(137, 80, 78, 71, 0)), {
        body: "",
        body_notice: "The body is no text and is not shown."
      })
    })
  )

  it.live("is text in the encoding that it is in", () =>
    Effect.gen(function* () {
      const body = (type: string, bytes: Uint8Array) => Effect.map(said(type, bytes), (data) => JSON.stringify(data))
      const latin1 = Buffer.from("gr\u00fc\u00dfe", "latin1")
      assert.include(yield* body("text/plain; charset=iso-8859-1", latin1), '"body":"grüße"')
      assert.include(yield* body('text/plain; charset="windows-1252"', latin1), '"body":"grüße"')
      assert.include(yield* body("text/plain", latin1), '"body":"gr\uFFFD\uFFFDe"')
      assert.include(yield* body("text/plain; charset=nonsense", Buffer.from("grüße")), '"body":"grüße"')
      const gbk = Uint8Array.of(0xc4, 0xe3, 0xba, 0xc3)
      assert.include(yield* body("text/plain; charset=gbk", gbk), '"body":"你好"')
      const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("grüße", "utf16le")])
      assert.include(yield* body("text/plain; charset=iso-8859-1", utf16), '"body":"grüße"')
      const meta = Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Uint8Array.of(0x83, 0x65)])
      assert.include(yield* body("text/html", meta), "テ")
    })
  )

  it.live("F056 is cut, and says so", () =>
    Effect.gen(function* () {
      const long = "word ".repeat(20_000)
      const cut = yield* said("text/plain", long, { max_bytes: 1000 })
      assert.deepInclude(cut, { truncated: true, truncated_chars: false, body: "word ".repeat(200).trim() })
      assert.include(JSON.stringify(cut), "longer than what is read")
      const chars = yield* said("text/plain", long, { max_chars: 100, max_bytes: 200_000 })
      assert.deepInclude(chars, {
        truncated: false,
        truncated_chars: true,
        body_notice: "Only the first 100 characters are shown."
      })
      const many = `<p>${"<a href=/x>link</a> ".repeat(10_000)}`
      assert.deepInclude(yield* said("text/html", many), { truncated: false, truncated_chars: true })
      assert.deepInclude(yield* said("text/html", many, { max_parse_bytes: 500, max_bytes: 400 }), { truncated: true })
      const server = yield* NetworkZoo.says(
        NetworkZoo.response(200, { "content-encoding": "gzip" }, Zlib.gzipSync(Buffer.alloc(500_000_000)))
      )
      const bomb = yield* Effect.provide(call({ url: server.url() }), world())
      assert.strictEqual(bomb.errorCode, "http:decompression_bomb")
    }).pipe(Effect.scoped)
  )
})

describe("a long body", () => {
  const spilling = { spill_to_managed_file: true, spill_after_chars: 1000, spill_preview_chars: 50 }
  const files = { file_storage: { enabled: true } }
  const Pointer = (data: unknown): { readonly path: string; readonly absolute: string; readonly all: string } => {
    const all = JSON.stringify(data)
    const field = (name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(all)?.[1] ?? ""
    return { path: field("body_file_path"), absolute: field("body_file_absolute_path"), all }
  }

  it.live("F135 goes to a managed file as it was sent, and the model sees its beginning and where it is", () =>
    Effect.gen(function* () {
      const body = `<p>${"<a href=/x>link</a> ".repeat(500)}`
      const server = yield* serving("text/html", body)
      const { data } = yield* call({ url: server.url("/docs/page.php?q=1") })
      assert.deepInclude(data, {
        body: 'p\n a "link" /x\n a "link" /x\n a "link" /x\n a "link" /x'.slice(0, 50),
        body_storage: "managed_file",
        body_file_bytes_written: body.length,
        truncated: false
      })
      const { absolute, path } = Pointer(data)
      assert.match(path, /^http_responses\/tmp\/127\.0\.0\.1-page-[0-9a-f]{8}-[0-9a-z]{16}\.html$/)
      assert.strictEqual(yield* (yield* FileSystem.FileSystem).readFileString(absolute), body)
      const image = yield* serving("image/png", Uint8Array.of(1, 2, 3))
      const picture = yield* call({ url: image.url() })
      assert.match(Pointer(picture.data).path, /\.png$/)
      const again = yield* call({ url: server.url("/docs/page.php?q=1") })
      assert.notStrictEqual(Pointer(again.data).path, path)
    }).pipe(Effect.scoped, Effect.provide(world(spilling, files)))
  )

  it.live("stays inline where it may not be written, is too large, or cannot be written, and says which", () =>
    Effect.gen(function* () {
      const server = yield* serving("text/plain", "word ".repeat(1000))
      const notice = (settings: HttpClient, more: Partial<Tools> = files) =>
        Effect.map(
          Effect.provide(call({ url: server.url() }), world({ ...spilling, ...settings }, more)),
          ({ data }) => {
            assert.deepInclude(data, { body_storage: "inline", body_file_path: null })
            return Pointer(data).all
          }
        )
      assert.include(yield* notice({}, {}), '"body_notice":null')
      assert.include(yield* notice({ max_spill_bytes: 100 }), "not written to a file, since it has more than 100 bytes")
      assert.include(yield* notice({ max_spill_bytes: 4000, max_parse_bytes: 10, max_bytes: 10 }), '"truncated":true')
    }).pipe(Effect.scoped)
  )
})
