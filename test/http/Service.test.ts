import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Outbound from "../../src/http/Outbound.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"
import { failing, layer, limits } from "./Fixtures.ts"

const key = Redacted.make("key-of-the-service-1234567")

const sendTo = (service: Outbound.Service, request: Partial<Outbound.Request> & { readonly url: string }) =>
  Outbound.Outbound.use((outbound) =>
    Effect.scoped(
      Effect.flatMap(outbound.to(service).send({ method: "GET", limits, ...request }), (response) =>
        Effect.map(Outbound.readUpTo(response, 10_000), ({ bytes }) => ({
          ...response,
          text: new TextDecoder().decode(bytes)
        }))
      )
    )
  )

const reasonOf = (service: Outbound.Service, request: Partial<Outbound.Request> & { readonly url: string }) =>
  Effect.map(Effect.flip(sendTo(service, request)), ({ reason }) => reason)

describe("a service that the settings name", () => {
  it.live("is reached on this machine, where nothing else is", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "here"))
      const other = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "there"))
      assert.strictEqual((yield* failing({ url: server.url() })).reason, "private_address")
      assert.strictEqual((yield* sendTo({ address: server.url() }, { url: server.url("/a") })).text, "here")
      assert.strictEqual(yield* reasonOf({ address: server.url() }, { url: other.url() }), "denied_host")
      assert.strictEqual(yield* reasonOf({ address: server.url() }, { url: "http://example.org/" }), "denied_host")
      assert.isEmpty(other.visits)
      // What anybody may reach has not changed by it.
      assert.strictEqual((yield* failing({ url: server.url() })).reason, "private_address")
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.live("is reached by a private name, and on an address of IPv6", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "here"))
      const named = `http://whisper.lan:${server.port}/`
      assert.strictEqual((yield* sendTo({ address: named }, { url: named })).text, "here")
      assert.strictEqual(
        yield* reasonOf({ address: "http://meta.lan/" }, { url: "http://meta.lan/" }),
        "private_address"
      )
      const six = yield* NetworkZoo.keep(({ socket }) => socket.end(NetworkZoo.response(200, {}, "six")), {
        host: "::1"
      })
      const address = `http://[::1]:${six.port}/`
      assert.strictEqual((yield* sendTo({ address }, { url: address })).text, "six")
    }).pipe(
      Effect.scoped,
      Effect.provide(layer({ names: { "whisper.lan": [["127.0.0.1"]], "meta.lan": [["169.254.169.254"]] } }))
    )
  )

  it.live("is told its key, which nobody else sees", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "ok"))
      const service = { address: server.url(), headers: { Authorization: key }, query: { api_key: key } }
      const response = yield* sendTo(service, { url: server.url("/search?q=cats") })
      const { head = "" } = server.visits[0] ?? {}
      assert.match(head, /^GET \/search\?q=cats&api_key=key-of-the-service-1234567 HTTP/)
      assert.match(head, /authorization: key-of-the-service-1234567/i)
      assert.notInclude(JSON.stringify([response.url, response.headers]), "key-of")
      const gone = yield* NetworkZoo.keep(({ socket }) => socket.destroy())
      const error = yield* Effect.flip(sendTo({ ...service, address: gone.url() }, { url: gone.url("/search") }))
      assert.strictEqual(error.reason, "connection_lost")
      assert.notInclude(JSON.stringify(error) + error.message + String(error), "key-of")
    }).pipe(Effect.scoped, Effect.provide(layer({ secrets: [key] })))
  )

  it.live("sends its callers nowhere, and so the key neither", () =>
    Effect.gen(function* () {
      const other = yield* NetworkZoo.says(NetworkZoo.response(200))
      const server = yield* NetworkZoo.says(NetworkZoo.response(307, { location: other.url("/") }))
      const service = { address: server.url(), headers: { authorization: key } }
      const response = yield* sendTo(service, { url: server.url(), maxRedirects: 5 })
      assert.strictEqual(response.status, 307)
      assert.isEmpty(other.visits)
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.live("is given a body as it is, and no secret in the address", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200))
      const service = { address: server.url() }
      const body = new TextEncoder().encode(`RIFF ${Redacted.value(key)}`)
      assert.strictEqual((yield* sendTo(service, { method: "POST", url: server.url(), body })).status, 200)
      const url = server.url(`/?q=${Redacted.value(key)}`)
      assert.strictEqual(yield* reasonOf(service, { url }), "secret_in_request")
      assert.lengthOf(server.visits, 1)
    }).pipe(Effect.scoped, Effect.provide(layer({ secrets: [key] })))
  )

  it.live("is not reached where it is denied, and is where tools may reach others only", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "here"))
      const service = { address: server.url() }
      const asked = (outbound: Parameters<typeof layer>[0]) =>
        Effect.provide(Effect.result(sendTo(service, { url: server.url() })), layer(outbound))
      assert.strictEqual((yield* asked({ outbound: { allowed_hosts: ["example.org"] } }))._tag, "Success")
      const denied = yield* asked({ outbound: { denied_hosts: ["127.0.0.0/8"] } })
      assert.strictEqual(denied._tag === "Failure" ? denied.failure.reason : "", "denied_host")
    }).pipe(Effect.scoped)
  )
})
