import * as NodeWS from "@effect/platform-node/NodeWS"
import { assert, describe, it as test, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Limits from "../../layers/rpc/Limits.ts"
import * as Server from "../../layers/rpc/Server.ts"
import { TroupeClient } from "../../src/client/TroupeClient.ts"
import * as Unreachable from "../../src/client/Unreachable.ts"
import type { WatchItem } from "../../src/conversation/Conversations.ts"
import * as Ids from "../../src/Ids.ts"
import { InvalidRequest } from "../../src/rpc/TroupeRpcs.ts"
import * as Wire from "../../src/rpc/Wire.ts"
import { StorageUnavailable } from "../../src/storage/StorageError.ts"
import { pageBytes, ThreadKey, Threads } from "../../src/thread/Threads.ts"
import * as FakeConversations from "./FakeConversations.ts"
import { Stage } from "./FakeConversations.ts"
import * as RawHttp from "./RawHttp.ts"
import * as TestServer from "./TestServer.ts"

const secret = Redacted.value(TestServer.token)
const bearer = { authorization: `Bearer ${secret}` }
const thread = ThreadKey.make("console:main")
const asked = (tag: string, payload: unknown, headers: ReadonlyArray<readonly [string, string]> = []) =>
  `${JSON.stringify({ _tag: "Request", id: "1", tag, payload, headers })}\n`
const Message = Schema.fromJsonString(
  Schema.Struct({ _tag: Schema.String, exit: Schema.optional(Schema.Unknown), defect: Schema.optional(Schema.Unknown) })
)

layer(TestServer.layerWithStage({ settings: { http: { allowed_origins: ["https://chat.example"] } } }), {
  excludeTestServices: true
})("who is let in", (it) => {
  const routes = [
    { method: "POST", path: "/rpc" },
    { method: "GET", path: "/rpc" },
    { method: "GET", path: "/rpc/ws" },
    { method: "GET", path: "/" },
    { method: "GET", path: "/nothing" },
    { method: "POST", path: "/health" },
    { method: "GET", path: "//health" },
    { method: "GET", path: "/health/" },
    { method: "GET", path: "/health?x=1" },
    { method: "GET", path: "/%68ealth" },
    { method: "DELETE", path: "/rpc" },
    { method: "OPTIONS", path: "/rpc" }
  ]
  for (const route of routes) {
    it.effect(`${route.method} ${route.path} needs the token`, () =>
      Effect.gen(function* () {
        const url = yield* TestServer.url
        const tries = [
          {},
          { authorization: "Bearer wrong-token-0123456789abcd" },
          { authorization: `Basic ${secret}` },
          { authorization: `Bearer ${secret}x` },
          { authorization: `Bearer ${secret.slice(0, -1)}` },
          { authorization: "Bearer" },
          { cookie: `token=${secret}` }
        ]
        for (const headers of tries) {
          const answer = yield* RawHttp.send(url, { ...route, headers })
          assert.strictEqual(answer.status, 401, JSON.stringify(headers))
          assert.notInclude(answer.head + answer.body, secret)
        }
      })
    )
  }

  it.effect("the token in an address lets nobody in", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      for (const query of [`?token=${secret}`, `?access_token=${secret}`, `?auth_token=${secret}`]) {
        assert.strictEqual((yield* RawHttp.send(url, { method: "POST", path: `/rpc${query}` })).status, 401)
        assert.strictEqual((yield* RawHttp.send(url, RawHttp.handshake({}, `/rpc/ws${query}`))).status, 401)
      }
    })
  )

  it.effect("the health check answers without a token and tells about progress", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const well = yield* RawHttp.send(url, { path: "/health" })
      assert.strictEqual(well.status, 200)
      assert.include(well.body, `{"status":"ok","oldest_owed_ms":null}`)
      TestServer.setOldestOwed(10_000_000)
      const behind = yield* RawHttp.send(url, { path: "/health" })
      TestServer.setOldestOwed(null)
      assert.strictEqual(behind.status, 503)
      assert.include(behind.body, `{"status":"behind","oldest_owed_ms":10000000}`)
      TestServer.setStorageFailing({ reason: "full", since: 1 })
      const failing = yield* RawHttp.send(url, { path: "/health" })
      TestServer.setStorageFailing(null)
      assert.strictEqual(failing.status, 503)
      assert.include(failing.body, `{"status":"failing","oldest_owed_ms":null,"problem":"the disk is full.`)
    })
  )

  const places = (host: string): ReadonlyArray<readonly [string, Readonly<Record<string, string>>, boolean]> => [
    ["no Origin", {}, true],
    ["own Origin", { origin: `http://${host}` }, true],
    ["own Origin, upper case", { origin: `HTTP://${host.toUpperCase()}` }, true],
    ["an allowed Origin", { origin: "https://chat.example" }, true],
    ["an allowed Origin, upper case", { origin: "HTTPS://CHAT.EXAMPLE" }, true],
    ["localhost with our port", { host: host.replace("127.0.0.1", "LocalHost") }, true],
    ["[::1] with our port", { host: host.replace("127.0.0.1", "[::1]") }, true],
    ["a proxy's Host", { host: "chat.example" }, true],
    ["a foreign Origin", { origin: "https://evil.example" }, false],
    ["the null Origin", { origin: "null" }, false],
    ["an empty Origin", { origin: "" }, false],
    ["an Origin with our name in it", { origin: `http://${host}.evil.example` }, false],
    ["an Origin with a user", { origin: `http://${host}@evil.example` }, false],
    ["an Origin of another port", { origin: "http://127.0.0.1:1" }, false],
    ["an extension's Origin", { origin: "chrome-extension://abcdef" }, false],
    ["an allowed Origin over http", { origin: "http://chat.example" }, false],
    ["a foreign Host", { host: host.replace("127.0.0.1", "evil.example") }, false],
    ["a foreign Host, upper case", { host: host.replace("127.0.0.1", "EVIL.EXAMPLE") }, false],
    ["a Host that begins like ours", { host: `localhost.evil.example:${host.split(":")[1]}` }, false],
    ["another port", { host: "127.0.0.1:1" }, false],
    ["no port", { host: "localhost" }, false],
    ["another address", { host: host.replace("127.0.0.1", "192.168.0.7") }, false],
    ["another IPv6 address", { host: host.replace("127.0.0.1", "[fe80::1]") }, false],
    ["an empty Host", { host: "" }, false],
    ["a Host with a user", { host: `localhost@${host}` }, false],
    ["a foreign Host and its own Origin", { host: "evil.example:80", origin: "http://evil.example" }, false],
    ["a page of another site", { "sec-fetch-site": "cross-site" }, false],
    ["a page of a neighbouring site", { "sec-fetch-site": "same-site" }, false],
    ["an address typed by a person", { "sec-fetch-site": "none" }, true]
  ]

  it.effect("requests are judged by where they come from before anything else", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      for (const [name, headers, allowed] of places(new URL(url).host)) {
        const health = yield* RawHttp.send(url, { path: "/health", headers })
        assert.strictEqual(health.status === 200, allowed, `health, ${name}: ${health.status}`)
        const call = yield* RawHttp.send(url, {
          method: "POST",
          path: "/rpc",
          headers: { ...bearer, ...headers },
          body: asked("Status", null, [["authorization", bearer.authorization]])
        })
        assert.strictEqual(call.status, allowed ? 200 : headers["host"] === "" ? call.status : 403, name)
        assert.strictEqual(call.body.includes(`"Success"`), allowed, name)
      }
    })
  )

  it.effect("a WebSocket is refused before it is accepted", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const good = { "sec-websocket-protocol": Wire.subprotocols(secret).join(", ") }
      for (const [name, headers, allowed] of places(new URL(url).host)) {
        const answer = yield* RawHttp.send(url, RawHttp.handshake({ ...good, ...headers }))
        assert.strictEqual(answer.status === 101, allowed, `${name}: ${answer.status}`)
        if (allowed) {
          assert.include(answer.head.toLowerCase(), "sec-websocket-protocol: troupe.v1")
          assert.notInclude(answer.head, Wire.subprotocols(secret)[1])
        }
      }
      const wrong = [
        {},
        { "sec-websocket-protocol": Wire.subprotocols("another-token-0123456789").join(", ") },
        { "sec-websocket-protocol": Wire.subprotocols(secret)[1] },
        { "sec-websocket-protocol": `troupe.v1, troupe.bearer.${secret}` },
        { "sec-websocket-protocol": "troupe.v1, troupe.bearer.%%%" }
      ]
      for (const headers of wrong) {
        assert.strictEqual((yield* RawHttp.send(url, RawHttp.handshake(headers))).status, 401)
      }
      assert.strictEqual((yield* RawHttp.send(url, RawHttp.handshake(bearer))).status, 101)
    })
  )

  it.effect("a preflight tells an allowed page what it may send, and tells others nothing", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const ask = (origin: string) =>
        RawHttp.send(url, {
          method: "OPTIONS",
          path: "/rpc",
          headers: { origin, "access-control-request-method": "POST" }
        })
      const allowed = yield* ask("https://chat.example")
      assert.strictEqual(allowed.status, 204)
      assert.include(allowed.head.toLowerCase(), "access-control-allow-origin: https://chat.example")
      const refused = yield* ask("https://evil.example")
      assert.strictEqual(refused.status, 403)
      assert.notInclude(refused.head.toLowerCase(), "access-control-allow-origin")
    })
  )
})

