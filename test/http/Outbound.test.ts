import { assert, describe, it } from "@effect/vitest"
import * as Zlib from "node:zlib"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as HostPattern from "../../src/http/HostPattern.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"
import { ask, failing, layer, limits, open } from "./Fixtures.ts"

describe("a request", () => {
  it.live("carries method, headers and body, and brings back status, headers and body", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) =>
        socket.end(NetworkZoo.response(201, { "X-One": "1", "Set-Cookie": "a=b" }, "created"))
      )
      const response = yield* ask({
        method: "POST",
        url: `${server.url("/things?kind=a")}#part`,
        headers: { "Content-Type": "text/plain", "X-Mine": "yes" },
        body: "hello"
      })
      assert.strictEqual(response.status, 201)
      assert.strictEqual(response.text, "created")
      assert.strictEqual(Outbound.header(response, "x-one"), "1")
      const [visit] = server.visits
      assert.match(visit?.head ?? "", /^POST \/things\?kind=a HTTP\/1\.1\r\n/)
      assert.match(visit?.head ?? "", /x-mine: yes/i)
      assert.match(visit?.head ?? "", /content-length: 5/i)
      // Nothing is kept: a second request brings no cookie.
      yield* ask({ url: server.url() })
      assert.notMatch(server.visits[1]?.head ?? "", /cookie/i)
      yield* server.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("is refused where the address or a header says something else", () =>
    Effect.gen(function* () {
      const reason = (asked: Parameters<typeof failing>[0]) => Effect.map(failing(asked), (error) => error.reason)
      assert.strictEqual(yield* reason({ url: "example.org" }), "invalid_url")
      assert.strictEqual(yield* reason({ url: `http://example.org/${"a".repeat(20_000)}` }), "invalid_url")
      assert.strictEqual(yield* reason({ url: "file:///etc/passwd" }), "unsupported_scheme")
      assert.strictEqual(yield* reason({ url: "http://user:word@example.org/" }), "credentials_in_url")
      const url = "http://example.org/"
      for (const name of ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Authorization", "a b"]) {
        assert.strictEqual(yield* reason({ url, headers: { [name]: "x" } }), "invalid_header", name)
      }
      assert.strictEqual(yield* reason({ url, headers: { "x-a": "1\r\nx-b: 2" } }), "invalid_header")
    }).pipe(Effect.provide(layer()))
  )

  it.live("that is interrupted closes its connection", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(() => {})
      const asking = yield* Effect.forkChild(ask({ url: server.url() }))
      yield* server.visited
      yield* Fiber.interrupt(asking)
      yield* server.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that reads a part of the body closes its connection", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        NetworkZoo.pour(socket, "x".repeat(65_536))
      })
      const read = yield* Effect.scoped(
        Effect.gen(function* () {
          const outbound = yield* Outbound.Outbound
          const response = yield* outbound.send({ method: "GET", url: server.url(), limits })
          return yield* Outbound.readUpTo(response, 100_000)
        })
      )
      assert.strictEqual(read.bytes.length, 100_000)
      assert.isTrue(read.truncated)
      yield* server.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )
})

