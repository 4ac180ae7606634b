import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Certificate from "../rigs/Certificate.ts"
import * as Needs from "../rigs/Needs.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"
import { ask, failing, layer, limits } from "./Fixtures.ts"

const names = { "zoo.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]], "proxy.test": [["127.0.0.1"]] }
const short = { ...limits, connect: Duration.millis(400) }
const world = { outbound: { allow_private: true }, names }

describe.skipIf(Needs.openssl.missing)(Needs.titled(Needs.openssl, "a host that proves who it is"), () => {
  it.live("is reached; one that proves to be another, or that nobody vouches for, is not", () =>
    Effect.gen(function* () {
      const certificate = yield* Certificate.forNames("DNS:zoo.test")
      const server = yield* NetworkZoo.keep(({ socket }) => socket.end(NetworkZoo.response(200, {}, "secret talk")), {
        tls: certificate
      })
      const at = (name: string) => `https://${name}:${server.port}/`
      const stranger = yield* failing({ url: at("zoo.test") })
      assert.deepInclude(stranger, { reason: "tls_failed", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" })
      yield* Certificate.believed(certificate.cert)
      assert.strictEqual((yield* ask({ url: at("zoo.test") })).text, "secret talk")
      const wrong = yield* failing({ url: at("other.test") })
      assert.deepInclude(wrong, { reason: "tls_failed", detail: "ERR_TLS_CERT_ALTNAME_INVALID" })
      assert.strictEqual((yield* failing({ url: at("127.0.0.1") })).reason, "tls_failed")
      assert.lengthOf(server.visits, 1)
      yield* server.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(world)))
  )

  it.live("is reached through a proxy, which sees nothing but its name", () =>
    Effect.gen(function* () {
      const certificate = yield* Certificate.forNames("DNS:far.example")
      yield* Certificate.believed(certificate.cert)
      const server = yield* NetworkZoo.keep(({ socket }) => socket.end(NetworkZoo.response(200, {}, "far")), {
        tls: certificate
      })
      const proxy = yield* NetworkZoo.proxy({ "far.example": server.port })
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* ask({ url: "https://far.example/deep?q=1" })).text, "far")
        assert.match(proxy.visits[0]?.head ?? "", /^CONNECT far\.example:443 HTTP\/1\.1/)
        assert.notInclude(proxy.visits[0]?.head ?? "", "deep")
        const unknown = yield* failing({ url: "https://unknown.example/" })
        assert.deepInclude(unknown, { reason: "proxy_failed", detail: "it answered with status 502" })
      }).pipe(Effect.provide(layer({ names, outbound: { proxy: `http://proxy.test:${proxy.port}` } })))
      yield* proxy.deserted
    }).pipe(Effect.scoped)
  )
})

it.live("a host that does not speak TLS is not one to speak to", () =>
  Effect.gen(function* () {
    const plain = yield* NetworkZoo.says(NetworkZoo.response(200))
    assert.strictEqual((yield* failing({ url: `https://127.0.0.1:${plain.port}/`, limits: short })).reason, "timeout")
    const shut = yield* NetworkZoo.keep(() => {})
    assert.strictEqual((yield* failing({ url: `https://127.0.0.1:${shut.port}/`, limits: short })).reason, "timeout")
    yield* shut.deserted
  }).pipe(Effect.scoped, Effect.provide(layer(world)))
)

describe("a proxy", () => {
  it.live("is given whole addresses and who asks; the host is not told who that is", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "far"))
      const proxy = yield* NetworkZoo.proxy({ "far.example": server.port })
      const looked: Array<string> = []
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* ask({ url: "http://far.example/a?b=c" })).text, "far")
        assert.match(proxy.visits[0]?.head ?? "", /^GET http:\/\/far\.example\/a\?b=c HTTP\/1\.1/)
        assert.match(proxy.visits[0]?.head ?? "", /proxy-authorization: Basic abc/i)
        assert.match(proxy.visits[0]?.head ?? "", /host: far\.example/i)
        // Whoever looks up the name now is the proxy.
        assert.deepStrictEqual(looked, [])
      }).pipe(
        Effect.provide(
          layer({
            outbound: { proxy: `http://127.0.0.1:${proxy.port}`, proxy_authorization: "Basic abc" },
            looked: (name) => void looked.push(name)
          })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("is not asked for places that are not public, nor for hosts that are reached without it", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "near"))
      const proxy = yield* NetworkZoo.proxy({})
      yield* Effect.gen(function* () {
        for (const host of ["127.0.0.1", "[::1]", "0x7f.1", "169.254.169.254", "10.0.0.1"]) {
          assert.strictEqual((yield* failing({ url: `http://${host}/` })).reason, "private_address", host)
        }
        for (const host of [
          "localhost",
          "LOCALHOST.",
          "a.localhost",
          "printer",
          "db.internal",
          "metadata.google.internal"
        ]) {
          assert.strictEqual((yield* failing({ url: `https://${host}/` })).reason, "private_address", host)
        }
        assert.strictEqual((yield* failing({ url: "http://never.test/" })).reason, "denied_host")
        assert.strictEqual((yield* ask({ url: `http://near.test:${server.port}/` })).text, "near")
        assert.lengthOf(proxy.visits, 0)
      }).pipe(
        Effect.provide(
          layer({
            names: { "near.test": [["127.0.0.1"]] },
            outbound: {
              proxy: `http://127.0.0.1:${proxy.port}`,
              no_proxy: ["*.test"],
              private_hosts: ["near.test"],
              denied_hosts: ["never.test"]
            }
          })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("that is not there, or is none, is named as what failed", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(NetworkZoo.says(""))
      const rude = yield* NetworkZoo.says("HELLO\r\n\r\n")
      const through = (port: number) =>
        Effect.provide(
          failing({ url: "https://far.example/" }),
          layer({ outbound: { proxy: `http://127.0.0.1:${port}` } })
        )
      assert.deepInclude(yield* through(gone.port), { reason: "proxy_failed", detail: "ECONNREFUSED" })
      assert.strictEqual((yield* through(rude.port)).reason, "proxy_failed")
    }).pipe(Effect.scoped)
  )
})