layer(TestServer.layerWithStage(), { excludeTestServices: true })("what is sent", (it) => {
  const post = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    Effect.flatMap(TestServer.url, (url) =>
      RawHttp.send(url, { method: "POST", path: "/rpc", headers: { ...bearer, ...headers }, body })
    )
  const inner = [["authorization", bearer.authorization]] as const
  const firstMessage = (body: string) => {
    const line = body.split("\n").find((part) => part.startsWith("{"))
    return Schema.decodeUnknownEffect(Message)(line)
  }

  const badPayloads: ReadonlyArray<readonly [string, string, unknown]> = [
    ["a call that does not exist", "Nothing", {}],
    ["a call named like a property of all objects", "__proto__", {}],
    ["no payload", "Send", null],
    ["a thread key without a channel", "Send", { thread: "main", text: "hello" }],
    ["a text that is a number", "Send", { thread, text: 12 }],
    ["a text that is too long", "Send", { thread, text: "x".repeat(1_000_001) }],
    ["a page that is too large", "Threads", { limit: 100_000 }],
    ["a cursor before the beginning", "Watch", { thread, from: 0 }],
    ["a made-up id", "MessageState", { messageId: "msg_'; DROP TABLE threads; --" }]
  ]
  for (const [name, tag, payload] of badPayloads) {
    it.effect(`${name} is an InvalidRequest`, () =>
      Effect.gen(function* () {
        const answer = yield* post(asked(tag, payload, inner))
        assert.strictEqual(answer.status, 200)
        assert.isBelow(answer.body.length, 1500)
        const message = yield* firstMessage(answer.body)
        assert.strictEqual(message._tag, "Exit")
        assert.include(JSON.stringify(message.exit), `"_tag":"InvalidRequest"`)
        assert.notInclude(JSON.stringify(message.exit), `"Die"`)
      })
    )
  }

  it.effect("what is no message at all is answered, and the server lives on", () =>
    Effect.gen(function* () {
      const bodies = [
        "",
        "\n",
        "{",
        "[]",
        "null\n",
        "12\n",
        `{"_tag":"Request"}\n`,
        `{"_tag":"Bogus","id":"1"}\n`,
        "\u0000\n"
      ]
      for (const body of bodies) {
        const answer = yield* post(body)
        assert.notInclude(answer.body, "node_modules", body)
        assert.notInclude(answer.body, "    at ", body)
      }
      const call = yield* post(asked("Status", null, inner))
      assert.include(call.body, `"Success"`)
    })
  )

  it.effect("the end of the body is the end of its last line", () =>
    Effect.gen(function* () {
      for (const end of ["", "\r\n", "\n\n"]) {
        const answer = yield* post(asked("Status", null, inner).trimEnd() + end)
        assert.strictEqual(answer.status, 200)
        assert.include(answer.body, `"Success"`, JSON.stringify(end))
      }
    })
  )

  it.effect("a body with a line that is no message is refused whole, before anything runs", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const before = stage.accepted.length
      const good = asked("Send", { thread, text: "not to be run", externalId: "refused-body" }, inner)
      const lines = [
        "{",
        "garbage",
        "null",
        "[]",
        "12",
        `{"_tag":"Bogus","id":"1"}`,
        `{"_tag":"Request","id":"1","tag":"Status","payload":null}`,
        `{"_tag":"Request","id":"1","tag":"Status","payload":null,"headers":{}}`,
        `{"_tag":"Request","id":{},"tag":"Status","payload":null,"headers":[]}`,
        `{"_tag":"Request","id":"1","tag":"Status","payload":null,"headers":[null]}`
      ]
      for (const line of lines) {
        const answer = yield* post(`${good}${line}\n${good}`)
        assert.strictEqual(answer.status, 400, line)
        assert.include(answer.body, "Line 2 of the body", line)
        assert.match(answer.body, /"error":"invalid"/, line)
        for (const inside of ["Cannot read", "iterable", "Ndjson", "Error", "Defect"]) {
          assert.notInclude(answer.body, inside, line)
        }
      }
      // One id cannot name two answers.
      const twice = yield* post(`${asked("Status", null, inner)}${good}${good}`)
      assert.strictEqual(twice.status, 400)
      assert.include(twice.body, "Line 2 of the body has the id of a call before it")
      const latin = yield* post(Buffer.from(good.replace("not to be run", "h\u00e4"), "latin1"))
      assert.strictEqual(latin.status, 400)
      assert.include(latin.body, "The body is not UTF-8. Nothing of it was run.")
      assert.strictEqual(stage.accepted.length, before)
      for (const body of ["", "\n"]) assert.include((yield* post(body)).body, "no message", JSON.stringify(body))
    })
  )

  it.effect("a body beyond the limit is refused, announced or not", () =>
    Effect.gen(function* () {
      const announced = yield* post("x", { "content-length": "900000000" })
      assert.strictEqual(announced.status, 413)
      const size = 9 * 1024 * 1024
      const chunked = yield* post(`${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`, {
        "transfer-encoding": "chunked"
      })
      assert.notStrictEqual(chunked.status, 200)
      assert.notInclude(chunked.body, "node_modules")
    })
  )

  it.effect("a line of a WebSocket that is no message is answered, and the calls around it go on", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const call = (id: string, tag: string, payload: unknown) =>
        `${JSON.stringify({ _tag: "Request", id, tag, payload, headers: inner })}\n`
      const bad = [
        "{",
        "null",
        "[]",
        `{"_tag":"Bogus","id":"b"}`,
        `{"_tag":"Malformed","requestId":"b","problem":"<b>"}`,
        `{"_tag":"Request","id":"b","tag":"Status","payload":null}`,
        `{"_tag":"Request","id":"b","tag":"Status","payload":null,"headers":[null]}`,
        `{"_tag":"Request","id":{},"tag":"Status","payload":null,"headers":[]}`,
        `{"_tag":"Ack"}`,
        `${"[".repeat(100_000)}`
      ]
      const lines = yield* webSocket(url, (send) => {
        // A watch that is under way all the while.
        send(call("w", "Watch", { thread: "console:ws", from: 1 }))
        for (const [index, line] of bad.entries()) send(`${line}\n${call(`s${index}`, "Tools", null)}`)
        send(call("k", "Send", { thread: "console:ws", text: "hi", externalld: "1" }))
        send(call("last", "Status", null))
      })
      const text = lines.join("\n")
      for (const inside of [
        "Ndjson",
        "JSON at",
        "node_modules",
        "    at ",
        "Defect",
        "Cannot read",
        "iterable",
        "<b>",
        secret
      ]) {
        assert.notInclude(text, inside)
      }
      const exits = lines.filter((line) => line.includes(`"Exit"`))
      const about = (id: string) => exits.filter((line) => line.includes(`"requestId":"${id}"`))
      for (const index of bad.keys()) assert.include(about(`s${index}`)[0], `"Success"`, bad[index]?.slice(0, 80))
      assert.strictEqual(about("").length + about("b").length, bad.length)
      for (const line of [...about(""), ...about("b"), ...about("k")]) assert.include(line, `"_tag":"InvalidRequest"`)
      assert.include(about("k")[0], "Did you mean externalId?")
      assert.include(about("last")[0], `"Success"`)
    })
  )

  const lineOf = (id: string, tag: string, payload: unknown, more: object = {}) =>
    `${JSON.stringify({ _tag: "Request", id, tag, payload, headers: inner, ...more })}\n`
  const exitsOf = (lines: ReadonlyArray<string>, id: string) =>
    lines.filter((line) => line.includes(`"Exit"`) && line.includes(`"requestId":"${id}"`))

  it.effect("the end of a message of a WebSocket is the end of its last line", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const lines = yield* webSocket(url, (send) => {
        send(lineOf("first", "Tools", null).trimEnd())
        // No part of the call after it.
        send(`{"_tag":"Request",`)
        send(`${lineOf("second", "Tools", null)}\r\n\n${lineOf("last", "Status", null).trimEnd()}`)
      })
      for (const id of ["first", "second", "last"]) assert.include(exitsOf(lines, id)[0], `"Success"`, id)
      assert.include(exitsOf(lines, "")[0], "is no JSON")
    })
  )

  it.effect("an id that has a call under way is refused, and the calls that are under way go on", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const url = yield* TestServer.url
      yield* post(asked("Send", { thread: "console:same", text: "one" }, inner))
      const before = stage.accepted.length
      const lines = yield* webSocket(url, (send) => {
        send(lineOf("w", "Watch", { thread: "console:same", from: 1 }))
        send(lineOf("w", "Send", { thread: "console:same", text: "not to be accepted" }))
        // What is wrong with it besides is no answer to that call either.
        send(lineOf("w", "Nothing", null) + lineOf("w", "Status", null, { discard: true }))
        send(`{"_tag":"Request","id":"w"}`)
        send(`${JSON.stringify({ _tag: "Interrupt", requestId: "w" })}\n`)
        send(lineOf("last", "Status", null))
      })
      assert.lengthOf(exitsOf(lines, ""), 4)
      for (const line of exitsOf(lines, "")) assert.include(line, `"_tag":"InvalidRequest"`)
      assert.lengthOf(exitsOf(lines, "w"), 1)
      assert.include(exitsOf(lines, "")[0], "id: Expected the id of no call that is under way")
      assert.include(exitsOf(lines, "w")[0], `"Interrupt"`)
      assert.include(exitsOf(lines, "last")[0], `"Success"`)
      assert.strictEqual(stage.accepted.length, before)
    })
  )

  it.effect("a connection has so many calls under way at once, and more after them", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const url = yield* TestServer.url
      yield* post(asked("Send", { thread: "console:many", text: "one" }, inner))
      const calls = Array.from({ length: Limits.callsAtOnce + 10 }, (_, index) =>
        lineOf(`w${index}`, "Watch", { thread: "console:many", from: 1 })
      )
      const lines = yield* webSocket(url, (send) => send(calls.join("") + lineOf("last", "Status", null)))
      const refused = calls.flatMap((_, index) => exitsOf(lines, `w${index}`))
      assert.lengthOf(refused, 10)
      for (const line of [...refused, ...exitsOf(lines, "last")]) {
        assert.include(line, `"_tag":"InvalidRequest"`)
        assert.include(line, `at most ${Limits.callsAtOnce} calls`)
      }
      yield* Effect.repeat(Effect.sync(stage.watchers), { until: (count) => count === 0 })
      const client = Effect.provide(
        Effect.gen(function* () {
          const troupe = yield* TroupeClient
          for (let call = 0; call < 2 * Limits.callsAtOnce; call++) yield* troupe.Status()
        }),
        TestServer.client("WebSocket")
      )
      yield* client
    })
  )

  it.effect("a call that wants no answer would not count, and is not taken", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const url = yield* TestServer.url
      const before = stage.accepted.length
      const send1 = { thread: "console:silent", text: "not to be accepted" }
      const lines = yield* webSocket(url, (send) => {
        send(lineOf("n", "Send", send1, { isNotification: true }))
        send(lineOf("d", "Send", send1, { discard: true }))
        send(lineOf("last", "Status", null))
      })
      for (const id of ["n", "d"]) assert.include(exitsOf(lines, id)[0], "discard or isNotification", id)
      assert.strictEqual(stage.accepted.length, before)
    })
  )

  it.effect("a body has so many calls", () =>
    Effect.gen(function* () {
      const calls = (count: number) =>
        Array.from({ length: count }, (_, index) => lineOf(String(index), "Tools", null)).join("")
      const full = yield* post(calls(Limits.callsAtOnce))
      assert.strictEqual(full.body.split(`"Success"`).length - 1, Limits.callsAtOnce)
      const more = yield* post(calls(Limits.callsAtOnce + 1))
      assert.strictEqual(more.status, 400)
      assert.include(more.body, `Line ${Limits.callsAtOnce + 1} of the body is one call too many`)
    })
  )

  it.effect("a body may hold many calls that are refused", () =>
    Effect.gen(function* () {
      const wrong = Array.from({ length: 20 }, (_, index) => lineOf(`x${index}`, "Nothing", null)).join("")
      const answer = yield* post(wrong + lineOf("last", "Status", null))
      assert.strictEqual(answer.body.split(`"InvalidRequest"`).length - 1, 20)
      assert.strictEqual(answer.body.split(`"Success"`).length - 1, 1)
      const none = yield* post(wrong)
      assert.strictEqual(none.body.split(`"InvalidRequest"`).length - 1, 20)
    })
  )

  it.effect("a body holds nothing but calls", () =>
    Effect.gen(function* () {
      for (const line of [
        `{"_tag":"Ping"}`,
        `{"_tag":"Eof"}`,
        `{"_tag":"Ack","requestId":"1"}`,
        `{"_tag":"Interrupt","requestId":"1"}`
      ]) {
        const answer = yield* post(`${asked("Status", null, inner)}${line}\n`)
        assert.strictEqual(answer.status, 400, line)
        assert.include(answer.body, "Line 2 of the body is no call", line)
      }
    })
  )

  it.effect("a call that does not exist is answered with those that do", () =>
    Effect.gen(function* () {
      const answer = yield* post(asked("Stats", null, inner))
      assert.include(answer.body, "Did you mean Status? The calls are Status, Send, SendAndWatch,")
    })
  )

  it.effect("a WebSocket that acknowledges and does not read holds back what is read for it", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const url = yield* TestServer.url
      const stored = {
        seq: 1,
        at: 0,
        entry: { _tag: "Notice", turnId: yield* Ids.makeTurnId, text: "x".repeat(pageBytes) }
      } as const
      let given = 0
      const log = Stream.range(1, 200).pipe(
        Stream.rechunk(1),
        Stream.map((): WatchItem => {
          given++
          return { _tag: "Entry", stored }
        })
      )
      const flood = ThreadKey.make("console:unread")
      yield* stage.replay(flood, log)
      const socket = new NodeWS.WebSocket(`${url.replace("http", "ws")}/rpc/ws`, Wire.subprotocols(secret))
      yield* Effect.promise(() => new Promise((resolve) => socket.once("open", resolve)))
      socket.pause()
      socket.send(lineOf("w", "Watch", { thread: flood, from: 1 }))
      for (let call = 0; call < 200; call++) {
        socket.send(`${JSON.stringify({ _tag: "Ack", requestId: "w" })}\n`)
        yield* post(asked("Status", null, inner))
      }
      socket.terminate()
      assert.isAbove(given, 0)
      // Of what has been read, some is in the server's hands and the rest in the system's buffers.
      assert.isAtMost(given, 40)
    })
  )

  it.effect("a watcher that does not read holds back what is read for it", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const url = yield* TestServer.url
      const stored = {
        seq: 1,
        at: 0,
        entry: { _tag: "Notice", turnId: yield* Ids.makeTurnId, text: "x".repeat(pageBytes) }
      } as const
      let given = 0
      const log = Stream.range(1, 200).pipe(
        Stream.rechunk(1),
        Stream.map((): WatchItem => {
          given++
          return { _tag: "Entry", stored }
        })
      )
      const flood = ThreadKey.make("console:flood")
      yield* stage.replay(flood, log)
      const abort = new AbortController()
      const response = yield* Effect.promise(() =>
        fetch(`${url}/rpc`, {
          method: "POST",
          headers: bearer,
          body: asked("Watch", { thread: flood, from: 1 }, inner),
          signal: abort.signal
        })
      )
      assert.strictEqual(response.status, 200)
      // Whatever else is asked meanwhile is answered, which gives the server every occasion to read on.
      for (let call = 0; call < 200; call++) yield* post(asked("Status", null, inner))
      abort.abort()
      assert.isAbove(given, 0)
      // Of what has been read, some is in the server's hands and the rest in the system's buffers.
      assert.isAtMost(given, 40)
    })
  )

  for (const kind of ["WebSocket", "HTTP"] as const) {
    describe(`over ${kind}`, () => {
      const withClient = <A, E, R>(use: Effect.Effect<A, E, R>) => Effect.provide(use, TestServer.client(kind))

      it.effect("a message is accepted once, under the caller's name", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const stage = yield* Stage
          const first = yield* client.Send({ thread, text: "hello 🙂 \u0007", externalId: `${kind}-1` })
          const again = yield* client.Send({ thread, text: "hello", externalId: `${kind}-1` })
          assert.isFalse(first.duplicate)
          assert.isTrue(again.duplicate)
          assert.strictEqual(again.messageId, first.messageId)
          const message = stage.accepted.findLast(({ externalId }) => externalId === `${kind}-1`)
          assert.strictEqual(message?.channel, "console")
          assert.strictEqual(message?.text, "hello 🙂 \u0007")
          assert.strictEqual(message?.sender.id, "primary")
          yield* client.Stop({ thread })
          assert.strictEqual(stage.stops.at(-1), "tests")
        }).pipe(withClient)
      )

      it.effect("a thread of a channel that nobody has is refused, and the channels are named", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const before = (yield* Stage).accepted.length
          const message = { thread: ThreadKey.make("consol:main"), text: "x" }
          for (const refused of [
            yield* Effect.flip(client.Send(message)),
            yield* Effect.flip(Stream.runDrain(client.sendAndWatch(message)))
          ]) {
            assert.strictEqual(refused._tag, "ChannelNotFound")
            assert.strictEqual(
              refused.message,
              'There is no channel "consol". A thread is named channel:chat; the channels are console, telegram.'
            )
          }
          assert.strictEqual((yield* Stage).accepted.length, before)
        }).pipe(withClient)
      )

      it.effect("a thread of a channel that is not a console's is written to as rpc", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          yield* client.Send({ thread: ThreadKey.make("telegram:42"), text: "x", externalId: `${kind}-t` })
          assert.strictEqual((yield* Stage).accepted.at(-1)?.channel, "rpc")
        }).pipe(withClient)
      )

      it.effect("the longest message gets through", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const text = `${"\u0001".repeat(999_999)}!`
          yield* client.Send({ thread, text, externalId: `${kind}-long` })
          assert.strictEqual((yield* Stage).accepted.at(-1)?.text, text)
        }).pipe(withClient)
      )

      it.effect("a text that says nothing is refused before it is sent", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const before = (yield* Stage).accepted.length
          for (const refused of [{ text: " \n" }, { text: "x", sender: { name: "x".repeat(201) } }]) {
            const error = yield* Effect.flip(client.Send({ thread, ...refused }))
            assert.strictEqual(error._tag, "InvalidRequest")
            assert.match(error.message, /text: Expected|sender.name: Expected/)
          }
          assert.strictEqual((yield* Stage).accepted.length, before)
        }).pipe(withClient)
      )

      it.effect("a place or a number that no call takes is refused before it is sent, with the field named", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const stale = "thr_1" as any
          const calls: ReadonlyArray<readonly [string, Effect.Effect<unknown, Error>]> = [
            ["limit: ", client.Threads({ limit: 0 })],
            ["limit: ", client.History({ thread, limit: 1001 })],
            ["from: ", client.History({ thread, limit: 1, from: 0 })],
            ["from: ", Stream.runDrain(client.Watch({ thread, from: 0 }))],
            ["from: ", Stream.runDrain(client.watch({ thread, from: 0.5 }))],
            ["limit: ", Stream.runDrain(client.history({ thread, limit: 0 }))],
            ["text: ", Stream.runDrain(client.SendAndWatch({ thread, text: "" }))],
            ["text: ", Stream.runDrain(client.sendAndWatch({ thread, text: "" }))],
            ["thread: ", client.Stop({ thread: stale })],
            ["thread: ", client.Inspect({ thread: stale })],
            ["thread: ", client.Thread({ thread: stale })],
            ["messageId: ", client.MessageState({ messageId: stale })],
            ["approvalId: ", client.Decide({ thread, approvalId: stale, nonce: "n", decision: "approved" })],
            ["how: ", client.Release({ how: stale })]
          ]
          for (const [field, call] of calls) {
            const error = yield* Effect.flip(Effect.asVoid(call))
            assert.instanceOf(error, InvalidRequest, field)
            assert.include(error.message, field)
          }
        }).pipe(withClient)
      )

      it.effect("typed errors cross the wire", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const missing = ThreadKey.make("console:missing")
          const noThread = yield* Effect.flip(client.Thread({ thread: missing }))
          assert.strictEqual(noThread._tag, "ThreadNotFound")
          assert.include(noThread.message, "console:missing")
          const noWatch = yield* Effect.flip(Stream.runDrain(client.watch({ thread: missing, from: 1 })))
          assert.strictEqual(noWatch._tag, "ThreadNotFound")
          const messageId = yield* Ids.makeMessageId
          const noMessage = yield* Effect.flip(client.MessageState({ messageId }))
          assert.strictEqual(noMessage._tag, "MessageNotFound")
          yield* client.Send({ thread, text: "x", externalId: `${kind}-e` })
          const approvalId = yield* Ids.makeApprovalId
          const noQuestion = yield* Effect.flip(client.Decide({ thread, approvalId, nonce: "n", decision: "approved" }))
          assert.strictEqual(noQuestion._tag, "ApprovalNotFound")
        }).pipe(withClient)
      )

      it.effect("what breaks inside stays inside", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          ;(yield* Stage).crashOn("boom", new Error("SELECT secret FROM vault at /srv/troupe/layers/x.ts"))
          const failure = yield* Effect.flip(client.Send({ thread, text: "boom" }))
          assert.strictEqual(failure._tag, "InternalError")
          assert.notInclude(JSON.stringify(failure), "vault")
          assert.strictEqual((yield* client.Status()).provider, "offline")
        }).pipe(withClient)
      )

      it.effect("a store that cannot be written is a typed error with its reason", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          ;(yield* Stage).crashOn("full", new StorageUnavailable({ reason: "full" }))
          const failure = yield* Effect.flip(client.Send({ thread, text: "full" }))
          assert.deepInclude(failure, { _tag: "StorageUnavailable", reason: "full" })
        }).pipe(withClient)
      )

      it.effect("watching gives the log, then what happens, and lets go when it ends", () =>
        Effect.gen(function* () {
          const client = yield* TroupeClient
          const stage = yield* Stage
          const key = ThreadKey.make(`console:watch-${kind.toLowerCase()}`)
          const { threadId } = yield* client.Send({ thread: key, text: "one" })
          yield* client.Send({ thread: key, text: "two" })
          const turnId = yield* Ids.makeTurnId
          const items = yield* client.watch({ thread: key, from: 2 }).pipe(
            Stream.tap((item) =>
              item._tag === "CaughtUp"
                ? stage
                    .emit({ _tag: "TurnStopRequested", threadId, by: "x" })
                    .pipe(Effect.andThen(stage.append(threadId, { _tag: "Notice", turnId, text: "three" })))
                : Effect.void
            ),
            Stream.take(4),
            Stream.runCollect
          )
          assert.deepStrictEqual(
            items.map((item) => (item._tag === "Entry" ? item.stored.seq : item._tag)),
            [2, "CaughtUp", "Live", 3]
          )
          yield* Effect.repeat(Effect.sync(stage.watchers), { until: (count) => count === 0 })
        }).pipe(withClient)
      )
    })
  }
})