/** Spellings of places where nobody may go without being told, each with what it is. */
const spellings: ReadonlyArray<readonly [host: string, what: string]> = [
  ["127.0.0.1", "a loopback address"],
  ["127.1", "a loopback address"],
  ["127.0.0.1.", "a loopback address"],
  ["0177.0.0.1", "a loopback address"],
  ["0x7f.0.0.1", "a loopback address"],
  ["0x7f000001", "a loopback address"],
  ["2130706433", "a loopback address"],
  ["017700000001", "a loopback address"],
  ["127.255.255.254", "a loopback address"],
  ["①②⑦.⓪.⓪.①", "a loopback address"],
  ["127。0。0。1", "a loopback address"],
  ["%31%32%37.0.0.1", "a loopback address"],
  ["[::1]", "a loopback address"],
  ["[0:0:0:0:0:0:0:1]", "a loopback address"],
  ["[::ffff:127.0.0.1]", "a loopback address"],
  ["[::ffff:7f00:1]", "a loopback address"],
  ["[64:ff9b::127.0.0.1]", "a loopback address"],
  ["0", "the unspecified address"],
  ["0.0.0.0", "the unspecified address"],
  ["[::]", "the unspecified address"],
  ["10.1.2.3", "a private address"],
  ["172.16.0.1", "a private address"],
  ["172.31.255.255", "a private address"],
  ["192.168.0.1", "a private address"],
  ["0xc0.0xa8.1", "a private address"],
  ["[fd12:3456::1]", "a private address"],
  ["[64:ff9b::10.0.0.1]", "a private address"],
  ["169.254.1.1", "a link-local address"],
  ["[fe80::1]", "a link-local address"],
  ["100.64.0.1", "an address of a carrier's own network"],
  ["169.254.169.254", "the address of a metadata service"],
  ["0xa9fea9fe", "the address of a metadata service"],
  ["[::ffff:169.254.169.254]", "the address of a metadata service"],
  ["[fd00:ec2::254]", "the address of a metadata service"],
  ["100.100.100.200", "the address of a metadata service"],
  ["224.0.0.1", "a multicast address"],
  ["[ff02::1]", "a multicast address"],
  ["255.255.255.255", "a reserved address"],
  ["192.0.2.1", "a reserved address"],
  ["198.18.0.1", "a reserved address"],
  ["[2001:db8::1]", "a reserved address"],
  ["[2002:7f00:1::]", "an IPv6 form of another address"],
  ["[2001:0:7f00:1::]", "an IPv6 form of another address"],
  ["[::127.0.0.1]", "an IPv6 form of another address"],
  ["[::ffff:0:127.0.0.1]", "an IPv6 form of another address"],
  ["[64:ff9b:1::7f00:1]", "an IPv6 form of another address"]
]

describe("a place that is not public", () => {
  it.live("is refused in every spelling", () =>
    Effect.gen(function* () {
      for (const [host, what] of spellings) {
        const error = yield* failing({ url: `http://${host}/` })
        assert.deepInclude(error, { reason: "private_address" }, host)
        assert.include(error.message, what, host)
      }
    }).pipe(Effect.provide(layer()))
  )

  it.live("is refused behind a name, whatever else the name has", () => {
    const looked: Array<string> = []
    return Effect.gen(function* () {
      assert.strictEqual((yield* failing({ url: "http://inside.test/" })).reason, "private_address")
      assert.strictEqual((yield* failing({ url: "http://nobody.test/" })).reason, "unresolvable")
      assert.deepStrictEqual(looked, ["inside.test", "nobody.test"])
    }).pipe(
      Effect.provide(
        layer({ names: { "inside.test": [["10.0.0.1", "fd00::1"]] }, looked: (name) => void looked.push(name) })
      )
    )
  })

  it.live("is reached where the settings name it, and nothing beside it", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "home"))
      const other = yield* NetworkZoo.says(NetworkZoo.response(200))
      const named = layer({
        outbound: { private_hosts: [`127.0.0.1:${server.port}`, "home.test"] },
        names: { "home.test": [["127.0.0.1"]], "away.test": [["127.0.0.1"]], "sly.test": [["169.254.169.254"]] }
      })
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* ask({ url: server.url() })).text, "home")
        assert.strictEqual((yield* ask({ url: `http://home.test:${server.port}/` })).text, "home")
        assert.strictEqual((yield* ask({ url: `http://away.test:${server.port}/` })).text, "home")
        assert.strictEqual((yield* failing({ url: other.url() })).reason, "private_address")
        assert.strictEqual((yield* failing({ url: "http://sly.test/" })).reason, "private_address")
      }).pipe(Effect.provide(named))
      assert.lengthOf(other.visits, 0)
    }).pipe(Effect.scoped)
  )

  it.live("is not reached by its name alone where it hands out credentials", () =>
    Effect.gen(function* () {
      const error = yield* failing({ url: "http://sly.test/" })
      assert.include(error.message, "metadata")
      assert.strictEqual((yield* failing({ url: "http://169.254.169.254/" })).reason, "private_address")
    }).pipe(
      Effect.provide(
        layer({
          outbound: { allow_private: true, private_hosts: ["sly.test"] },
          names: { "sly.test": [["169.254.169.254"]] }
        })
      )
    )
  )
})

describe("lists of hosts", () => {
  it.live("deny what they name, and do not look it up", () => {
    const looked: Array<string> = []
    return Effect.gen(function* () {
      for (const url of ["http://bad.test/", "http://BAD.test./", "http://a.worse.test/", "http://8.8.8.8/"]) {
        assert.strictEqual((yield* failing({ url })).reason, "denied_host", url)
      }
      assert.deepStrictEqual(looked, [])
      assert.strictEqual((yield* failing({ url: "http://worse.test/" })).reason, "unresolvable")
      assert.strictEqual((yield* failing({ url: "http://hidden.test/" })).reason, "denied_host")
    }).pipe(
      Effect.provide(
        layer({
          outbound: { denied_hosts: ["bad.test", "*.worse.test", "8.8.8.0/24"] },
          names: { "hidden.test": [["8.8.8.8"]] },
          looked: (name) => void looked.push(name)
        })
      )
    )
  })

  it.live("allow nothing that they do not name, when they name anything", () => {
    const looked: Array<string> = []
    return Effect.gen(function* () {
      assert.strictEqual((yield* failing({ url: "http://secret-data.attacker.test/" })).reason, "denied_host")
      assert.deepStrictEqual(looked, [])
      assert.strictEqual((yield* failing({ url: "http://good.test/" })).reason, "unresolvable")
    }).pipe(
      Effect.provide(layer({ outbound: { allowed_hosts: ["good.test"] }, looked: (name) => void looked.push(name) }))
    )
  })
})