describe("a connection that is kept", () => {
  test.live("is closed by the client first, however long clients keep one: a request may be on its way", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const response = yield* Effect.promise(() => fetch(`${url}/health`))
      // The usual clients keep an idle connection for 4 to 60 seconds.
      assert.strictEqual(response.headers.get("keep-alive"), "timeout=75")
    }).pipe(Effect.provide(TestServer.layerWithStage()))
  )
})

describe("the client", () => {
  const unused = TestServer.layerWithStage()

  test.live("says what a wrong token, a foreign address and a missing daemon mean", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const ask = (at: string, token: string, kind: TestServer.Kind) =>
        Effect.flatMap(TroupeClient, (client) => Effect.flip(client.Status())).pipe(
          Effect.provide(TestServer.clientOf(kind, { url: at, token: Redacted.make(token) }), { local: true })
        )
      for (const kind of ["WebSocket", "HTTP"] as const) {
        const wrong = yield* ask(url, "wrong-token-0123456789", kind)
        assert.isTrue(wrong._tag === "RpcClientError" && Unreachable.isRefusal(wrong), kind)
        assert.strictEqual(
          wrong._tag === "RpcClientError" && Unreachable.explain(wrong),
          "The daemon does not accept this token. The right one is [http].auth_token of its settings, or the content of the file `token` in its data directory."
        )
        const nobody = yield* ask("http://127.0.0.1:9", "x", kind)
        assert.strictEqual(
          nobody._tag === "RpcClientError" && Unreachable.explain(nobody),
          "The daemon cannot be reached. Is it running?"
        )
      }
    }).pipe(Effect.provide(unused))
  )

  for (const kind of ["WebSocket", "HTTP"] as const) {
    test.live(`resumes a watch by cursor across a restart of the server (${kind})`, () =>
      Effect.gen(function* () {
        const stage = yield* Stage
        const outer = yield* Effect.scope
        const seen: Array<number | string> = []
        const start = (port: number) => Layer.build(TestServer.layer({ port }))
        const first = yield* Effect.scoped(
          Effect.gen(function* () {
            const port = yield* Effect.map(TestServer.url, (url) => Number(new URL(url).port)).pipe(
              Effect.provide(yield* start(0))
            )
            const client = yield* TroupeClient.pipe(
              Effect.provide(
                yield* Layer.buildWithScope(
                  TestServer.clientOf(kind, { url: `http://127.0.0.1:${port}`, token: TestServer.token }),
                  outer
                )
              )
            )
            const { threadId } = yield* client.Send({ thread, text: "before" })
            const watching = yield* client
              .watch({ thread, from: 1, onCut: () => Effect.sync(() => seen.push("cut")) })
              .pipe(
                Stream.tap((item) => Effect.sync(() => item._tag === "Entry" && seen.push(item.stored.seq))),
                Stream.takeUntil((item) => item._tag === "Entry" && item.stored.seq === 3),
                Stream.runDrain,
                Effect.forkIn(outer)
              )
            yield* Effect.repeat(Effect.sync(stage.watchers), { until: (count) => count === 1 })
            return { port, threadId, watching }
          })
        )
        const turnId = yield* Ids.makeTurnId
        yield* stage.append(first.threadId, { _tag: "Notice", turnId, text: "while it was down" })
        yield* start(first.port)
        yield* stage.append(first.threadId, { _tag: "Notice", turnId, text: "after" })
        yield* Fiber.join(first.watching)
        assert.deepStrictEqual(
          seen.filter((item) => item !== "cut"),
          [1, 2, 3]
        )
        assert.include(seen, "cut")
      }).pipe(Effect.scoped, Effect.provide(FakeConversations.layer))
    )
  }

  for (const kind of ["WebSocket", "HTTP"] as const) {
    test.live(`finds a server that comes back on another port, and goes on from its cursor (${kind})`, () =>
      Effect.gen(function* () {
        const stage = yield* Stage
        const start = Layer.build(TestServer.layer())
        let here = ""
        const url = Effect.sync(() => here)
        const outer = yield* Effect.scope
        const seen: Array<number | string> = []
        const first = yield* Effect.scoped(
          Effect.gen(function* () {
            const at = yield* Effect.provide(TestServer.url, yield* start)
            here = at
            const client = yield* TroupeClient.pipe(
              Effect.provide(
                yield* Layer.buildWithScope(TestServer.clientOf(kind, { url, token: TestServer.token }), outer)
              )
            )
            const watching = yield* client.sendAndWatch({ thread, text: "before" }).pipe(
              Stream.tap((item) => Effect.sync(() => seen.push(item._tag === "Entry" ? item.stored.seq : item._tag))),
              Stream.takeUntil((item) => item._tag === "Entry" && item.stored.seq === 3),
              Stream.runDrain,
              Effect.forkIn(outer)
            )
            yield* Effect.repeat(Effect.yieldNow, { until: () => seen.includes("CaughtUp") })
            here = "http://127.0.0.1:0"
            return { at, watching }
          })
        )
        const { id: threadId } = yield* (yield* Threads).byKey(thread)
        const turnId = yield* Ids.makeTurnId
        yield* stage.append(threadId, { _tag: "Notice", turnId, text: "while it was down" })
        // Whoever has the old port now is not asked: its gate would refuse, and the watch would fail.
        yield* Layer.build(
          TestServer.layer({ port: Number(new URL(first.at).port), token: Redacted.make("another".repeat(5)) })
        )
        const second = yield* Effect.provide(TestServer.url, yield* start)
        assert.notStrictEqual(second, first.at)
        here = second
        yield* stage.append(threadId, { _tag: "Notice", turnId, text: "after" })
        yield* Fiber.join(first.watching)
        assert.deepStrictEqual(
          seen.filter((item) => item !== "CaughtUp"),
          ["Accepted", 1, 2, 3]
        )
        assert.lengthOf(stage.accepted, 1)
      }).pipe(Effect.scoped, Effect.provide(FakeConversations.layer))
    )
  }

  test.live("names the port that another program uses, and what to do", () =>
    Effect.gen(function* () {
      const url = yield* TestServer.url
      const port = Number(new URL(url).port)
      const failure = yield* Effect.flip(Layer.build(Layer.fresh(TestServer.layerWithStage({ port }))))
      assert.instanceOf(failure, Server.ListenFailed)
      assert.include(failure.message, `127.0.0.1:${port}`)
      assert.include(failure.message, "[http].port")
    }).pipe(Effect.scoped, Effect.provide(unused))
  )
})