describe("F053 a redirection", () => {
  const redirecting = (location: string, status = 302) => NetworkZoo.says(NetworkZoo.response(status, { location }))

  it.live("is given back as it is unless it is to be followed", () =>
    Effect.gen(function* () {
      const server = yield* redirecting("http://169.254.169.254/")
      const response = yield* ask({ url: server.url() })
      assert.strictEqual(response.status, 302)
      assert.strictEqual(Outbound.header(response, "location"), "http://169.254.169.254/")
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("to a place that is not public is refused, in every spelling", () =>
    Effect.gen(function* () {
      let location = ""
      const server = yield* NetworkZoo.keep(({ socket }) => socket.end(NetworkZoo.response(302, { location })))
      yield* Effect.gen(function* () {
        for (const [host] of spellings.filter(([host]) => /^[\x20-\x7e]+$/.test(host))) {
          location = `http://${host}/`
          const error = yield* failing({ url: `http://public.test:${server.port}/`, maxRedirects: 5 })
          assert.strictEqual(error.reason, "private_address", host)
        }
      }).pipe(
        Effect.provide(
          layer({
            outbound: { private_hosts: [`public.test:${server.port}`] },
            names: { "public.test": [["127.0.0.1"]] }
          })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("to another scheme is refused", () =>
    Effect.gen(function* () {
      for (const location of ["file:///etc/passwd", "gopher://example.org/", "javascript:1", "http://"]) {
        const server = yield* redirecting(location)
        assert.strictEqual((yield* failing({ url: server.url(), maxRedirects: 5 })).reason, "invalid_redirect")
      }
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("is followed so many times and no more", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ path, socket }) => {
        const left = Number(path.slice(1))
        socket.end(
          left === 0 ? NetworkZoo.response(200, {}, "there") : NetworkZoo.response(301, { location: `/${left - 1}` })
        )
      })
      const response = yield* ask({ url: server.url("/5"), maxRedirects: 5 })
      assert.deepInclude(response, { text: "there", url: server.url("/0") })
      assert.strictEqual((yield* failing({ url: server.url("/6"), maxRedirects: 5 })).reason, "too_many_redirects")
      const loop = yield* redirecting("/")
      assert.strictEqual((yield* failing({ url: loop.url(), maxRedirects: 5 })).reason, "too_many_redirects")
      assert.lengthOf(loop.visits, 6)
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("to another origin takes no credentials along, and turns a POST into a GET where HTTP says so", () =>
    Effect.gen(function* () {
      const there = yield* NetworkZoo.says(NetworkZoo.response(200))
      const headers = { authorization: "Bearer k", cookie: "a=b", "x-api-key": "k", accept: "text/html" }
      const moved = (status: number, location: string) =>
        Effect.gen(function* () {
          const server = yield* redirecting(location, status)
          yield* ask({ method: "POST", url: server.url(), headers, body: "data", maxRedirects: 1 })
          return there.visits.at(-1)
        })
      const found = yield* moved(302, there.url("/a"))
      assert.match(found?.head ?? "", /^GET \/a /)
      assert.notMatch(found?.head ?? "", /bearer|cookie|api-key|content-/i)
      assert.match(found?.head ?? "", /accept: text\/html/i)
      const kept = yield* moved(307, there.url("/b"))
      assert.match(kept?.head ?? "", /^POST \/b /)
      assert.notMatch(kept?.head ?? "", /bearer|cookie|api-key/i)
      assert.match(kept?.head ?? "", /content-length: 4/i)
      const same = yield* NetworkZoo.keep(({ path, socket }) =>
        socket.end(path === "/" ? NetworkZoo.response(308, { location: "/c" }) : NetworkZoo.response(200))
      )
      yield* ask({ url: same.url(), headers, maxRedirects: 1 })
      assert.match(same.visits[1]?.head ?? "", /bearer/i)
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )
})

describe("F054 a name that leads somewhere else the second time", () => {
  it.live("is looked up once, and the connection goes where it was judged", () => {
    const looked: Array<string> = []
    return Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "first"))
      const rebinding = layer({
        outbound: { private_hosts: ["127.0.0.2"] },
        names: { "rebind.test": [["127.0.0.2"], ["127.0.0.1"]] },
        looked: (name) => void looked.push(name)
      })
      yield* Effect.gen(function* () {
        // Nobody listens at the address that was judged, and the other one is not tried.
        const error = yield* failing({ url: `http://rebind.test:${server.port}/` })
        assert.strictEqual(error.reason, "connection_failed")
        assert.deepStrictEqual(looked, ["rebind.test"])
        assert.strictEqual((yield* failing({ url: `http://rebind.test:${server.port}/` })).reason, "private_address")
      }).pipe(Effect.provide(rebinding))
      assert.lengthOf(server.visits, 0)
    }).pipe(Effect.scoped)
  })

  it.live("is judged again at each redirection", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.says(NetworkZoo.response(302, { location: "/again" }))
      const rebinding = layer({
        outbound: { private_hosts: ["127.0.0.1"] },
        names: { "rebind.test": [["127.0.0.1"], ["169.254.169.254"]] }
      })
      const error = yield* Effect.provide(
        failing({ url: `http://rebind.test:${server.port}/`, maxRedirects: 3 }),
        rebinding
      )
      assert.strictEqual(error.reason, "private_address")
      assert.lengthOf(server.visits, 1)
    }).pipe(Effect.scoped)
  )
})

describe("F060 a secret of this installation", () => {
  const secret = "sk-Canary+0123/456789"
  it.live("does not leave in an address, a header, a body or a redirection, in any form", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ path, socket }) =>
        socket.end(NetworkZoo.response(302, { location: `/?k=${encodeURIComponent(secret)}&${path}` }))
      )
      const reason = (asked: Parameters<typeof failing>[0]) => Effect.map(failing(asked), (error) => error.reason)
      const base64 = Buffer.from(secret).toString("base64")
      const asked = [
        { url: `${server.url()}?k=${secret}` },
        { url: `${server.url()}${encodeURIComponent(secret)}` },
        { url: `${server.url()}?k=${encodeURIComponent(base64)}` },
        { url: `${server.url()}?k=${Buffer.from(secret).toString("hex")}` },
        { url: `${server.url()}?k=${secret.replace("C", "%43")}` },
        { url: server.url(), headers: { authorization: `Bearer ${secret}` } },
        { url: server.url(), method: "POST" as const, body: JSON.stringify({ secret }) },
        { url: server.url(), method: "POST" as const, body: new TextEncoder().encode(secret) }
      ]
      for (const one of asked) {
        const error = yield* failing(one)
        assert.strictEqual(error.reason, "secret_in_request", JSON.stringify(one))
        assert.notInclude(error.message, "Canary")
      }
      assert.lengthOf(server.visits, 0)
      assert.strictEqual(yield* reason({ url: server.url(), maxRedirects: 2 }), "secret_in_request")
      assert.lengthOf(server.visits, 1)
    }).pipe(Effect.scoped, Effect.provide(layer({ ...open, secrets: [Redacted.make(secret)] })))
  )

  it.live("goes as a credential to its own host alone, and over https unless that is waived", () =>
    Effect.gen(function* () {
      const elsewhere = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "landed"))
      const server = yield* NetworkZoo.keep(({ path, socket }) =>
        socket.end(NetworkZoo.response(302, { location: path === "/away" ? elsewhere.url() : "/away" }))
      )
      const credential = {
        header: "authorization",
        value: Redacted.make(`Bearer ${secret}`),
        hosts: HostPattern.parseAll([new URL(server.url()).host]),
        allowHttp: true
      }
      const asked = { url: server.url("/here"), maxRedirects: 2, credentials: [credential] }
      assert.strictEqual((yield* ask(asked)).text, "landed")
      assert.deepStrictEqual(
        [...server.visits, ...elsewhere.visits].map(({ head }) => head.includes(`authorization: Bearer ${secret}`)),
        [true, true, false]
      )
      const reason = (one: Parameters<typeof failing>[0]) => Effect.map(failing(one), (error) => error.reason)
      assert.strictEqual(yield* reason({ ...asked, url: elsewhere.url() }), "credential_not_for_host")
      const careful = { ...credential, allowHttp: false }
      assert.strictEqual(yield* reason({ ...asked, credentials: [careful] }), "credential_needs_https")
      assert.lengthOf([...server.visits, ...elsewhere.visits], 3)
    }).pipe(Effect.scoped, Effect.provide(layer({ ...open, secrets: [Redacted.make(secret)] })))
  )

  it.live("F057 that a server sends back is masked in headers and body, wherever the body is cut", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\nx-echo: ${secret}\r\nconnection: close\r\n\r\nyou sent ${secret.slice(0, 9)}`)
        socket.end(`${secret.slice(9)} and ${Buffer.from(secret).toString("base64")}`)
      })
      const answer = yield* ask({ url: server.url() })
      assert.match(answer.text, /^you sent \[redacted\] and \[redacted\]/)
      assert.deepInclude(answer.headers, ["x-echo", "[redacted]"])
      const cut = yield* Effect.scoped(
        Effect.gen(function* () {
          const outbound = yield* Outbound.Outbound
          const response = yield* outbound.send({ method: "GET", limits, url: server.url() })
          return yield* Outbound.readUpTo(response, 20)
        })
      )
      assert.strictEqual(new TextDecoder().decode(cut.bytes), "you sent [redacted] ")
    }).pipe(Effect.scoped, Effect.provide(layer({ ...open, secrets: [Redacted.make(secret)] })))
  )

  it.live("no failure tells path, query or header", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => socket.destroy())
      const error = yield* failing({ url: server.url("/private-path?q=word"), headers: { "x-key": "hidden" } })
      assert.strictEqual(error.reason, "connection_lost")
      assert.notMatch(`${error.message}${JSON.stringify(error)}`, /private-path|word|hidden/)
      assert.include(error.message, "127.0.0.1")
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )
})

const compressors = {
  gzip: Zlib.gzipSync,
  deflate: Zlib.deflateSync,
  "deflate, without its frame": Zlib.deflateRawSync,
  br: (bytes: Buffer) => Zlib.brotliCompressSync(bytes, { params: { [Zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: Zlib.zstdCompressSync
}

describe("a compressed body", () => {
  for (const [name, compress] of Object.entries(compressors)) {
    const coding = name.split(",")[0] ?? ""
    it.live(`in ${name} is read`, () =>
      Effect.gen(function* () {
        const text = "grüße ".repeat(50_000)
        const server = yield* NetworkZoo.says(
          NetworkZoo.response(200, { "content-encoding": coding }, compress(Buffer.from(text)))
        )
        assert.strictEqual((yield* ask({ url: server.url() })).text, text)
        assert.match(server.visits[0]?.head ?? "", /accept-encoding: gzip, deflate, br, zstd/i)
      }).pipe(Effect.scoped, Effect.provide(layer(open)))
    )

    it.live(`F056 in ${name} that inflates without end is dropped`, () =>
      Effect.gen(function* () {
        const bomb = compress(Buffer.alloc(100_000_000))
        const server = yield* NetworkZoo.says(NetworkZoo.response(200, { "content-encoding": coding }, bomb))
        const limited = yield* failing({ url: server.url(), limits: { ...limits, body: 500_000 } })
        assert.strictEqual(limited.reason, "body_too_large")
        const before = process.memoryUsage.rss()
        const error = yield* failing({ url: server.url(), limits: { ...limits, body: 1_000_000_000 } })
        assert.strictEqual(error.reason, "decompression_bomb")
        assert.isBelow(process.memoryUsage.rss() - before, 80_000_000)
        yield* server.deserted
      }).pipe(Effect.scoped, Effect.provide(layer(open)))
    )

    it.live(`in ${name} that is broken or cut is no body`, () =>
      Effect.gen(function* () {
        const whole = compress(Buffer.from(Array.from({ length: 5000 }, (_, at) => String(at * at)).join(" ")))
        for (const bytes of [
          whole.subarray(0, whole.length / 2),
          Buffer.concat([whole.subarray(0, 40), Buffer.alloc(40, 0xa5)])
        ]) {
          const server = yield* NetworkZoo.says(NetworkZoo.response(200, { "content-encoding": coding }, bytes))
          assert.strictEqual((yield* failing({ url: server.url() })).reason, "invalid_encoding")
        }
      }).pipe(Effect.scoped, Effect.provide(layer(open)))
    )
  }

  it.live("in a way nobody asked for, or in several, is refused", () =>
    Effect.gen(function* () {
      for (const coding of ["compress", "gzip, gzip", "br, gzip", "sdch"]) {
        const server = yield* NetworkZoo.says(NetworkZoo.response(200, { "content-encoding": coding }, "abc"))
        assert.strictEqual((yield* failing({ url: server.url() })).reason, "unsupported_encoding", coding)
      }
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that is empty is empty", () =>
    Effect.gen(function* () {
      for (const status of [200, 204, 304]) {
        const server = yield* NetworkZoo.says(NetworkZoo.response(status, { "content-encoding": "gzip" }))
        assert.strictEqual((yield* ask({ url: server.url() })).text, "", String(status))
        assert.strictEqual((yield* ask({ url: server.url(), method: "HEAD" })).text, "")
      }
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )
})

describe("a server without manners", () => {
  const raw = (bytes: string) => NetworkZoo.says(Buffer.from(bytes, "latin1"))
  const slow = { ...limits, idle: Duration.millis(300), total: Duration.seconds(20) }

  it.live("that speaks HTTP/1.0, or in chunks with extensions and trailers, is understood", () =>
    Effect.gen(function* () {
      const old = yield* raw("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")
      assert.strictEqual((yield* ask({ url: old.url() })).text, "until the end")
      const chunks = yield* raw(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c="d e"\r\nhello\r\n1;x\r\n!\r\n0\r\nX-T: 1\r\n\r\n'
      )
      assert.strictEqual((yield* ask({ url: chunks.url() })).text, "hello!")
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that promises more than it sends, or lies about it, is found out", () =>
    Effect.gen(function* () {
      const short = yield* raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
      assert.strictEqual((yield* failing({ url: short.url() })).reason, "connection_lost")
      const cut = yield* raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
      assert.strictEqual((yield* failing({ url: cut.url() })).reason, "connection_lost")
      for (const bytes of [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "\x16\x03\x01\x00\x00"
      ]) {
        const server = yield* raw(bytes)
        assert.strictEqual((yield* failing({ url: server.url() })).reason, "invalid_response", JSON.stringify(bytes))
      }
      const more = yield* raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more than that")
      assert.strictEqual((yield* ask({ url: more.url() })).text, "hello")
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that sends headers or interim responses without end is cut off", () =>
    Effect.gen(function* () {
      const flood = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\n")
        NetworkZoo.pour(socket, "x-flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")
      })
      assert.strictEqual((yield* failing({ url: flood.url() })).reason, "headers_too_large")
      const many = yield* raw(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(1000)}content-length: 0\r\n\r\n`)
      assert.strictEqual((yield* failing({ url: many.url() })).reason, "headers_too_large")
      const early = yield* NetworkZoo.keep(({ socket }) =>
        NetworkZoo.pour(socket, "HTTP/1.1 103 Early\r\na: b\r\n\r\n")
      )
      assert.strictEqual((yield* failing({ url: early.url() })).reason, "headers_too_large")
      yield* flood.deserted
      yield* early.deserted
      const polite = yield* raw("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      assert.strictEqual((yield* ask({ url: polite.url() })).text, "ok")
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("F132 that sends a body without end is read to the limit, and is never in memory as a whole", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        NetworkZoo.pour(socket, `10000\r\n${"x".repeat(65_536)}\r\n`)
      })
      const before = process.memoryUsage.rss()
      const error = yield* Effect.scoped(
        Effect.gen(function* () {
          const outbound = yield* Outbound.Outbound
          const body = { ...limits, body: 300_000_000 }
          const response = yield* outbound.send({ method: "GET", url: server.url(), limits: body })
          return yield* Effect.flip(Stream.runDrain(response.body))
        })
      )
      assert.strictEqual(error.reason, "body_too_large")
      assert.isBelow(process.memoryUsage.rss() - before, 150_000_000)
      yield* server.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that says nothing, or stops in the middle, is not waited for", () =>
    Effect.gen(function* () {
      const silent = yield* NetworkZoo.keep(() => {})
      assert.strictEqual((yield* failing({ url: silent.url(), limits: slow })).reason, "timeout")
      const stuck = yield* NetworkZoo.keep(({ socket }) =>
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
      )
      assert.strictEqual((yield* failing({ url: stuck.url(), limits: slow })).reason, "timeout")
      const closed = yield* NetworkZoo.keep(({ socket }) => socket.end())
      assert.strictEqual((yield* failing({ url: closed.url() })).reason, "connection_lost")
      yield* silent.deserted
      yield* stuck.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )

  it.live("that drips is waited for until the whole time is over", () =>
    Effect.gen(function* () {
      const dripping = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        NetworkZoo.drip(socket, "x", 20)
      })
      const error = yield* failing({ url: dripping.url(), limits: { ...limits, total: Duration.millis(600) } })
      assert.strictEqual(error.reason, "timeout")
      assert.include(error.message, "0.6 seconds")
      const slowHead = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\n")
        NetworkZoo.drip(socket, "a: b\r\n", 20)
      })
      assert.strictEqual((yield* failing({ url: slowHead.url(), limits: slow })).reason, "timeout")
      yield* dripping.deserted
      yield* slowHead.deserted
    }).pipe(Effect.scoped, Effect.provide(layer(open)))
  )
})