/** Sends over one WebSocket and gives the lines that came back up to the answer of the call "last". */
const webSocket = (url: string, use: (send: (text: string) => void) => void): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/rpc/ws`, Wire.subprotocols(secret))
    let received = ""
    const finish = () => resume(Effect.succeed(received.split("\n").filter((line) => line !== "")))
    socket.addEventListener("open", () => use((text) => socket.send(text)))
    socket.addEventListener("message", ({ data }) => {
      received += String(data)
      if (received.includes(`"requestId":"last"`)) socket.close()
    })
    socket.addEventListener("close", finish)
    return Effect.sync(() => socket.close())
  })
/** What the server logged, with its level and the first line of its cause. */
const told: Array<string> = []
const logged = Logger.layer([
  Logger.make(({ cause, logLevel, message }) => {
    const words = Array.isArray(message) ? String(message[0]) : String(message)
    const why = cause.reasons.map((reason) => (reason._tag === "Die" ? String(reason.defect).slice(7) : reason._tag))
    told.push([`${logLevel} ${words}`, ...why].join(": "))
  })
])

layer(
  TestServer.layerWithStage({ settings: { observability: { prometheus: true } } }).pipe(Layer.provideMerge(logged)),
  {
    excludeTestServices: true
  }
)("the metrics, where the settings ask for them", (it) => {
  it.effect("need the token", () =>
    Effect.gen(function* () {
      const answer = yield* RawHttp.send(yield* TestServer.url, { method: "GET", path: Wire.metricsPath })
      assert.strictEqual(answer.status, 401)
    })
  )

  it.effect("are Prometheus' text, with the age of what is owed", () =>
    Effect.gen(function* () {
      TestServer.setOldestOwed(90_000)
      const answer = yield* RawHttp.send(yield* TestServer.url, {
        method: "GET",
        path: Wire.metricsPath,
        headers: bearer
      })
      TestServer.setOldestOwed(null)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.head, /content-type: text\/plain; version=0\.0\.4/i)
      assert.include(answer.body, "troupe_oldest_owed_seconds 90\n")
    })
  )

  it.effect("are there, and the log says why, when some cannot be counted", () =>
    Effect.gen(function* () {
      told.length = 0
      TestServer.setCountingFails("the store is on fire")
      const answer = yield* RawHttp.send(yield* TestServer.url, {
        method: "GET",
        path: Wire.metricsPath,
        headers: bearer
      })
      TestServer.setCountingFails(null)
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(
        told.filter((line) => line.startsWith("Warn")),
        ["Warn Some figures could not be counted: the store is on fire"]
      )
    })
  )
})

layer(TestServer.layerWithStage({}), { excludeTestServices: true })("the metrics otherwise", (it) => {
  it.effect("are not there", () =>
    Effect.gen(function* () {
      const answer = yield* RawHttp.send(yield* TestServer.url, {
        method: "GET",
        path: Wire.metricsPath,
        headers: bearer
      })
      assert.strictEqual(answer.status, 404)
    })
  )
})
